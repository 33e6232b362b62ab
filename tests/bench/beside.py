"""beside.py: the table of the README: stcvm beside SciPy, on SciPy's own arrays, one thread each.

    make python && PYTHONPATH=build/python python3 tests/bench/beside.py

Times are the processor's, the least of many turns that take turns, in milliseconds; the first
is from text to result on a tiny matrix. Results are compared.
"""
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
import time

import numpy as np
import scipy
import scipy.sparse as sp

import stcvm

N, PER = 100_000, 10
rng = np.random.default_rng(1)


def uniform():
    at = rng.integers(0, N, (2, N * PER))
    return sp.csr_matrix((rng.random(N * PER), (at[0], at[1])), shape=(N, N))


def least(turns, *calls):
    best = [float("inf")] * len(calls)
    for _ in range(turns):
        for k, call in enumerate(calls):
            begin = time.process_time()
            call()
            best[k] = min(best[k], time.process_time() - begin)
    return [1e3 * b for b in best]


def sorted_product(a, b):
    c = a @ b
    c.sort_indices()
    return c


A, B, x = uniform(), uniform(), rng.random(N)
X = rng.random((N, 16))
W = A.maximum(0.1 * B)
tiny = sp.random(10, 10, 0.3, format="csr", random_state=1)
rows = [
    ("y(i) = A(i,j) * x(j)", dict(A=A, x=x), lambda: A @ x, 31),
    ("C(i,j) = A(i,j) + B(i,j)", dict(A=A, B=B), lambda: A + B, 15),
    ("C(i,j) = A(i,k) * B(k,j)", dict(A=A, B=B), lambda: sorted_product(A, B), 7),
    ("Y(i,k) = A(i,j) * X(j,k)", dict(A=A, X=X), lambda: A @ X, 15),
    ("y(i) = A(i,j) * B(i,j) * x(j)", dict(A=A, B=B, x=x), lambda: A.multiply(B) @ x, 15),
    ("d(i) = max(j: A(i,j) * x(j))", dict(A=A, x=x),
     lambda: A.multiply(x[None, :]).tocsr().max(axis=1), 15),
    ("s = A(i,k) * B(k,j) * W(i,j)", dict(A=A, B=B, W=W),
     lambda: (A @ B).multiply(W).sum(), 5),
]
print(f"stcvm {stcvm.__version__ if hasattr(stcvm, '__version__') else ''} "
      f"SciPy {scipy.__version__}; {N} x {N}, {PER} a row")
first = []
for k in range(9):
    begin = time.process_time()
    stcvm.eval(f"y(i) = {k + 2} * A(i,j) * B(i,j)", A=tiny, B=tiny)
    first.append(time.process_time() - begin)
print(f"| from a text that is new to its result, tiny | {1e3 * min(first):.3f} | - |")
for text, operands, other, turns in rows:
    f = stcvm.compile(text, **operands)
    values = list(operands.values())
    got, want = f(*values), other()
    if sp.issparse(got):
        assert abs(got - want).max() < 1e-9
    else:
        want = want.toarray().ravel() if sp.issparse(want) else np.asarray(want)
        assert np.allclose(np.asarray(got).ravel(), want.ravel()), text
    ours, theirs = least(turns, lambda: f(*values), other)
    print(f"| `{text}` | {ours:.2f} | {theirs:.2f} |")
