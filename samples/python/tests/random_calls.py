"""random_calls.py [SECONDS [SEED]]: random calls from two threads at once, each beside SciPy.

Arrays are views, of any type and layout; matrices in any format, sometimes with indices that
were damaged; results are fed back, written over, kept and dropped; texts are wrong now and
then. Ends with 1 at the first difference. Run it under AddressSanitizer, too: see README.md.
"""
import gc
import sys
import threading
import time

import numpy as np
import scipy.sparse as sp

import stcvm

TYPES = ["f8", "f8", "f4", "i4", "i8", "c16", "?", "u1"]
FORMS = ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"]


class Caller:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.calls, self.failed, self.kept = 0, None, []

    def pick(self, of):
        return of[self.rng.integers(len(of))]

    def vector(self, n):
        """An array of n: a view with gaps, backwards, another type, a list."""
        v = self.rng.integers(-3, 4, 2 * n).astype(self.pick(TYPES))
        return [v[:n].copy(), v[::2], v[n - 1::-1] if n else v[:0], list(v[:n].tolist()),
                v[:n].astype(v.dtype.newbyteorder())][self.rng.integers(5)]

    def matrix(self, m, n):
        data = self.rng.integers(-3, 4, (m, n)) * (self.rng.random((m, n)) < 0.3)
        A = sp.csr_matrix(data.astype(self.pick(TYPES[:6])))
        A = A.asformat(self.pick(FORMS))
        if A.format in ("csr", "csc") and self.rng.random() < 0.2:
            A = type(A)((np.concatenate([A.data, A.data])[:A.nnz], A.indices[::-1][::-1],
                         A.indptr), shape=A.shape)
        return A

    def check(self, got, want):
        got = got.toarray() if sp.issparse(got) else got
        got = got.to_numpy() if isinstance(got, stcvm.Tensor) else np.asarray(got)
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-6)

    def once(self):
        m, n, k = (int(x) for x in self.rng.integers(1, 14, 3))
        A, B, x = self.matrix(m, n), self.matrix(n, k), self.vector(n)
        a = A.toarray().astype(complex)
        v, b = np.asarray(x).astype(complex), B.toarray().astype(complex)
        what = self.rng.integers(8)
        if what == 0:
            y = stcvm.eval("y(i) = 1.0 * A(i,j) * x(j)", A=A, x=x)
            self.check(y, a @ v)
            self.kept.append(y)
        elif what == 1:
            self.check(stcvm.einsum("ij,jk->ik", A * 1.0, B * 1.0), a @ b)
        elif what == 2:
            T = stcvm.Tensor(A, format=str(self.pick(["csr", "dcsr", "coo", "dense"])))
            self.check((T + T).compute() if a.size else T, a + a)
            self.kept.append(T)
        elif what == 3 and A.format in ("csr", "csc") and A.nnz:
            bad = A.copy()
            bad.indices = bad.indices.copy()
            bad.indices[self.rng.integers(A.nnz)] = self.pick([-1, 99, 2**31 - 1])
            try:
                stcvm.eval("y(i) = A(i,j)", A=bad)
            except (stcvm.Error, ValueError):
                pass
            else:
                raise AssertionError("a wrong index was taken")
        elif what == 4:
            try:
                stcvm.eval(self.pick(["y(i) = A(i,", "y(i) = A(i) * x(j)", "y = nosuch(A)"]),
                           A=A)
            except (stcvm.Error, TypeError):
                pass
        elif what == 5:
            out = np.full(m, np.nan)
            A = sp.csr_matrix(A).astype("f8") if a.imag.max() == 0 else sp.csr_matrix(a.real)
            w = np.ascontiguousarray(v.real)
            stcvm.eval("y(i) = A(i,j) * x(j)", A=A, x=w, out=out)
            self.check(out, a.real @ w)
        elif what == 6 and self.kept:
            old = self.pick(self.kept)
            if isinstance(old, np.ndarray) and old.ndim == 1:
                s = stcvm.eval("s = 1.0 * y(i) * y(i)", y=old)
                self.check(s, (old.astype(complex) ** 2).sum())
                old *= 0
        else:
            self.check(stcvm.eval("C(i,j) = 1.0 * A(i,j) + 2.0 * D(j,i)", A=A, D=A.T), 3 * a)
        if len(self.kept) > 20:
            del self.kept[:10]
        self.calls += 1
        if self.calls % 500 == 0:
            gc.collect()

    def run(self, until):
        try:
            while time.monotonic() < until:
                self.once()
        except BaseException as e:
            self.failed = e
            raise


def main(seconds=3.0, seed=0):
    callers = [Caller(seed * 2 + k) for k in range(2)]
    until = time.monotonic() + seconds
    threads = [threading.Thread(target=c.run, args=(until,)) for c in callers]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    print("random calls: %d and %d" % tuple(c.calls for c in callers))
    return any(c.failed for c in callers)


if __name__ == "__main__":
    sys.exit(main(*(float(sys.argv[1]),) if len(sys.argv) == 2 else
                  () if len(sys.argv) < 2 else (float(sys.argv[1]), int(sys.argv[2]))))
