"""session.py: scripts: named tensors and statements, with what they print."""
from . import _stcvm
from .functions import register_all
from .operands import describe


class Session:
    """Executes statements of the language, and holds what they define.

    >>> import stcvm
    >>> s = stcvm.Session()
    >>> s["x"] = [1., 2., 3.]
    >>> s.exec("t = x(i) * x(i); print t")
    '14\\n'
    >>> s["t"]
    14.0
    """

    def __init__(self, **options):
        self._machine = _stcvm.Machine(**options)
        register_all(self._machine)
        self._session = self._machine.session()

    def exec(self, text, file="session", limit=-1):
        """Executes statements and gives what they print. limit >= 0: an expression by
        itself shows its value, up to so many entries."""
        shown, fault = self._session.exec(text, file, limit)
        if fault is not None:
            fault.output = shown
            raise fault
        return shown

    def __setitem__(self, name, a):
        spec, lent = describe(name, a)
        handle = self._machine.copy(spec, lent, None)
        if handle is NotImplemented:
            raise TypeError("%r can't be made a tensor" % type(a).__name__)
        self._session.put(name, handle)

    def __getitem__(self, name):
        if name not in self:
            raise KeyError(name)
        from .programs import _wrap
        handle = self._session.get(name)
        made = _wrap(handle, "array")
        return made.item() if handle.shape == () else made

    def __contains__(self, name):
        return name in self._session.names()

    def __iter__(self):
        return iter(self._session.names())

    def interrupt(self):
        """Ends the call that is under way, from any thread."""
        self._machine.interrupt()
