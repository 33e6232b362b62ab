"""operands.py: what an object is to stcvm, and copies of those that can't be lent.

A spec is what a program is compiled for: (name, kind, type, order, format, fill,
class, axes or block). Two calls with equal specs share a program.
"""
import numpy as np

from . import _stcvm

try:
    import scipy.sparse as sp
except ImportError:
    sp = None

DENSE, CSR, CSC, COO, BSR, DIA, NUMBER, TENSOR = range(8)
TYPES = {dtype: k for k, dtype in enumerate(_stcvm.dtypes)}
NAMES = ["bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64",
         "c64", "c128"]
_NUMBERS = {bool: 0, int: 4, float: 10, complex: 12}
_KINDS = {"csr": CSR, "csc": CSC, "coo": COO, "bsr": BSR, "dia": DIA}
_ARRAYS = ("data", "indices", "indptr", "row", "col", "offsets")
_DIA = "(i,j) -> (j-i : compressed, j : range, i : offset)"


def type_of(dtype):
    """The number of an element type: of a dtype, or a name of stcvm's."""
    if isinstance(dtype, str) and dtype in NAMES:
        return NAMES.index(dtype)
    try:
        return TYPES[np.dtype(dtype)]
    except KeyError:
        raise TypeError("stcvm has no elements of type %s" % np.dtype(dtype)) from None


def is_matrix(a):
    """Whether it is one of SciPy's."""
    return sp is not None and sp.issparse(a)


def _native(a):
    """An array of a type that stcvm has, in this machine's byte order."""
    if a.dtype == np.float16:
        a = a.astype(np.float32)
    if not a.dtype.isnative:
        a = a.astype(a.dtype.newbyteorder("="))
    type_of(a.dtype)
    return a


def _axes(a):
    """The axes from the slowest on, if the array lies densely in some order."""
    if a.flags.c_contiguous:
        return tuple(range(a.ndim))
    order = tuple(sorted(range(a.ndim), key=lambda k: -a.strides[k]))
    return order if a.transpose(order).flags.c_contiguous else None


def _dense(name, a):
    if type(a) is not np.ndarray:
        a = np.asarray(a)
    a = _native(a)
    axes = _axes(a)
    if axes is None or not a.flags.aligned:
        a = a.copy(order="C")  # a view with gaps: its elements are collected
        axes = tuple(range(a.ndim))
    form = "dense"
    if axes != tuple(range(a.ndim)):
        index = ["i%d" % k for k in range(a.ndim)]
        form = "(%s) -> (%s)" % (",".join(index),
                                 ", ".join("%s : dense" % index[k] for k in axes))
    return (name, DENSE, type_of(a.dtype), a.ndim, form, None, np.ndarray, axes), a


def _sparse(name, a):
    if a.format not in _KINDS:
        a = a.tocsr()  # DOK and LIL have no arrays
    kind = _KINDS[a.format]
    data = _native(a.data)
    arrays = [getattr(a, n) for n in _ARRAYS if hasattr(a, n)]
    if data is not a.data or not all(b.flags.c_contiguous and b.flags.aligned for b in arrays):
        a = a.copy()  # arrays from a message or a file may lie at any address
        a.data = data.copy() if not data.flags.aligned else np.ascontiguousarray(data)
        for n in _ARRAYS[1:]:
            if hasattr(a, n) and not getattr(a, n).flags.aligned:
                setattr(a, n, getattr(a, n).copy())
    form, extra = a.format, None
    if kind == BSR:
        extra = a.blocksize
        form = "bcsr(%d,%d)" % extra
    elif kind == DIA:
        form = _DIA
        if a.data.shape[1] != a.shape[1]:
            wide = np.zeros((len(a.offsets), a.shape[1]), a.dtype)
            n = min(wide.shape[1], a.data.shape[1])
            wide[:, :n] = a.data[:, :n]
            a = type(a)((wide, a.offsets), shape=a.shape)
    return (name, kind, type_of(data.dtype), 2, form, None, type(a), extra), a


def _pydata(a):
    """PyData/Sparse's COO, or GCXS by way of it, as a tensor of ours: a copy."""
    from .tensor import Tensor
    if not hasattr(a, "coords"):
        a = a.tocoo()
    return Tensor.from_coords(a.coords, _native(a.data), a.shape, fill=a.fill_value)


def describe(name, a):
    """The spec of an object, and the object to lend: itself or a copy."""
    kind = type(a)
    if kind in _NUMBERS:
        if kind is int and not -2**63 <= a < 2**63:
            raise OverflowError("%s: %d has no place in 64 bits" % (name, a))
        return (name, NUMBER, _NUMBERS[kind], 0, "dense", None, kind, None), a
    if isinstance(a, Lazy):
        a = a._value()
    if kind.__module__.split(".")[0] == "sparse" and hasattr(a, "fill_value"):
        a = _pydata(a)
    if hasattr(a, "_handle"):
        h = a._handle
        return (name, TENSOR, h.type, len(h.shape), h.format, h.fill, type(a), None), a
    if is_matrix(a):
        return _sparse(name, a)
    return _dense(name, a)


class Lazy:
    """What is computed when it is needed: expression.Expr is."""


def tidy(a):
    """A copy of a SciPy matrix with its entries in order, each once."""
    if a.format == "dia":
        order = np.argsort(a.offsets, kind="stable")
        return type(a)((a.data[order], a.offsets[order]), shape=a.shape)
    if a.format == "coo":
        _inside(a.row, a.shape[0])
        _inside(a.col, a.shape[1])
        return type(a)(a.tocsr().tocoo())
    a.check_format(full_check=True)
    a = a.copy()
    if a.format == "bsr":
        a.sum_duplicates()
    else:
        a.has_canonical_format = False
        a.has_sorted_indices = False
        a.sum_duplicates()
    return a


def _inside(index, n):
    if len(index) and not (0 <= index.min() and index.max() < n):
        raise ValueError("coordinates outside of the shape")
