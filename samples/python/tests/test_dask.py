"""test_dask.py: statements on two workers of Dask, processes of their own, beside stcvm.eval;
one of them killed. Skipped without Dask."""
import os
import re
import signal
import threading
import time
import unittest

import numpy as np
import scipy.sparse as sp

import stcvm

try:
    import distributed
except ImportError:
    distributed = None


def dense(a):
    return a.to_numpy() if isinstance(a, stcvm.Tensor) else (
        a.toarray() if sp.issparse(a) else np.asarray(a))


def operands():
    rng = np.random.default_rng(1)
    draw = dict(density=0.15, random_state=2, data_rvs=lambda n: rng.integers(1, 9, n))
    A = sp.random(31, 31, format="csr", **draw).astype("i8")
    return dict(A=A, B=(A.T * 2).tocsr(), x=np.arange(31) - 7, b=np.arange(31) % 5,
                T=rng.integers(-4, 5, (31, 5, 6)), M=rng.integers(0, 3, (5, 4)),
                N=rng.integers(0, 3, (6, 4)), F=rng.integers(0, 5, (31, 3)), a=3)


TEXTS = """
y(i) = A(i,j) * x(j)
y(j) = A(i,j) * x(i)
y(i) = A(i,j) * x(j) + x(i)
y(i) = b(i) - A(i,j) * x(j)
s = x(i) * x(i)
C(i,j) = A(i,k) * A(k,j)
C(i,j) = A(i,k) * B(k,j)
D(i,j) = A(i,j) + A(j,i)
D(i,j) = A(i,j) * B(i,j)
D(i,j) = a * A(i,j) + B(i,j)
D(i,j) = x(i) * A(i,j) * b(j)
G(i,k) = A(i,j) * F(j,k)
R(i,r) = T(i,j,k) * M(j,r) * N(k,r)
V(j,k) = T(i,j,k) * x(i)
m = max(i: x(i))
m(i) = max(j: A(i,j))
n(i) = min(j: A(i,j) + x(j))
w(i) = x(i) * i
w(i) = x(i) & 7 | b(i) ^ 2
s = x(i) * A(i,j) * x(j)
s = A(i,j) * B(i,j)
y(i) = A(i,j) * x(j); s = y(i) * y(i)
c(j) = sum(i: A(i,j) != 0)
t(i) = A(i,i)
u(i) = 2 * x(i) + b(i)
S(i,j) = A(i,k) * B(k,j) * A(i,j)
x(i) = A(i,j) * x(j)
""".strip().splitlines()


@unittest.skipUnless(distributed, "there is no python3-distributed")
class Dask(unittest.TestCase):
    def setUp(self):
        self.cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1,
                                                processes=True, dashboard_address=None)
        self.client = distributed.Client(self.cluster)

    def tearDown(self):
        self.client.close()
        self.cluster.close()

    def pids(self):
        return sorted(self.client.run(os.getpid).values())

    def test_statements(self):
        import stcvm.dask
        self.assertEqual(len(set(self.pids()) - {os.getpid()}), 2)
        every = operands()
        for text in TEXTS:
            names = [n for n in every if re.search(r"\b%s\(" % n, text.split("=", 1)[1]) or
                     n == "a" and "a * " in text]
            for form in ("csr", "csc", "coo") if "A" in names else ("csr",):
                of = {n: every[n].asformat(form) if n in "AB" else every[n] for n in names}
                want = stcvm.eval(text, **of)
                got = stcvm.dask.eval(self.client, text, **of)
                for k in want if isinstance(want, dict) else [None]:
                    a, b = (want, got) if k is None else (want[k], got[k])
                    np.testing.assert_array_equal(dense(a), dense(b), text + " " + form)

    def test_a_worker_dies(self):
        """What it had is computed again, by the other or by one that takes its place."""
        import stcvm.dask
        A = sp.random(3000, 3000, density=1e-2, format="csr", random_state=1)
        want = stcvm.eval("C(i,j) = A(i,k) * A(k,j)", A=A)
        victim = self.pids()[0]
        killer = threading.Timer(0.2, os.kill, (victim, signal.SIGKILL))
        begin = time.monotonic()
        killer.start()
        got = stcvm.dask.eval(self.client, "C(i,j) = A(i,k) * A(k,j)", timeout=60, A=A)
        killer.join()
        self.assertLess(time.monotonic() - begin, 70)
        self.assertEqual(abs(got - want).max(), 0)

    def test_all_workers_die(self):
        """An error, and no waiting for ever."""
        import stcvm.dask
        cluster = distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=True,
                                           dashboard_address=None)
        with cluster, distributed.Client(cluster) as client:
            cluster.scale(0)
            while client.scheduler_info()["workers"]:
                time.sleep(0.1)
            begin = time.monotonic()
            with self.assertRaises(stcvm.Error):
                stcvm.dask.eval(client, "y(i) = x(i)", timeout=2, x=np.ones(3))
            self.assertLess(time.monotonic() - begin, 20)


if __name__ == "__main__":
    unittest.main()
