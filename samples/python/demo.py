"""demo.py: stcvm beside SciPy, on SciPy's own arrays."""
import numpy as np
import scipy
import scipy.sparse as sp

import stcvm

print("NumPy", np.__version__, "SciPy", scipy.__version__)
rng = np.random.default_rng(7)
A = sp.random(400, 300, density=0.02, format="csr", random_state=7)
B = sp.random(300, 200, density=0.02, format="csc", random_state=8)
x = rng.random(300)

spmv = stcvm.compile("y(i) = A(i,j) * x(j)", A=A, x=x)
y = spmv(A, x)
print("y = A x: differs by", abs(y - A @ x).max())
assert np.allclose(y, A @ x)

# Nothing was copied: a change of the array is a change of the operand.
x *= 2
A.data[0] = 100
assert np.allclose(spmv(A, x), A @ x)
print("after changes in place: the same; lent, not copied")

C = stcvm.eval("C(i,j) = A(i,k) * B(k,j)", A=A, B=B)
print("C = A B:", type(C).__name__, C.nnz, "stored; differs by", abs(C - A @ B).max())
assert abs(C - A @ B).max() < 1e-12

far = stcvm.eval("d(i) = max(j: A(i,j) * x(j))", A=A, x=x)
want = np.array(A.multiply(x[None, :]).max(axis=1).todense()).ravel()
print("a product over (max, *): differs by", abs(far - want).max())
assert np.allclose(far, want)

T = stcvm.Tensor(A)
E = T @ T.T - 2 * (T @ T.T)
print("operators become one statement:", E)
assert np.allclose(E.to_numpy(), -(A @ A.T).toarray())

try:
    stcvm.eval("y(i) = A(i,j) * z(j)", A=A)
except stcvm.Error as e:
    print("a mistake:", e)
