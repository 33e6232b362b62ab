"""test_package.py: operands of all kinds, results, errors, threads, signals, sessions."""
import doctest
import itertools
import pickle
import signal
import subprocess
import sys
import threading
import time
import unittest
import warnings

import numpy as np
import scipy.sparse as sp

import stcvm
from stcvm import errors

SPMV = "y(i) = A(i,j) * x(j)"
DTYPES = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "c8", "c16", "?"]


class COO:
    """What PyData/Sparse documents of its COO; GCXS below has tocoo instead."""
    __module__ = "sparse.numba_backend._coo.core"

    def __init__(self, coords, data, shape, fill_value=0.0):
        self.coords, self.data = np.array(coords), np.array(data)
        self.shape, self.fill_value = shape, np.asarray(data).dtype.type(fill_value)


class GCXS:
    __module__ = "sparse.numba_backend._compressed.compressed"

    def __init__(self, coo):
        self.tocoo, self.fill_value, self.shape = lambda: coo, coo.fill_value, coo.shape


class Operands(unittest.TestCase):
    def test_pydata(self):
        way = COO([[0, 1, 2], [1, 2, 0]], [1.0, 2.0, 4.0], (3, 3), np.inf)
        for A in (way, GCXS(way)):
            d = stcvm.eval("d(i) = min(j: A(i,j) + x(j))", A=A, x=np.array([0.0, 10, 20]))
            np.testing.assert_array_equal(np.asarray(d), [11, 22, 4])
        T = COO([[0, 1], [1, 0], [2, 3]], np.array([5, 7]), (2, 2, 4))
        self.assertEqual(stcvm.eval("s = sum(i,j,k: T(i,j,k))", T=T), 12)

    def test_scipy(self):
        S = sp.random(12, 8, density=0.3, random_state=2)
        x = np.arange(8.0)
        for form in ("csr", "csc", "coo", "bsr", "dia", "lil", "dok"):
            for A in (sp.csr_matrix(S).asformat(form), sp.csr_array(S).asformat(form)):
                np.testing.assert_allclose(stcvm.eval(SPMV, A=A, x=x), S @ x, err_msg=form)
        for blocks in ((2, 2), (3, 4)):
            A = sp.bsr_matrix(S.toarray(), blocksize=blocks)
            np.testing.assert_allclose(stcvm.eval(SPMV, A=A, x=x), S @ x)
        for shape in ((5, 9), (9, 5)):  # diagonals that leave the matrix
            A = sp.diags([np.ones(5), np.arange(5.0), np.ones(5)], [1, 0, -2], shape=shape)
            v = np.arange(float(shape[1]))
            np.testing.assert_allclose(stcvm.eval(SPMV, A=A, x=v), A @ v)

    def test_out(self):
        A = sp.random(300, 200, density=0.1, format="csr", random_state=1)
        x, y = np.arange(200.0), np.full(300, np.nan)
        self.assertIs(stcvm.eval(SPMV, A=A, x=x, out=y), y)
        np.testing.assert_allclose(y, A @ x)
        f = stcvm.compile(SPMV, A=A, x=x)
        self.assertIs(f(A, 2 * x, out=y), y)
        np.testing.assert_allclose(y, 2 * (A @ x))
        z = f(A, x)  # what comes later is its own again
        self.assertFalse(np.shares_memory(z, y))
        np.testing.assert_allclose(z, A @ x)
        np.testing.assert_allclose(y, 2 * (A @ x))
        B = sp.random(200, 200, density=0.1, format="csr", random_state=2)
        g, v = stcvm.compile(SPMV, A=B, x=x), x.copy()
        g(B, v, out=v)  # into an operand
        np.testing.assert_allclose(v, B @ x)
        self.assertIs(f(A.astype("f4"), x, out=y), y)  # compiled anew
        np.testing.assert_allclose(y, A @ x, rtol=1e-5)
        for bad in (np.empty(299), np.empty(300, "f4"), np.empty(600)[::2],
                    np.empty((300, 1)), np.empty((20, 20))):
            with self.assertRaises((ValueError, BufferError), msg=bad.shape):
                f(A, x, out=bad)
        y.setflags(write=False)
        with self.assertRaises((ValueError, BufferError)):
            f(A, x, out=y)
        with self.assertRaises(ValueError):
            stcvm.eval("C(i,j) = A(i,j)", A=A, out=np.empty((300, 200)))

    def test_ellipses(self):
        rng = np.random.default_rng(1)
        A, B, v = rng.random((2, 3, 4)), rng.random((2, 4, 5)), rng.random(4)
        for text, of in (("...ij,...jk->...ik", (A, B)), ("...j,j->...", (A, v)),
                         ("...ij->...ji", (A,)), ("...j,j", (A, v)), ("i...->...", (A,)),
                         ("...,...->...", (A, A)), ("...ij,...jk", (A, B))):
            np.testing.assert_allclose(stcvm.einsum(text, *of), np.einsum(text, *of),
                                       err_msg=text)
        with self.assertRaises(ValueError):
            stcvm.einsum("...abc,j->...", A[0], v)

    def test_untidy(self):
        """Unsorted indices and duplicates: put in order in a copy."""
        A = sp.csr_matrix(([1.0, 2, 4, 8], [2, 0, 1, 1], [0, 2, 2, 4]), shape=(3, 3))
        before = A.indices.copy()
        x = np.array([1.0, 10, 100])
        np.testing.assert_array_equal(stcvm.eval(SPMV, A=A, x=x), [102, 0, 120])
        np.testing.assert_array_equal(A.indices, before)
        B = sp.coo_matrix(([1.0, 2, 4], ([2, 0, 2], [1, 1, 1])), shape=(3, 3))
        np.testing.assert_array_equal(stcvm.eval(SPMV, A=B, x=x), [20, 0, 50])

    def test_layouts(self):
        M = np.arange(60.0).reshape(3, 4, 5)
        for axes in itertools.permutations(range(3)):
            V = np.ascontiguousarray(M.transpose(axes)).transpose(np.argsort(axes))
            got = stcvm.eval("B(k,i) = A(i,j,k) * w(j)", A=V, w=np.arange(4.0))
            np.testing.assert_array_equal(got, np.einsum("ijk,j->ki", M, np.arange(4.0)))
        for V in (M[:, ::2], M[::-1], M[..., 1], M[:0]):
            index = "ijk"[:V.ndim]
            np.testing.assert_array_equal(stcvm.einsum("%s->%s" % (index, index[::-1]), V),
                                          V.transpose())

    def test_types(self):
        for name in DTYPES:
            a = np.array([0, 1, 3]).astype(name)
            got = stcvm.eval("y(i) = x(i)", x=a)
            self.assertEqual(got.dtype, a.dtype)
            np.testing.assert_array_equal(got, a)
        np.testing.assert_array_equal(
            stcvm.eval("y(i) = x(i)", x=np.array([1.0, 2], ">f8")), [1, 2])
        with self.assertRaises(TypeError):
            stcvm.eval("y(i) = x(i)", x=np.array(["a"]))

    def test_numbers_and_lists(self):
        got = stcvm.eval("y(i) = a * x(i) + b", a=2, x=[1, 2], b=np.float64(0.5))
        np.testing.assert_array_equal(got, [2.5, 4.5])
        self.assertEqual(stcvm.eval("s = x(i) * x(i)", x=(3, 4)), 25)
        self.assertEqual(stcvm.eval("s = z * z", z=1j), -1)

    def test_zero_copy(self):
        """Read where it lies: changes in place are seen, results aren't over operands."""
        x = np.ones(5)
        f = stcvm.compile("y(i) = x(i)", x=x)
        y = f(x)
        y[:] = 7
        x[2] = 3
        np.testing.assert_array_equal(x, [1, 1, 3, 1, 1])
        np.testing.assert_array_equal(f(x), x)
        big = np.ones(1 << 16)
        z = stcvm.eval("y(i) = x(i)", x=big)
        z[:] = 2
        self.assertEqual(big[0], 1)

    def test_other_operands_later(self):
        f = stcvm.compile(SPMV, A=np.eye(3), x=np.ones(3))
        A = sp.eye(4, format="csr")
        np.testing.assert_array_equal(f(A, np.arange(4)), np.arange(4))
        np.testing.assert_array_equal(f(x=[1, 2], A=np.eye(2)), [1, 2])
        with self.assertRaises(TypeError):
            f(A)
        with self.assertRaises(TypeError):
            stcvm.eval("y(i) = x(i)", x=[1], z=[2])


