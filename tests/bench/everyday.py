"""everyday.py: everyday statements beside SciPy, in one process, one thread each.

    make python && PYTHONPATH=build/python /usr/bin/python3 tests/bench/everyday.py \
        [--turns N] [--csv] [MATRIX or ROW ...]

Matrices as users have them: lap, a Laplacian of 10⁶ points; uni, 10⁵ x 10⁵, 10 a row; rmat and
rmats, graphs of 2¹⁷ and 2¹⁴ vertices, 16 edges each before equal ones go; band, 10⁵, 100 a row.

What is counted: the processor's time of a call, from arrays that are there to a result that is
there and new (vectors dense): both sides allocate it in each call, and free the one before.
`stcvm` takes stcvm.Tensor(A), checked when it was made, as SciPy's matrices are; `lent` takes
SciPy's matrices themselves, whose indices are then checked in each call. Where SciPy gives a view
(A.T), its conversion to CSR counts; its products aren't sorted (ours are), and where a row says
"sorted", SciPy sorts. The least of turns that take turns, in ms; every result is compared.
"""
import argparse
import math
import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np  # noqa: E402
import scipy.sparse as sp  # noqa: E402

import stcvm  # noqa: E402


def csr(n, row, col, rng):
    """Of these places, each once, with values that sum exactly in any order."""
    key = np.unique(row.astype(np.int64) * n + col)
    data = rng.integers(1, 1025, len(key)) / 1024
    A = sp.csr_matrix((data, (key // n, key % n)), shape=(n, n))
    A.sort_indices()
    return A


def lap(rng):
    g = 1000
    at = np.arange(g * g).reshape(g, g)
    pairs = [(at, at), (at[1:], at[:-1]), (at[:-1], at[1:]), (at[:, 1:], at[:, :-1]),
             (at[:, :-1], at[:, 1:])]
    return csr(g * g, *(np.concatenate([p[k].ravel() for p in pairs]) for k in (0, 1)), rng)


def uni(rng, n=100_000, per=10):
    return csr(n, np.repeat(np.arange(n), per), rng.integers(0, n, n * per), rng)


def rmat(rng, scale=17):
    row, col = np.zeros((2, 16 << scale), np.int64)
    for _ in range(scale):
        q = rng.integers(0, 100, len(row))
        row, col = 2 * row + (q >= 76), 2 * col + ((q >= 57) & (q < 76) | (q >= 95))
    return csr(1 << scale, row, col, rng)


def band(rng, n=100_000, lo=-50):
    row = np.repeat(np.arange(n), 100)
    col = row + np.tile(np.arange(lo, lo + 100), n)
    keep = (col >= 0) & (col < n)
    return csr(n, row[keep], col[keep], rng)


def another(m, rng):
    """B: as A of that kind; a band that has half of it in common; lap's pattern is the same."""
    return band(rng, lo=0) if m == "band" else MATRICES[m](rng)


MATRICES = {"lap": lap, "uni": uni, "rmat": rmat, "rmats": lambda rng: rmat(rng, 14),
            "band": band}


def sort(c):
    c.sort_indices()
    return c


#: name, text, operands, SciPy's side, and the matrices that are left out
ROWS = [
    ("Ax", "y(i) = A(i,j) * x(j)", "Ax", lambda A, x: A @ x, ""),
    ("A'x", "y(j) = A(i,j) * x(i)", "Ax", lambda A, x: A.T @ x, ""),
    ("row sums", "y(i) = A(i,j)", "A", lambda A: A.sum(axis=1), ""),
    ("column sums", "y(j) = A(i,j)", "A", lambda A: A.sum(axis=0), ""),
    ("scale", "C(i,j) = 2 * A(i,j)", "A", lambda A: 2 * A, ""),
    ("transpose", "C(i,j) = A(j,i)", "A", lambda A: A.T.tocsr(), ""),
    ("A + A'", "C(i,j) = A(i,j) + A(j,i)", "A", lambda A: A + A.T, ""),
    ("A + B", "C(i,j) = A(i,j) + B(i,j)", "AB", lambda A, B: A + B, ""),
    ("diag A diag", "C(i,j) = x(i) * A(i,j) * x(j)", "Ax",
     lambda A, x: sp.diags(x) @ A @ sp.diags(x), ""),
    ("trace(A A)", "s = A(i,k) * A(k,i)", "A", lambda A: A.multiply(A.T).sum(), ""),
    ("min", "C(i,j) = min(A(i,j), B(i,j))", "AB", lambda A, B: A.minimum(B), ""),
    ("max", "C(i,j) = max(A(i,j), B(i,j))", "AB", lambda A, B: A.maximum(B), ""),
    ("multiply", "C(i,j) = A(i,j) * B(i,j)", "AB", lambda A, B: A.multiply(B), ""),
    ("SpMM, 32", "Y(i,k) = A(i,j) * X(j,k)", "AX", lambda A, X: A @ X, ""),
    ("A A", "C(i,j) = A(i,k) * A(k,j)", "A", lambda A: A @ A, "rmat band"),
    ("A A, sorted", "C(i,j) = A(i,k) * A(k,j)", "A", lambda A: sort(A @ A), "rmat band"),
]


def least(turns, *calls):
    """The shortest time of each, in ms, a result freed before the next is made; each
    is called four times in its turn, and so finds its own operands as near as they get."""
    best = [math.inf] * len(calls)
    for _ in range(turns):
        for k in [k for k in range(len(calls)) for _ in range(4)]:
            begin = time.process_time()
            made = calls[k]()
            best[k] = min(best[k], time.process_time() - begin)
            del made
    return [1e3 * b for b in best]


def same(got, want):
    if sp.issparse(got):
        return abs(sp.csr_matrix(got) - sp.csr_matrix(want)).max() < 1e-9
    want = want.toarray() if sp.issparse(want) else want
    return np.allclose(np.asarray(got).ravel(), np.asarray(want).ravel())


def operands(m, rng):
    A = MATRICES[m](rng)
    n = A.shape[0]
    return {"A": A, "B": another(m, rng), "x": rng.integers(1, 1025, n) / 1024,
            "X": rng.integers(1, 1025, (n, 32)) / 1024}


def measure(row, all_of, turns):
    name, text, takes, theirs, _ = row
    lent = {k: all_of[k] for k in takes}
    kept = {k: stcvm.Tensor(a) if sp.issparse(a) else a for k, a in lent.items()}
    calls = []
    for form in kept, lent:
        f = stcvm.compile(text, formats={"y": "dense"} if text[0] == "y" else None, **form)
        calls.append(lambda f=f, form=form: f(*form.values()))
    calls.append(lambda: theirs(*lent.values()))
    for call in calls[:2]:
        assert same(call(), calls[2]()), name
    return least(turns, *calls)


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--csv", action="store_true")
    parser.add_argument("only", nargs="*")
    args = parser.parse_args()
    matrices = [m for m in MATRICES if m in args.only] or list(MATRICES)
    rows = [r for r in ROWS if r[0] in args.only] or ROWS
    form = "%s,%s,%.3f,%.3f,%.3f,%.2f,%.2f" if args.csv else (
        "%-6s %-12s %9.2f %9.2f %9.2f   %5.2f %5.2f")
    print("matrix,row,stcvm,lent,scipy,ratio,ratio_lent" if args.csv else
          "%-6s %-12s %9s %9s %9s   ratios" % ("", "ms", "stcvm", "lent", "SciPy"))
    ratios = []
    for m in matrices:
        rng = np.random.default_rng(7)
        all_of = operands(m, rng)
        for row in rows:
            if m in row[4].split():
                continue
            t = measure(row, all_of, args.turns)
            ratios.append((t[0] / t[2], t[1] / t[2]))
            print(form % (m, row[0], *t, *ratios[-1]), flush=True)
    print("# means %.2f %.2f; above 1: %d and %d of %d" % (
        *(mean([r[k] for r in ratios]) for k in (0, 1)),
        *(sum(r[k] > 1 for r in ratios) for k in (0, 1)), len(ratios)))


if __name__ == "__main__":
    main()
