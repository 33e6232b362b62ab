"""stcvm: sparse array expressions, evaluated at once, on NumPy's and SciPy's arrays.

    y = stcvm.eval("y(i) = A(i,j) * x(j)", A=A, x=x)
"""
from . import _stcvm, errors
from .errors import Error, Note
from .expression import Expr
from .functions import function
from .programs import Compiled, _wrap, asarray, compile, einsum, eval, set_threads
from .session import Session
from .tensor import Tensor

_stcvm.hooks(errors.make, _wrap)
__version__ = _stcvm.version
__all__ = ["Compiled", "Error", "Expr", "Note", "Session", "Tensor", "asarray", "compile",
           "einsum", "errors", "eval", "function", "set_threads"]
