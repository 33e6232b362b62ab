"""tensor.py: tensors of stcvm's own formats, orders and fills."""

import numpy as np

from . import _stcvm
from .expression import Operators
from .operands import NAMES, sp, type_of


def to_scipy(handle, like="array", share=False):
    """A SciPy matrix of a csr, csc or coo handle; `share`: over its own memory."""
    values, arrays = handle.arrays(share)
    name = handle.format + ("_matrix" if like == "matrix" else "_array")
    by = {(level, role): a for level, role, a in arrays}
    if handle.format == "coo":
        parts = (values, (by[0, 1], by[1, 1]))
    else:
        parts = (values, by[1, 1], by[1, 0])
    return getattr(sp, name)(parts, shape=handle.shape, copy=False)


class Tensor(Operators):
    """An array in one of stcvm's formats; it owns its memory and never changes.

    >>> import stcvm
    >>> T = stcvm.Tensor([[0., 2.], [0., 0.]], format="csr")
    >>> T.shape, T.nnz, T[0, 1]
    ((2, 2), 1, 2.0)
    """

    __slots__ = ("_handle",)
    __array_priority__ = 1000
    __array_ufunc__ = None  # NumPy leaves operators to this class

    def __init__(self, a, format=None, dtype=None):
        from .programs import asarray
        self._handle = asarray(a, format, dtype)._handle

    @classmethod
    def _own(cls, handle):
        self = object.__new__(cls)
        self._handle = handle
        return self

    @classmethod
    def from_coords(cls, coords, values, shape, format="coo", fill=None):
        """From entries in any order: coords[k] has mode k of each; duplicates are
        summed."""
        from .programs import machine
        values = np.ascontiguousarray(values)
        coords = np.ascontiguousarray(coords, np.int64)
        return cls._own(machine().from_coords(format, type_of(values.dtype), tuple(shape),
                                              fill, coords, values))

    shape = property(lambda self: self._handle.shape, doc="extents")
    ndim = property(lambda self: len(self._handle.shape), doc="order")
    dtype = property(lambda self: _stcvm.dtypes[self._handle.type], doc="NumPy's type")
    format = property(lambda self: self._handle.format, doc="format, in stcvm's words")
    fill = property(lambda self: self._handle.fill, doc="what isn't stored")
    nnz = property(lambda self: self._handle.stored, doc="stored entries")
    nbytes = property(lambda self: self._handle.nbytes, doc="bytes of all arrays")

    def to_numpy(self):
        """All of it as a NumPy array."""
        return self._handle.dense()

    todense = to_numpy

    def __array__(self, dtype=None):
        a = self.to_numpy()
        return a if dtype is None else a.astype(dtype)

    def to_scipy(self, format=None):
        """A SciPy array with a copy of it: csr unless it is csc or coo already."""
        if sp is None:
            raise ImportError("SciPy isn't here")
        if self.ndim != 2 or not self._handle.fill_is_zero:
            raise ValueError("SciPy has matrices with fill 0 only, not order %d with fill %r"
                             % (self.ndim, self.fill))
        want = format or (self.format if self.format in ("csr", "csc", "coo") else "csr")
        if want == self.format:
            return to_scipy(self._handle)
        if want in ("csr", "csc", "coo"):
            return to_scipy(self._handle.convert(want, -1))
        return to_scipy(self._handle.convert("csr", -1)).asformat(want)

    def asformat(self, format):
        """A copy in another format."""
        return Tensor._own(self._handle.convert(format, -1))

    def astype(self, dtype):
        """A copy with elements of another type."""
        return Tensor._own(self._handle.convert(None, type_of(dtype)))

    def entries(self):
        """(coords [ndim, n], values): what is stored, in storage order."""
        plain = self._handle if self.format == "coo" else (
            self._handle.convert("coo" if self.ndim > 1 else "svec", -1))
        coords = plain.coords()
        return coords, plain.arrays(False)[0][:coords.shape[1]]

    def _plain_index(self, key):
        key = key if isinstance(key, tuple) else (key,)
        if Ellipsis in [k for k in key if k is Ellipsis]:
            at = [k is Ellipsis for k in key].index(True)
            key = key[:at] + (slice(None),) * (self.ndim - len(key) + 1) + key[at + 1:]
        if len(key) > self.ndim:
            raise IndexError("%d subscripts for order %d" % (len(key), self.ndim))
        return key + (slice(None),) * (self.ndim - len(key))

    def __getitem__(self, key):
        key = self._plain_index(key)
        at = []
        for k, n in zip(key, self.shape):
            if isinstance(k, slice):
                at.append(range(n)[k])
                continue
            i = k.__index__()
            if not -n <= i < n:
                raise IndexError("%d is outside of 0 to %d" % (i, n - 1))
            at.append(i % n)
        if not any(isinstance(k, range) for k in at):
            return self._handle.get(tuple(at))
        return self._slice(at)

    def _slice(self, at):
        coords, values = self.entries()
        keep = np.ones(len(values), bool)
        rows, shape = [], []
        for c, k in zip(coords, at):
            if isinstance(k, range):
                place, rest = np.divmod(c - k.start, k.step)
                keep &= (rest == 0) & (place >= 0) & (place < len(k))
                rows.append(place)
                shape.append(len(k))
            else:
                keep &= c == k
        rows = np.array([r[keep] for r in rows], np.int64).reshape(len(shape), -1)
        same = len(shape) == self.ndim
        form = self.format if same else "svec" if len(shape) == 1 else "coo"
        return Tensor.from_coords(rows, values[keep], shape, form, self.fill)

    def __reduce__(self):
        values, arrays = self._handle.arrays(False)
        return _rebuild, (self.format, NAMES[self._handle.type], self.shape, self.fill,
                          values, arrays)

    def __repr__(self):
        return "<stcvm.Tensor %s %s, %s, %d stored, fill %r>" % (
            "x".join(map(str, self.shape)) or "number", self.dtype, self.format, self.nnz,
            self.fill)

    def __str__(self):
        return self._handle.text(50).rstrip("\n")

    def __len__(self):
        if not self.ndim:
            raise TypeError("a tensor of order 0 has no length")
        return self.shape[0]

    def _repr_html_(self):
        """Its facts, and where a matrix has entries."""
        import html
        text = html.escape(repr(self))
        if self.ndim != 2 or not all(self.shape):
            return "<pre>%s</pre>" % text
        coords = self.entries()[0]
        rows, cols = (min(n, 120) for n in self.shape)
        place = np.unique(coords[0] * rows // self.shape[0] * cols
                          + coords[1] * cols // self.shape[1])
        dots = "".join('<rect x="%d" y="%d" width="1" height="1"/>' % (p % cols, p // cols)
                       for p in place)
        return ('<pre>%s</pre><svg viewBox="0 0 %d %d" width="240" '
                'style="border:1px solid">%s</svg>' % (text, cols, rows, dots))


def _rebuild(form, kind, shape, fill, values, arrays):
    """What pickling kept; its arrays are checked, wherever they come from."""
    from .programs import machine
    return Tensor._own(machine().from_arrays(form, type_of(kind), tuple(shape), fill,
                                             values, arrays))