class Results(unittest.TestCase):
    def test_kinds(self):
        A = sp.random(6, 6, density=0.4, format="csr", random_state=3)
        C = stcvm.eval("C(i,j) = A(i,j) * 2", A=A)
        self.assertIsInstance(C, sp.csr_matrix)
        self.assertIsInstance(stcvm.eval("C(i,j) = A(i,j) * 2", A=sp.csr_array(A)),
                              sp.csr_array)
        for form in ("csr", "csc", "coo"):
            C = stcvm.eval("C(i,j) = A(i,k) * A(k,j)", A=A, formats={"C": form})
            self.assertEqual(C.format, form)
            self.assertLess(abs(C - A @ A).max(), 1e-12)
        T = stcvm.eval("C(i,j) = A(i,j)", A=A, formats={"C": "dcsr"})
        self.assertIsInstance(T, stcvm.Tensor)
        both = stcvm.eval("s = x(i); y(i) = s * x(i)", x=[1.0, 2.0])
        self.assertEqual(both["s"], 3)
        np.testing.assert_array_equal(both["y"], [3, 6])

    def test_tensor(self):
        D = np.zeros((3, 4, 5))
        D[1, 2, 3], D[2, 0, 4] = 7, 8
        T = stcvm.Tensor(D, format="csf")
        self.assertEqual((T.shape, T.dtype, T.nnz, T.fill), ((3, 4, 5), np.float64, 2, 0))
        np.testing.assert_array_equal(T.to_numpy(), D)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(T)).to_numpy(), D)
        self.assertEqual(T[1, 2, 3], 7)
        self.assertEqual(T[-1, 0, -1], 8)
        for key in (np.s_[1], np.s_[:, 2], np.s_[..., 4], np.s_[1:, ::2, ::-1]):
            got = T[key]
            np.testing.assert_array_equal(got.to_numpy(), D[key])
        with self.assertRaises(IndexError):
            T[3, 0, 0]
        self.assertIn("csf", repr(T))
        M = stcvm.Tensor(sp.eye(4, format="csc"))
        self.assertEqual((M.to_scipy("coo") != sp.eye(4)).nnz, 0)
        self.assertIn("<svg", M._repr_html_())

    def test_shared_places(self):
        A = sp.random(50, 40, density=0.2, format="csr", random_state=3)
        T = stcvm.Tensor(A)
        C = stcvm.eval("C(i,j) = 2 * T(i,j)", T=T)
        D = stcvm.eval("D(i,j) = abs(T(i,j))", T=T)
        self.assertTrue(np.shares_memory(C.indices, D.indices))
        for array in (C.indices, C.indptr):
            self.assertFalse(array.flags.writeable)
        C.data[:] = 0  # the values are its own
        with self.assertRaises(ValueError):
            C.eliminate_zeros()
        E = C.copy()
        E.eliminate_zeros()
        self.assertEqual(E.nnz, 0)
        del T, C
        self.assertEqual(abs(D - abs(A)).max(), 0)
        # what belongs to NumPy isn't shared
        L = stcvm.eval("L(i,j) = 2 * A(i,j)", A=A)
        self.assertFalse(np.shares_memory(L.indices, A.indices))
        self.assertTrue(L.indices.flags.writeable)

    def test_damaged_pickle(self):
        T = stcvm.Tensor(sp.eye(4, format="csr"))
        make, (form, kind, shape, fill, values, arrays) = T.__reduce__()
        bad = [(lv, role, a + 100) for lv, role, a in arrays]
        with self.assertRaises(errors.Error):
            make(form, kind, shape, fill, values, bad)

    def test_operators(self):
        A = sp.random(6, 6, density=0.4, format="csr", random_state=3)
        T, D = stcvm.Tensor(A), A.toarray()
        E = 2 * (T @ T) - T.T * T / 4 + D
        self.assertIn("sum(", repr(E))
        np.testing.assert_allclose(E.to_numpy(), 2 * D @ D - D.T * D / 4 + D)
        np.testing.assert_allclose(np.asarray(-T @ np.ones(6)), -D @ np.ones(6))
        with self.assertRaises(ValueError):
            T + np.ones(5)

    def test_einsum(self):
        A, B = np.random.default_rng(1).random((2, 4, 4))
        for text, args in (("ij,jk->ik", (A, B)), ("ii", (A,)), ("ij->ji", (A,)),
                           ("ij,ij->", (A, B)), ("ij,jk", (A, B)), ("i,j->ij", (A[0], B[1]))):
            np.testing.assert_allclose(stcvm.einsum(text, *args), np.einsum(text, *args),
                                       err_msg=text)


