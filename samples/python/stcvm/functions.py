"""functions.py: Python's functions in texts."""
import functools

import numpy as np

from . import _stcvm
from .operands import type_of

_registered = []  # (head, (types, result), call), for each machine when it is next used


def register_all(m):
    """Tells a machine the functions that came since it was last used."""
    for head, types, call in _registered[m.functions:]:
        m.register(head, types, call)


def function(head, types=None, result="f64"):
    """Makes a function of arrays a function of the language.

        @stcvm.function("gap(x, y) with commutative")
        def gap(x, y):
            return abs(x - y)

    It gets NumPy arrays with the arguments of many calls and gives an array; with
    np.vectorize it may be one of numbers. `types` are its parameters' ("f64", "i64",
    "bool", "c128"; all f64 if not given). What `head` says of it is taken at its word.
    """
    params = head[head.index("(") + 1:head.index(")")].split(",")
    types = tuple(type_of(t) for t in (types or ["f64"] * len(params)))
    kind = type_of(result)
    carried = _stcvm.dtypes[4 if kind == 0 else kind]

    def register(f):
        @functools.wraps(f)
        def call(*arrays):
            arrays = [a != 0 if t == 0 else a for a, t in zip(arrays, types)]
            made = np.asarray(f(*arrays)).astype(carried)
            return np.ascontiguousarray(np.broadcast_to(made, arrays[0].shape))

        _stcvm.Machine().register(head, (types, kind), call)  # what is wrong shows here
        _registered.append((head, (types, kind), call))
        return f

    return register
