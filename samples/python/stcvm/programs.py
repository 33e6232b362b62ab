"""programs.py: texts compiled, kept, and called.

Each thread has a machine of its own, and the programs that were compiled there. A
call first tries the program that ran last for its text, which says NotImplemented
if it was compiled for other kinds of operands.
"""
import threading
import warnings
from collections import OrderedDict

import numpy as np

from . import _stcvm
from .errors import DataError, Note
from .functions import register_all
from .operands import describe, is_matrix, sp, tidy, type_of
from .tensor import Tensor, to_scipy

_KEPT = 512  # programs of a thread
_options = {"threads": 1}


class _Thread(threading.local):
    """What a thread has: its machine, programs by key, the last one by text."""

    def __init__(self):
        self.machine = _stcvm.Machine(**_options)
        self.programs = OrderedDict()
        self.recent = {}


_thread = _Thread()


def set_threads(n):
    """The threads that later runs of this Python thread use, and those to come."""
    _thread.machine.set_threads(n)
    _options["threads"] = n


def machine():
    """This thread's machine; another one while it is busy (a signal's handler, a
    function that a program calls)."""
    m = _thread.machine
    m = _stcvm.Machine(**_options) if m.busy else m
    register_all(m)
    return m


def _like(operands):
    """The classes of SciPy's that results are made of: matrices among matrices."""
    if sp is None:
        return None
    old = any(is_matrix(a) and isinstance(a, sp.spmatrix) and not _is_array(a)
              for a in operands)
    return "matrix" if old else "array"


def _is_array(a):
    return type(a).__name__.endswith("_array")


def _wrap(handle, like):
    """What a result is to the caller, who owns it."""
    if handle.format == "dense" or ": dense" in handle.format and not any(
            word in handle.format for word in ("compressed", "singleton", "hashed", "rle",
                                               "lz77", "bytemap", "range", "offset", "/")):
        if handle.format == "dense":
            return handle.arrays(True)[0][:int(np.prod(handle.shape))].reshape(handle.shape)
        return handle.dense()
    if like and handle.fill_is_zero and handle.format in ("csr", "csc", "coo"):
        if len(handle.shape) == 2:
            return to_scipy(handle, like, share=True)
    return Tensor._own(handle)


def _compile(m, text, specs, formats, like, level):
    program = m.compile(text, specs, formats, like)
    unused = {s[0] for s in specs} - set(program.operands)
    if unused:
        raise TypeError("the text has no operand named %s" % ", ".join(sorted(unused)))
    for note in m.notes().splitlines():
        warnings.warn(note, Note, stacklevel=level)
    return program


def _program(text, specs, formats, like, level):
    """The program for these specs on this thread's machine; None if that is busy."""
    key = text, specs, formats, like
    m = machine()
    if m is not _thread.machine:
        return _compile(m, text, specs, dict(formats), like, level + 1)
    programs = _thread.programs
    program = programs.get(key)
    if program is None:
        program = programs[key] = _compile(m, text, specs, dict(formats), like, level + 1)
        if len(programs) > _KEPT:
            programs.popitem(last=False)
            _thread.recent.clear()
    else:
        programs.move_to_end(key)
    return program


def _slowly(text, formats, operands, tidied=False, level=4, out=None):
    """As eval, for whatever operands: they are described, and copied where they can't
    be lent. Also gives the program."""
    described = [describe(name, a) for name, a in operands.items()]
    specs = tuple(s for s, _ in described)
    lent = {s[0]: a for s, a in described}
    program = _program(text, specs, formats, _like(operands.values()), level)
    try:
        made = program(**lent) if out is None else program.into(out, (), lent)
    except DataError as e:
        a = lent.get(e.operand)
        if tidied or not is_matrix(a):
            raise
        operands = {n: tidy(o) if is_matrix(o) else o for n, o in lent.items()}
        return _slowly(text, formats, operands, True, level + 1, out)
    if made is NotImplemented:
        raise TypeError("operands that changed while they were looked at")
    return program, made


def eval(text, /, *, formats=None, out=None, **operands):
    """What a text gives for these operands.

    >>> import numpy as np, stcvm
    >>> stcvm.eval("y(i) = A(i,j) * x(j)", A=np.eye(2), x=[3, 4])
    array([3., 4.])

    The result is a number, a NumPy array, a SciPy matrix (csr, csc and coo with fill 0)
    or a stcvm.Tensor; a text with several results gives a dict of them. It is the
    caller's own. `formats` chooses formats of results: {"C": "coo"}.
    `out`, an array of the one dense result's shape and type in C's order, has the result
    then, and is given back; if the call fails, what it has is undefined. It may overlap
    operands.
    """
    if out is not None:
        _slowly(text, tuple(sorted((formats or {}).items())), operands, out=out)
        return out
    recent = _thread.recent
    if formats is None:
        program = recent.get(text)
        if program is not None:
            try:
                made = program(**operands)
            except DataError:
                made = NotImplemented
            if made is not NotImplemented:
                return made
    program, made = _slowly(text, tuple(sorted((formats or {}).items())), operands)
    if formats is None:
        recent[text] = program
        if len(recent) > 4 * _KEPT:
            recent.clear()
    return made


