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

m = stcvm.Machine()
p = m.compile("y(i) = A(i,j) * x(j)", A=A, x=x)
y = p(A=A, x=x)["y"]
print("y = A x: differs by", abs(y - A @ x).max() if y.size else None)
assert np.allclose(y, A @ x)

# Nothing was copied: a change of the array is a change of the tensor.
x *= 2
assert np.allclose(p(A=A, x=x)["y"], A @ x)
A.data[0] = 100
assert np.allclose(p(A=A, x=x)["y"], A @ x)
print("after changes in place: the same; lent, not copied")

q = m.compile("C(i,j) = A(i,k) * B(k,j)", A=A, B=B)
C = q(A=A, B=B)["C"]
print("C = A B:", type(C).__name__, C.nnz, "stored; differs by", abs(C - A @ B).max())
assert abs(C - A @ B).max() < 1e-12

far = m.compile("d(i) = max(j: A(i,j) * x(j))", A=A, x=x)(A=A, x=x)["d"]
want = np.array(A.multiply(x[None, :]).max(axis=1).todense()).ravel()
print("a product over (max, *): differs by", abs(far - want).max())
assert np.allclose(far, want)

try:
    m.compile("y(i) = A(i,j) * z(j)", A=A)
except stcvm.Error as e:
    print("a mistake:", e)

p.close()
q.close()
