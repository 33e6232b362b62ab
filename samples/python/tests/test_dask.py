"""test_dask.py: statements on two workers of Dask, beside stcvm.eval; skipped without Dask."""
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


@unittest.skipUnless(distributed, "there is no python3-distributed")
class Dask(unittest.TestCase):
    def test_statements(self):
        import stcvm.dask
        rng = np.random.default_rng(1)
        draw = dict(density=0.15, random_state=2, data_rvs=lambda n: rng.integers(1, 9, n))
        A = sp.random(31, 31, format="csr", **draw).astype("i8")
        x, T = np.arange(31) - 7, rng.integers(-4, 5, (31, 5, 6))
        M, N = rng.integers(0, 3, (5, 4)), rng.integers(0, 3, (6, 4))
        cases = [("y(i) = A(i,j) * x(j)", ("A", "x")), ("y(j) = A(i,j) * x(i)", ("A", "x")),
                 ("y(i) = A(i,j) * x(j) + x(i)", ("A", "x")), ("s = x(i) * x(i)", ("x",)),
                 ("C(i,j) = A(i,k) * A(k,j)", ("A",)), ("D(i,j) = A(i,j) + A(j,i)", ("A",)),
                 ("M2(i,r) = T(i,j,k) * M(j,r) * N(k,r)", ("T", "M", "N")),
                 ("m = max(i: x(i))", ("x",)), ("w(i) = x(i) * i", ("x",)),
                 ("s = x(i) * A(i,j) * x(j)", ("A", "x")),
                 ("y(i) = A(i,j) * x(j); s = y(i) * y(i)", ("A", "x"))]
        cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1,
                                           processes=False, dashboard_address=None)
        with cluster, distributed.Client(cluster) as client:
            for text, names in cases:
                for form in ("csr",) if "+ x" in text else ("csr", "csc", "coo"):
                    of = {n: {"A": A.asformat(form), "x": x, "T": T, "M": M, "N": N}[n]
                          for n in names}
                    want = stcvm.eval(text, **of)
                    got = stcvm.dask.eval(client, text, **of)
                    for k in want if isinstance(want, dict) else [None]:
                        a, b = (want, got) if k is None else (want[k], got[k])
                        np.testing.assert_array_equal(dense(a), dense(b), text + " " + form)
                    if "A" not in names:
                        break


if __name__ == "__main__":
    unittest.main()
