"""test_notebook.py: 30 steps that a user of SciPy would take, each beside SciPy."""
import unittest

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg  # noqa: F401
from scipy.sparse import csgraph

import stcvm

ev = stcvm.eval


class Notebook(unittest.TestCase):
    def same(self, got, want):
        self.steps += 1
        dense = [a.toarray() if sp.issparse(a) else np.asarray(a) for a in (got, want)]
        np.testing.assert_allclose(*dense, atol=1e-9, err_msg="step %d" % self.steps)

    def test_steps(self):
        self.steps = 0
        n, rng = 40, np.random.default_rng(3)
        A = sp.random(n, n, density=0.1, format="csr", random_state=3)
        B = sp.random(n, n, density=0.1, format="csc", random_state=4)
        D, x, b = rng.random((n, 3)), rng.random(n), rng.random(n)
        self.same(ev("y(i) = A(i,j) * x(j)", A=A, x=x), A @ x)
        self.same(ev("y(j) = A(i,j) * x(i)", A=A, x=x), A.T @ x)
        self.same(ev("y(i) = A(i,j) * x(j) + b(i)", A=A, x=x, b=b), A @ x + b)
        self.same(ev("C(i,j) = A(i,k) * B(k,j)", A=A, B=B), A @ B)
        self.same(ev("C(i,j) = A(i,j) + B(i,j)", A=A, B=B), A + B)
        self.same(ev("C(i,j) = A(i,j) * B(i,j)", A=A, B=B), A.multiply(B))
        self.same(ev("C(i,j) = A(j,i)", A=A), A.T)
        self.same(ev("t = A(i,i)", A=A), A.diagonal().sum())
        self.same(ev("d(i) = A(i,i)", A=A), A.diagonal())
        self.same(ev("r(i) = A(i,j)", A=A), np.asarray(A.sum(axis=1)).ravel())
        self.same(ev("c(j) = A(i,j)", A=A), np.asarray(A.sum(axis=0)).ravel())
        self.same(ev("Y(i,k) = A(i,j) * D(j,k)", A=A, D=D), A @ D)
        self.same(ev("C(i,j) = x(i) * A(i,j) * b(j)", A=A, x=x, b=b),
                  sp.diags(x) @ A @ sp.diags(b))
        self.same(ev("q = x(i) * A(i,j) * x(j)", A=A, x=x), x @ (A @ x))
        self.same(ev("m = max(i,j: A(i,j))", A=A), A.max())
        self.same(ev("C(i,j) = a * A(i,j)", A=A, a=2.5), 2.5 * A)
        self.same(np.sqrt(ev("f = A(i,j) * A(i,j)", A=A)), sp.linalg.norm(A))
        self.same(stcvm.einsum("ij,jk,k->i", A, B, x), A @ (B @ x))
        self.same(stcvm.einsum("ij,kj->ik", A, A), A @ A.T)
        self.same(stcvm.Tensor(A).to_scipy("csc"), A)
        self.same((stcvm.Tensor(A) + B).compute(), A + B)
        self.same((stcvm.Tensor(A) @ x).compute(), A @ x)
        self.same(stcvm.Tensor(A)[3:9].to_scipy(), A[3:9])
        self.same(ev("C(i,j) = A(i,k) * B(k,j)", A=A, B=B, formats={"C": "csc"}), A @ B)
        self.same(ev("C(i,j) = A(i,j)", A=A.tobsr((4, 4))), A)
        self.same(ev("y(i) = A(i,j) * x(j)", A=A.todok(), x=list(x)), A @ x)
        self.same(ev("C(i,j) = A(i,j)", A=A.astype(np.float32)), A.astype(np.float32))
        S = (A + A.T + sp.eye(n) * n).tocsr()
        step = stcvm.compile("q(i) = A(i,j) * p(j); s = q(i) * p(i)", A=S, p=b)
        z, r = np.zeros(n), b.copy()
        p, rr = r, r @ r
        for _ in range(60):  # conjugate gradients
            if rr < 1e-24:
                break
            made = step(S, p)
            alpha = rr / made["s"]
            z, r = z + alpha * p, r - alpha * made["q"]
            rr, old = r @ r, rr
            p = r + rr / old * p
        self.same(z, sp.linalg.spsolve(S.tocsc(), b))
        P = sp.csr_matrix(A / np.maximum(np.asarray(A.sum(axis=1)), 1e-300))
        rank = want = np.full(n, 1 / n)
        walk = stcvm.compile("y(j) = a * P(i,j) * r(i) + c", P=P, r=rank, a=0.85, c=0.1)
        for _ in range(20):
            rank, want = walk(P, rank, 0.85, 0.1), 0.85 * (P.T @ want) + 0.1
        self.same(rank, want)
        rows, cols = A.nonzero()
        W = stcvm.Tensor.from_coords([rows, cols], A.data + 0.1, (n, n), "csr", np.inf)
        way = np.where(np.arange(n) == 0, 0.0, np.inf)
        for _ in range(n):
            way = ev("d(j) = min(way(j), min(i: way(i) + W(i,j)))", way=way, W=W)
        G = sp.csr_matrix((A.data + 0.1, (rows, cols)), shape=A.shape)
        self.same(way, csgraph.dijkstra(G, indices=0))
        self.assertEqual(self.steps, 30)


if __name__ == "__main__":
    unittest.main()
