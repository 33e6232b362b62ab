"""test_faults.py: what the ctypes file did wrong, one test for each."""
import os
import timeit
import unittest
import warnings

import numpy as np
import scipy.sparse as sp

import random_calls
import stcvm

SPMV = "y(i) = A(i,j) * x(j)"


def matrix(n=50, seed=1):
    return sp.random(n, n, density=0.2, format="csr", random_state=seed)


class Faults(unittest.TestCase):
    def test_results_fed_back(self):
        """A result is the caller's: it stays what it is, as operand too."""
        for n in (50, 20000):  # copied ones, and ones moved out of the program
            A = sp.diags([np.ones(n), np.full(n, 0.5)], [0, 2], shape=(n, n), format="csr")
            f = stcvm.compile(SPMV, A=A, x=np.ones(n))
            x = want = np.ones(n)
            seen = []
            for _ in range(5):
                x = f(A, x)
                want = A @ want
                seen.append((x, want.copy()))
            for got, wanted in seen:
                np.testing.assert_allclose(got, wanted)

    def test_sparse_results_fed_back(self):
        A = matrix()
        C = want = A
        for _ in range(3):
            C = stcvm.eval("C(i,j) = A(i,k) * B(k,j)", A=C, B=A)
            want = want @ A
            self.assertLess(abs(C - want).max(), 1e-12)

    def test_arrays_replaced(self):
        A, x = matrix(), np.ones(50)
        f = stcvm.compile(SPMV, A=A, x=x)
        f(A, x)
        for seed in range(2, 30):
            B = matrix(seed=seed)
            A.data, A.indices, A.indptr = B.data, B.indices, B.indptr
            del B
            np.testing.assert_allclose(f(A, x), A @ x)
            np.testing.assert_allclose(stcvm.eval(SPMV, A=A, x=x), A @ x)

    def test_array_resized_in_place(self):
        A, x = matrix(), np.ones(50)
        f = stcvm.compile(SPMV, A=A, x=x)
        f(A, x)
        x.resize(10, refcheck=False)
        with self.assertRaises(stcvm.errors.ShapeError):
            f(A, x)

    def test_indices_broken_in_place(self):
        """Indices are checked in each call: a wrong one is an error, not a crash."""
        A, x = matrix(), np.ones(50)
        f = stcvm.compile(SPMV, A=A, x=x)
        f(A, x)
        A.indices[3] = 1 << 30
        with self.assertRaises(ValueError):
            f(A, x)
        with self.assertRaises(ValueError):
            stcvm.eval(SPMV, A=A, x=x)

    def test_arrays_at_any_address(self):
        """As in a file, or a message: where elements lie at odd addresses, they are copied."""
        def odd(a):
            return np.frombuffer(b"x" + a.tobytes(), a.dtype, a.size, 1).reshape(a.shape)

        A, x = matrix(), np.arange(50.0)
        for form in ("csr", "csc", "coo", "bsr", "dia"):
            B = A.asformat(form).copy()
            for name in ("data", "indices", "indptr", "row", "col", "offsets"):
                if hasattr(B, name):
                    setattr(B, name, odd(getattr(B, name)))
            self.assertFalse(B.data.flags.aligned)
            np.testing.assert_allclose(stcvm.eval(SPMV + " + x(i)", A=B, x=odd(x)), A @ x + x)

    def test_fills_are_kept(self):
        D = stcvm.Tensor.from_coords([[0, 1], [1, 2]], [5.0, 1.0], (3, 3), "csr", np.inf)
        E = stcvm.eval("E(i,j) = A(i,j) + 1", A=D)
        self.assertEqual((E.fill, E[0, 1], E[2, 2]), (np.inf, 6.0, np.inf))
        F = stcvm.eval("d(i,j) = min(k: A(i,k) + B(k,j))", A=E, B=D)
        want = (E.to_numpy()[:, :, None] + D.to_numpy()[None]).min(axis=1)
        F = F.to_numpy() if isinstance(F, stcvm.Tensor) else F
        np.testing.assert_array_equal(F, want)

    def test_calls_are_quick(self):
        """Measured beside SciPy in the same process: within its order, whatever else runs."""
        A = sp.random(10, 10, density=0.3, format="csr", random_state=1)
        x = np.arange(10.0)
        f = stcvm.compile(SPMV, A=A, x=x)

        def best(call):
            return min(timeit.repeat(call, number=2000, repeat=9)) / 2000 * 1e6

        ours, theirs, text = best(lambda: f(A, x)), best(lambda: A @ x), best(
            lambda: stcvm.eval(SPMV, A=A, x=x))
        print("10x10 SpMV: prepared %.1f us, eval %.1f us, SciPy %.1f us"
              % (ours, text, theirs))
        self.assertLess(ours, 3 * theirs)
        self.assertLess(text, 4 * theirs)

    def test_no_ctypes(self):
        """The package is an extension over the public header, and no file of ctypes."""
        folder = os.path.dirname(stcvm.__file__)
        names = [n for n in os.listdir(folder) if n.endswith(".py")]
        self.assertGreater(len(names), 5)
        for name in names:
            with open(os.path.join(folder, name)) as f:
                self.assertNotIn("ctypes", f.read())
        self.assertTrue(stcvm._stcvm.__file__.endswith(".so"))


class Random(unittest.TestCase):
    def test_two_threads(self):
        """Random calls from two threads; random_calls.py runs longer, under ASan, too."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.assertFalse(random_calls.main(3, 1))


if __name__ == "__main__":
    unittest.main()
