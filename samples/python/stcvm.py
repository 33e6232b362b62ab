"""stcvm.py: stcvm from Python, through ctypes alone.

NumPy arrays and SciPy CSR and CSC matrices are lent: their memory is read
where it is. The values of a lent array may change between calls; its indices
may not: they are checked once. Results are NumPy arrays over the program's own
memory, valid until its next run (copy what you keep), or SciPy matrices over it.

    m = Machine()
    p = m.compile("y(i) = A(i,j) * x(j)", A=A, x=x)
    y = p(A=A, x=x)["y"]
"""
import ctypes as c
import os

import numpy as np
import scipy.sparse as sp

_TYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "c8", "c16"]
_POS, _CRD = 0, 1


class Array(c.Structure):
    _fields_ = [("data", c.c_void_p), ("length", c.c_int64), ("width", c.c_int32),
                ("stride", c.c_int32)]


class Decl(c.Structure):
    _fields_ = [("name", c.c_char_p), ("format", c.c_char_p), ("type", c.c_int),
                ("fill", c.c_void_p), ("order", c.c_int)]


class ErrorInfo(c.Structure):
    _fields_ = [("status", c.c_int), ("file", c.c_char_p), ("line", c.c_int),
                ("column", c.c_int), ("length", c.c_int), ("message", c.c_char_p),
                ("text", c.c_char_p)]


class Error(Exception):
    pass


def _library():
    lib = c.CDLL(os.environ.get("STCVM_LIBRARY", "libstcvm.so.0"))
    p, s, i = c.c_void_p, c.c_char_p, c.c_int
    for name, result, args in [
            ("open", i, [p, p]), ("close", None, [p]), ("error", c.POINTER(ErrorInfo), [p]),
            ("tensor_new", i, [p, s, i, i, p, p, p]), ("tensor_free", None, [p]),
            ("tensor_lend", i, [p, i, i, Array]), ("tensor_touch_values", None, [p]),
            ("tensor_lend_values", i, [p, p, c.c_int64]), ("tensor_order", i, [p]),
            ("tensor_shape", c.POINTER(c.c_int64), [p]), ("tensor_type", i, [p]),
            ("tensor_format", s, [p]), ("tensor_array", i, [p, i, i, p]),
            ("tensor_values", i, [p, p, p]), ("tensor_to_dense", i, [p, p]),
            ("compile", i, [p, s, p, i, p]), ("program_free", None, [p]),
            ("bind", i, [p, s, p]), ("run", i, [p]), ("result", i, [p, s, p]),
            ("program_name", s, [p, i, c.POINTER(c.c_bool)])]:
        f = getattr(lib, "stc_" + name)
        f.restype, f.argtypes = result, args
    return lib


_lib = _library()


def _format(a):
    """What a is to stcvm; CSR and CSC in SciPy's and in stcvm's words are one."""
    if sp.issparse(a):
        if a.format not in ("csr", "csc"):
            raise Error("only CSR and CSC matrices can be lent, not " + a.format)
        return a.format.encode()
    return b"dense"


def _numpy(array, count, dtype):
    """A NumPy array over memory that isn't its own."""
    if not count:
        return np.empty(0, dtype)
    raw = (c.c_char * (count * dtype.itemsize)).from_address(array)
    return np.frombuffer(raw, dtype, count)


class Machine:
    def __init__(self):
        self.handle = c.c_void_p()
        if _lib.stc_open(None, c.byref(self.handle)):
            raise Error("no memory for a machine")

    def check(self, status):
        if status:
            e = _lib.stc_error(self.handle).contents
            raise Error("%d:%d: %s" % (e.line, e.column, e.message.decode()))

    def compile(self, text, **like):
        return Program(self, text, like)

    def close(self):
        _lib.stc_close(self.handle)


class Lent:
    """A tensor over the memory of an array; holds on to both."""

    def __init__(self, m, a):
        self.array, self.handle = a, c.c_void_p()
        data = a.data if sp.issparse(a) else a
        if not sp.issparse(a) and not a.flags.c_contiguous:
            raise Error("only C-contiguous arrays can be lent")
        kind = _TYPES.index(np.dtype(data.dtype).str[1:].replace("b1", "?"))
        shape = (c.c_int64 * max(a.ndim, 1))(*a.shape)
        m.check(_lib.stc_tensor_new(m.handle, _format(a), kind, a.ndim, shape, None,
                                    c.byref(self.handle)))
        if sp.issparse(a):
            if not a.has_sorted_indices:
                raise Error("sort the indices first: A.sort_indices()")
            for role, index in ((_POS, a.indptr), (_CRD, a.indices)):
                m.check(_lib.stc_tensor_lend(self.handle, 1, role, Array(
                    index.ctypes.data, len(index), index.itemsize, 0)))
        m.check(_lib.stc_tensor_lend_values(self.handle, data.ctypes.data, data.size))

    def close(self):
        _lib.stc_tensor_free(self.handle)


class Program:
    def __init__(self, m, text, like):
        self.m, self.handle, self.bound = m, c.c_void_p(), {}
        decls = (Decl * len(like))()
        for d, (name, a) in zip(decls, like.items()):
            dtype = np.dtype(a.dtype).str[1:].replace("b1", "?")
            d.name, d.format, d.type, d.order = (name.encode(), _format(a),
                                                 _TYPES.index(dtype), a.ndim)
        m.check(_lib.stc_compile(m.handle, text.encode(), decls, len(like),
                                 c.byref(self.handle)))

    def __call__(self, **arrays):
        for name, a in arrays.items():
            old = self.bound.get(name)
            if old and old.array is a:
                _lib.stc_tensor_touch_values(old.handle)
                continue
            t = Lent(self.m, a)
            self.m.check(_lib.stc_bind(self.handle, name.encode(), t.handle))
            self.bound[name] = t
            if old:
                old.close()
        self.m.check(_lib.stc_run(self.handle))
        return {name: self._result(name) for name in self._results()}

    def _results(self):
        is_result, i = c.c_bool(), 0
        while (name := _lib.stc_program_name(self.handle, i, c.byref(is_result))):
            i += 1
            if is_result.value:
                yield name.decode()

    def _result(self, name):
        t, values, count = c.c_void_p(), c.c_void_p(), c.c_int64()
        self.m.check(_lib.stc_result(self.handle, name.encode(), c.byref(t)))
        order = _lib.stc_tensor_order(t)
        shape = tuple(_lib.stc_tensor_shape(t)[k] for k in range(order))
        dtype = np.dtype(_TYPES[_lib.stc_tensor_type(t)])
        kind = _lib.stc_tensor_format(t).decode()
        self.m.check(_lib.stc_tensor_values(t, c.byref(values), c.byref(count)))
        data = _numpy(values.value, count.value, dtype)
        if kind == "dense" or order == 0:
            return data[:int(np.prod(shape))].reshape(shape)
        if kind not in ("csr", "csc"):
            dense = np.empty(shape, dtype)
            self.m.check(_lib.stc_tensor_to_dense(t, dense.ctypes.data))
            return dense
        index = []
        for role in (_POS, _CRD):
            a = Array()
            self.m.check(_lib.stc_tensor_array(t, 1, role, c.byref(a)))
            index.append(_numpy(a.data, a.length, np.dtype("i%d" % a.width)))
        matrix = {"csr": sp.csr_matrix, "csc": sp.csc_matrix}[kind]
        return matrix((data, index[1], index[0]), shape=shape, copy=False)

    def close(self):
        for t in self.bound.values():
            t.close()
        _lib.stc_program_free(self.handle)