class Compiled:
    """A text that was compiled for certain operands; call it with such by position, in
    the order they were given, or by name. Others are compiled for when they come."""

    def __init__(self, text, formats, operands):
        self.text, self.names = text, tuple(operands)
        self._formats = tuple(sorted((formats or {}).items()))
        described = [describe(name, a) for name, a in operands.items()]
        self._like = _like(operands.values())
        self._program = _program(text, tuple(s for s, _ in described), self._formats,
                                 self._like, 4)

    def __call__(self, *args, out=None, **kwargs):
        if out is not None:
            return self._into(out, args, kwargs)
        try:
            made = self._program(*args, **kwargs)
        except DataError:
            made = NotImplemented
        return self._again(args, kwargs) if made is NotImplemented else made

    def _into(self, out, args, kwargs):
        try:
            made = self._program.into(out, args, kwargs)
        except DataError:
            made = NotImplemented
        if made is NotImplemented:
            self._again(args, kwargs, out)
        return out

    def _again(self, args, kwargs, out=None):
        operands = dict(zip(self.names, args), **kwargs)
        if len(args) > len(self.names) or set(operands) != set(self.names) or (
                len(operands) != len(args) + len(kwargs)):
            raise TypeError("expected the operands " + ", ".join(self.names))
        return _slowly(self.text, self._formats, operands, out=out)[1]

    @property
    def results(self):
        """Names of the results."""
        return self._program.results

    def explain(self, stage="plan"):
        """How it is computed: "ast", "bound", "plan", "lattice" or "code"."""
        return self._program.explain(stage)

    def __repr__(self):
        return "stcvm.compile(%r, %s)" % (self.text, ", ".join(self.names))


def compile(text, /, *, formats=None, **operands):
    """A callable for a text and operands like these.

    >>> import numpy as np, stcvm
    >>> f = stcvm.compile("y(i) = A(i,j) * x(j)", A=np.eye(2), x=np.ones(2))
    >>> f(np.eye(2), np.array([1., 2.]))
    array([1., 2.])
    """
    return Compiled(text, formats, operands)


_LETTERS = "zyxwvutsrqponmlkjihgfedcbaZYXWVUTSRQPONMLKJIHGFEDCBA"


def _spelt(text, orders):
    """Ellipses as letters of their own: the last of them in operands with fewer axes."""
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(orders):
        return text
    free = [c for c in _LETTERS if c not in text]
    more = [n - len(t.replace("...", "")) if "..." in t else 0
            for t, n in zip(terms, orders)]
    if min(more) < 0 or max(more) > len(free):
        raise ValueError("einsum: %r doesn't fit the operands' axes" % text)
    names = "".join(free[:max(more)])
    terms = [t.replace("...", names[len(names) - m:], 1) for t, m in zip(terms, more)]
    if not arrow:
        joined = "".join(terms)
        right = "..." + "".join(sorted(c for c in set(joined) - set(names)
                                       if joined.count(c) == 1))
    return ",".join(terms) + "->" + right.replace("...", names, 1)


def _subscripts(text, count):
    left, arrow, right = text.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != count:
        raise ValueError("%d terms in %r for %d operands" % (len(terms), text, count))
    if not all((c.isascii() and c.isalpha()) for c in "".join(terms) + right):
        raise ValueError("einsum takes letters, commas and ->, not %r" % text)
    if not arrow:
        joined = "".join(terms)
        right = "".join(sorted(c for c in set(joined) if joined.count(c) == 1))
    return terms, right


def einsum(subscripts, *operands, format=None):
    """Einstein's summation, as NumPy's einsum writes it (what an ellipsis stands for must
    have the same sizes in all operands).

    >>> import numpy as np, stcvm
    >>> stcvm.einsum("ij,jk->ik", np.eye(2), np.ones((2, 1)))
    array([[1.],
           [1.]])
    """
    if "..." in subscripts:
        operands = [a if hasattr(a, "shape") else np.asarray(a) for a in operands]
        subscripts = _spelt(subscripts.replace(" ", ""), [len(a.shape) for a in operands])
    terms, right = _subscripts(subscripts, len(operands))

    def access(name, index):  # a letter alone might be a word of the language
        return "%s(%s)" % (name, ",".join("i_" + c for c in index)) if index else name

    factors = [access("arg%d" % k, term) for k, term in enumerate(terms)]
    text = "%s = %s" % (access("result", right), " * ".join(factors))
    named = {"arg%d" % k: a for k, a in enumerate(operands)}
    return eval(text, formats={"result": format} if format else None, **named)


def asarray(a, format=None, dtype=None):
    """A stcvm.Tensor with a copy of an array, a matrix, a list."""
    if isinstance(a, Tensor) and format is None and dtype is None:
        return a
    spec, lent = describe("a", a)
    m = machine()
    handle = m.copy(spec, lent, None)
    if handle is NotImplemented:
        raise TypeError("%r can't be made a tensor" % type(a).__name__)
    if format is not None or dtype is not None:
        handle = handle.convert(format, -1 if dtype is None else type_of(dtype))
    return Tensor._own(handle)
