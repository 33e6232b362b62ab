"""test_leaks.py: 10^6 calls leave resident memory where it was."""
import os
import unittest

import numpy as np
import scipy.sparse as sp

import stcvm


def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Leaks(unittest.TestCase):
    def flat(self, call, calls, slack=3 << 20):
        for _ in range(calls // 10):
            call()
        before = resident()
        for _ in range(calls):
            call()
        self.assertLess(resident() - before, slack)

    def test_calls(self):
        A = sp.random(30, 30, density=0.2, format="csr", random_state=1)
        x = np.ones(30)
        self.flat(lambda: stcvm.eval("y(i) = A(i,j) * x(j)", A=A, x=x), 1000000)

    def test_results_and_shapes(self):
        """Sparse results, tensors, and operands of ever another shape."""
        M = [sp.random(n, n, density=0.3, format="csr", random_state=n)
             for n in range(2, 12)]
        turn = iter(range(10**9))

        def call():
            A = M[next(turn) % len(M)]
            T = stcvm.Tensor(A)
            stcvm.eval("C(i,j) = A(i,k) * B(k,j)", A=A, B=T)
        self.flat(call, 10000)

    def test_failures(self):
        def call():
            for text in ("y(i) = A(i", "y(i) = A(i,j) * z(j)"):
                with self.assertRaises(stcvm.Error):
                    stcvm.eval(text, A=np.ones((2, 2)))
            with self.assertRaises(stcvm.Error):
                stcvm.eval("y(i) = A(i,j) * x(j)", A=np.ones((2, 2)), x=np.ones(3))
        self.flat(call, 3000)


if __name__ == "__main__":
    unittest.main()
