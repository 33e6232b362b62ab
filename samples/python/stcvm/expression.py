"""expression.py: operators on tensors, element by element, and @. They compute nothing:
they note what is to be done, and all of it becomes one statement when it is needed."""
import numpy as np

from .operands import Lazy


def _binary(op, turned=False):
    def method(self, other):
        if not hasattr(other, "shape") and not isinstance(other, (bool, int, float, complex)):
            try:
                other = np.asarray(other)
            except ValueError:
                return NotImplemented
        return Expr(op, other, self) if turned else Expr(op, self, other)
    return method


class Operators:
    """Arithmetic that gives an Expr."""

    __slots__ = ()
    __add__, __radd__ = _binary("+"), _binary("+", True)
    __sub__, __rsub__ = _binary("-"), _binary("-", True)
    __mul__, __rmul__ = _binary("*"), _binary("*", True)
    __truediv__, __rtruediv__ = _binary("/"), _binary("/", True)
    __matmul__, __rmatmul__ = _binary("@"), _binary("@", True)

    def __neg__(self):
        return Expr("-", 0, self)

    @property
    def T(self):
        """The axes in reverse, when it is computed."""
        return Expr("T", self)


class Expr(Operators, Lazy):
    """An expression over tensors that isn't computed yet; compute() does it."""

    __array_priority__ = 1000
    __array_ufunc__ = None

    def __init__(self, op, *parts):
        self.op, self.parts = op, parts
        self._made = None
        self.shape = self._shape()

    def _shape(self):
        shapes = [getattr(p, "shape", ()) for p in self.parts]
        if self.op == "T":
            return tuple(reversed(shapes[0]))
        left, right = shapes
        if self.op == "@":
            if not left or not right or left[-1] != right[0]:
                raise ValueError("@ of shapes %r and %r" % (left, right))
            return left[:-1] + right[1:]
        if left and right and left != right:
            raise ValueError("%s of shapes %r and %r: one must be a number, or both equal"
                             % (self.op, left, right))
        return left or right

    def _text(self, index, operands, fresh):
        """The expression's text at these indices; operands and indices get names."""
        def part(p, at):
            if isinstance(p, Expr):
                return p._text(at, operands, fresh)
            for name, known in operands.items():
                if known is p:
                    break
            else:
                name = "arg%d" % len(operands)
                operands[name] = p
            return "%s(%s)" % (name, ",".join(at)) if getattr(p, "shape", ()) else name

        if self.op == "T":
            return part(self.parts[0], index[::-1])
        left, right = self.parts
        if self.op == "@":
            cut = len(left.shape) - 1
            fresh.append("k_%d" % len(fresh))
            k = fresh[-1]
            return "sum(%s: %s * %s)" % (k, part(left, index[:cut] + [k]),
                                         part(right, [k] + index[cut:]))
        at = [index if getattr(p, "shape", ()) else [] for p in self.parts]
        return "(%s %s %s)" % (part(left, at[0]), self.op, part(right, at[1]))

    def statement(self):
        """(text, operands): the one statement that it becomes."""
        index = ["i_%d" % k for k in range(len(self.shape))]
        operands = {}
        right = self._text(index, operands, [])
        left = "result(%s)" % ",".join(index) if index else "result"
        return "%s = %s" % (left, right), operands

    def compute(self):
        """Its value, computed once: a NumPy array, a SciPy matrix, a Tensor, a number."""
        if self._made is None:
            from .programs import eval
            text, operands = self.statement()
            self._made = eval(text, **operands)
        return self._made

    _value = compute

    def to_numpy(self):
        """Its value as a NumPy array."""
        made = self.compute()
        for way in ("to_numpy", "toarray"):
            if hasattr(made, way):
                return getattr(made, way)()
        return np.asarray(made)

    todense = to_numpy

    def __array__(self, dtype=None):
        a = self.to_numpy()
        return a if dtype is None else a.astype(dtype)

    def __repr__(self):
        return "<stcvm.Expr %s>" % self.statement()[0]