class Failures(unittest.TestCase):
    def test_places(self):
        with self.assertRaises(errors.SyntaxError) as caught:
            stcvm.eval("y(i) = * x(i)", x=[1])
        self.assertEqual((caught.exception.line, caught.exception.column), (1, 8))
        self.assertEqual(str(caught.exception).splitlines()[-1], " " * 9 + "^")
        with self.assertRaises(errors.ProgramError) as caught:
            stcvm.eval("y(i) = x(i) + z(i)", x=[1])
        self.assertEqual(caught.exception.text, "y(i) = x(i) + z(i)")
        with self.assertRaises(errors.ShapeError):
            stcvm.eval(SPMV, A=np.ones((2, 3)), x=np.ones(2))
        with self.assertRaises(ArithmeticError):
            stcvm.eval("y(i) = 7 // x(i)", x=[0])
        again = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual(str(again), str(caught.exception))

    def test_notes(self):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            stcvm.eval("y(i) = min(A(i,j), 3)", A=np.ones((2, 2)))
        for w in seen:
            self.assertTrue(issubclass(w.category, stcvm.Note))
            self.assertEqual(w.filename, __file__)
        self.assertTrue(seen)

    def test_function(self):
        @stcvm.function("tgap(x, y) with commutative")
        def tgap(x, y):
            return abs(x - y)

        @stcvm.function("tbad(x)")
        def tbad(x):
            raise LookupError("no")

        x = np.arange(6.0)
        self.assertEqual(stcvm.eval("d = sum(i: tgap(x(i), y(i)))", x=x, y=x[::-1]), 18)
        with self.assertRaises(LookupError):
            stcvm.eval("y(i) = tbad(x(i))", x=x)

    def test_interrupt(self):
        """Ctrl-C ends a long run soon, and the machine can be used again."""
        n = 1500
        A, B = np.random.default_rng(1).random((2, n, n))
        sent = []

        def send():
            time.sleep(0.3)
            sent.append(time.monotonic())
            signal.raise_signal(signal.SIGINT)

        text = "s = sum(i,j,k: max(A(i,k), B(k,j)))"
        threading.Thread(target=send).start()
        with self.assertRaises(KeyboardInterrupt):
            for _ in range(100):
                stcvm.eval(text, A=A, B=B)
        late = time.monotonic() - sent[0]
        print("interrupt after %.0f ms" % (late * 1e3))
        self.assertLess(late, 2)  # 50 ms, on a machine that does nothing else
        self.assertEqual(stcvm.eval("s = x(i)", x=[1, 2]), 3)


