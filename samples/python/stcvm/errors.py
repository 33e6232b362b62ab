"""errors.py: an exception for each status, with its place in the text."""


class Error(Exception):
    """What stcvm refuses. `line` and `column` count from 1, and are 0 where the fault
    has no place in a text; `operand` is the name of the operand at fault, or None."""

    def __init__(self, message, file="", line=0, column=0, length=1, text="", operand=None):
        super().__init__(message)
        self.message, self.file, self.operand = message, file, operand
        self.line, self.column, self.length, self.text = line, column, length, text

    def __str__(self):
        what = self.message
        if self.operand and self.operand not in what:
            what = "%s: %s" % (self.operand, what)
        if not self.line:
            return what
        caret = "^" * max(1, self.length)
        return "%d:%d: %s\n  %s\n  %s%s" % (self.line, self.column, what, self.text,
                                           " " * (self.column - 1), caret)

    def __reduce__(self):
        return type(self), (self.message, self.file, self.line, self.column, self.length,
                            self.text, self.operand)


class ArgumentError(Error, TypeError):
    """The call itself is wrong."""


class SyntaxError(Error):
    """Program text that doesn't parse."""


class ProgramError(Error):
    """Program text that parses and makes no sense."""


class ShapeError(Error, ValueError):
    """Extents that don't agree, an access out of bounds."""


class DataError(Error, ValueError):
    """Arrays or a file that break their format."""


class FileError(Error, OSError):
    """A file that can't be opened, read or written."""

    __str__ = Error.__str__


class CorruptError(Error):
    """Bytecode that is damaged, unknown or unsafe."""


class ArithmeticError(Error, ArithmeticError):
    """A division by zero, a negative integer power."""


class MemoryError(Error, MemoryError):
    """No memory, or over the machine's cap."""


class StepsError(Error):
    """Over the machine's step limit."""


class InterruptError(Error):
    """The call was told to stop."""


class OverflowError(Error, OverflowError):
    """A size or coordinate beyond 64 bits."""


class Note(UserWarning):
    """What a compilation found worth saying of a text that isn't wrong."""


_BY_STATUS = [Error, ArgumentError, SyntaxError, ProgramError, ShapeError, DataError,
              FileError, CorruptError, ArithmeticError, MemoryError, StepsError,
              InterruptError, OverflowError]


def make(status, message, file, line, column, length, text, operand):
    """The exception for a status; the extension calls it."""
    return _BY_STATUS[status](message, file, line, column, length, text, operand)