class Threads(unittest.TestCase):
    def test_threads(self):
        """Two threads with the same program, and each other's tensors."""
        A = sp.random(300, 300, density=0.05, format="csr", random_state=1)
        T, x = stcvm.Tensor(A), np.ones(300)
        f = stcvm.compile(SPMV, A=A, x=x)
        want, faults = A @ x, []

        def work():
            try:
                for _ in range(300):
                    np.testing.assert_allclose(f(A, x), want)
                    np.testing.assert_allclose(stcvm.eval(SPMV, A=T, x=x), want)
                    C = stcvm.eval("C(i,j) = A(i,j) + B(i,j)", A=T, B=stcvm.Tensor(A))
                    assert abs(C - 2 * A).max() < 1e-12
            except BaseException as e:
                faults.append(e)

        both = [threading.Thread(target=work) for _ in range(2)]
        for t in both:
            t.start()
        for t in both:
            t.join()
        self.assertEqual(faults, [])

    def test_gil_released(self):
        """Another thread of Python goes on while a program runs."""
        A, B = np.random.default_rng(1).random((2, 500, 500))
        beats, done = [], threading.Event()

        def beat():
            while not done.is_set():
                beats.append(time.monotonic())
                time.sleep(0.001)

        t = threading.Thread(target=beat)
        t.start()
        start = time.monotonic()
        stcvm.eval("s = sum(i,j,k: max(A(i,k), B(k,j)))", A=A, B=B)
        end = time.monotonic()
        done.set()
        t.join()
        self.assertGreater(len([b for b in beats if start < b < end]), 3)


class Around(unittest.TestCase):
    def test_session(self):
        s = stcvm.Session()
        s["A"] = sp.eye(3, format="csr") * 2
        self.assertEqual(s.exec("y(i) = A(i,j); t = y(i)\nprint t"), "6\n")
        self.assertEqual(s["t"], 6)
        np.testing.assert_array_equal(s["y"], [2, 2, 2])
        self.assertIn("A", list(s))
        with self.assertRaises(KeyError):
            s["nothing"]
        with self.assertRaises(stcvm.Error) as caught:
            s.exec("print t\nq = r(i)")
        self.assertEqual(caught.exception.output, "6\n")

    def test_prompt(self):
        done = subprocess.run([sys.executable, "-m", "stcvm"], input="x = 3\nx * 2\ny = (\n",
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("6", done.stdout)

    def test_doctests(self):
        tried = 0
        for m in (stcvm.programs, stcvm.tensor, stcvm.session):
            result = doctest.testmod(m)
            self.assertEqual(result.failed, 0)
            tried += result.attempted
        self.assertGreater(tried, 8)


if __name__ == "__main__":
    unittest.main()
