"""dask.py: a statement on the workers of Dask's scheduler, in parts.

    >>> import stcvm.dask                                     # doctest: +SKIP
    >>> y = stcvm.dask.eval(client, "y(i) = A(i,j) * x(j)", A=A, x=x)

The program is split by one of its indices, as stc_program_split tells: of each operand a worker
is sent what its part needs, a range of one mode or all, and what parts make is put together
here. The index is one that cuts the result, else one by which it is reduced; of several, the one
that sends the fewest bytes.
"""
import asyncio
import time
from concurrent.futures import CancelledError

import distributed
import numpy as np

from . import programs
from .errors import Error, ProgramError
from .operands import describe, is_matrix, sp
from .tensor import Tensor

_WHOLE, _CUT, _REDUCE = range(3)
_FUNCTIONS = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum,
              "bitor": np.bitwise_or, "bitand": np.bitwise_and, "bitxor": np.bitwise_xor,
              "or": np.logical_or, "and": np.logical_and}


def _range(row, lo, hi):
    """The coordinates that a part needs of a mode, from one to before another."""
    _, _, _, _, coef, before, after, _ = row
    return coef * lo + before, (coef * (hi - 1) + after + 1 if hi > lo else coef * lo + before)


def _cut(a, row, lo, hi):
    """An operand without what the part doesn't need; its shape and kind stay."""
    begin, end = _range(row, lo, hi)
    mode = row[3]
    if is_matrix(a) and a.format in ("csr", "csc", "coo"):
        c = a.tocoo()
        index = c.row if mode == 0 else c.col
        keep = (index >= begin) & (index < end)
        cut = type(c)((c.data[keep], (c.row[keep], c.col[keep])), shape=a.shape)
        return type(a)(cut.asformat(a.format))
    return a  # dense ones are sent whole


def _bytes(a, row, parts):
    size = (a.data.nbytes if is_matrix(a) else getattr(a, "nbytes", 8)) * parts
    cut = row[2] == _CUT and is_matrix(a) and a.format in ("csr", "csc", "coo")
    return size // parts if cut else size


def _run(text, name, mode, lo, hi, operands):
    """What a worker does: the results of its part. Arrays that came in a message may lie at
    any address, and are copied where they can't be lent."""
    specs, lent = zip(*(describe(n, a) for n, a in operands.items()))
    program = programs._program(text, specs, (), "array", 3)
    made = program.part(name, mode, lo, hi)(**{s[0]: a for s, a in zip(specs, lent)})
    if made is NotImplemented:
        raise TypeError("operands that can't be lent to a program of their own kinds")
    return made


def _choose(program, operands, parts, shapes):
    """(cost, name, mode, rows) of the best split."""
    best, why = None, "no operand has a mode"
    for name, shape in shapes.items():
        for mode in range(len(shape)):
            try:
                rows = program.split(name, mode)
            except ProgramError as e:
                why = e
                continue
            reduced = any(r[1] and r[2] == _REDUCE for r in rows)
            if any(r[1] and (r[2] == _WHOLE or r[7] and r[7] not in _FUNCTIONS)
                   for r in rows):
                continue
            cost = reduced, sum(_bytes(operands[r[0]], r, parts) for r in rows if not r[1])
            if best is None or cost < best[0]:
                best = cost, name, mode, rows
    if best is None:
        raise ProgramError("the statement can't be split: %s" % why)
    return best


def _dense(a):
    if isinstance(a, Tensor):
        return a.to_numpy()
    return a.toarray() if is_matrix(a) else np.asarray(a)


def _join(row, made, ranges):
    """One result from its parts."""
    if row[2] == _REDUCE:
        total = _dense(made[0])
        for part in made[1:]:
            total = _FUNCTIONS[row[7]](total, _dense(part))
        return total[()] if total.ndim == 0 else total
    mode = row[3]
    if all(is_matrix(part) for part in made):
        slices = [(part.tocsr()[slice(*_range(row, *r))] if mode == 0 else
                   part.tocsc()[:, slice(*_range(row, *r))]) for part, r in zip(made, ranges)]
        stack = sp.vstack if mode == 0 else sp.hstack
        return stack(slices).asformat(made[0].format)
    cuts = [_dense(part)[(slice(None),) * mode + (slice(*_range(row, *r)),)]
            for part, r in zip(made, ranges)]
    return np.concatenate(cuts, axis=mode)


class _Lost(Exception):
    """A worker went, and something with it that can't be computed again there."""


def _parts(client, text, split, ranges, operands, until):
    """What the workers make of their parts, in order."""
    name, mode, rows = split
    needs = {r[0]: r for r in rows if not r[1]}
    futures = []
    try:
        whole = {n: client.scatter(a, broadcast=True, hash=False, timeout=min(30, _left(until)))
                 for n, a in operands.items()
                 if needs[n][2] == _WHOLE or _cut(a, needs[n], 0, 1) is a}
    except Exception as e:  # of many kinds, where a worker goes meanwhile
        raise _Lost("no worker takes the operands: %s" % (e or type(e).__name__)) from e
    try:
        for lo, hi in ranges:
            own = {n: whole[n] if n in whole else _cut(a, needs[n], lo, hi)
                   for n, a in operands.items()}
            futures.append(client.submit(_run, text, name, mode, lo, hi, own, pure=False))
        distributed.wait(futures, min(_left(until), 1e6))
        return client.gather(futures)
    except (TimeoutError, asyncio.TimeoutError, CancelledError, asyncio.CancelledError,
            distributed.KilledWorker, OSError) as e:
        client.cancel(futures)
        raise _Lost("the workers haven't done their parts: %s" % (e or type(e).__name__)) from e


def _left(until):
    return max(0.1, until - time.monotonic())


def eval(client, text, /, *, parts=None, timeout=None, **operands):
    """What stcvm.eval gives, computed by a distributed.Client's workers in parts (as many as
    there are workers). Sums of sparse results are dense arrays. If a worker dies its parts
    are computed again; stcvm.Error if that fails thrice, or after `timeout` seconds."""
    until = time.monotonic() + (float("inf") if timeout is None else timeout)
    parts = parts or max(1, len(client.scheduler_info()["workers"]))
    specs, lent = zip(*(describe(n, a) for n, a in operands.items()))
    operands = {s[0]: a for s, a in zip(specs, lent)}
    program = programs._program(text, specs, (), "array", 3)
    shapes = {n: a.shape for n, a in operands.items() if hasattr(a, "shape")}
    _, name, mode, rows = _choose(program, operands, parts, shapes)
    by = next((r for r in rows if r[0] == name and not r[1] and r[2] == _CUT), None)
    size = -(-shapes[name][mode] // (by[4] if by else 1))
    ranges = [(size * k // parts, size * (k + 1) // parts) for k in range(parts)]
    for turn in range(3):
        try:
            made = _parts(client, text, (name, mode, rows), ranges, operands, until)
            break
        except _Lost as e:
            if turn == 2 or time.monotonic() > until:
                raise Error(str(e)) from e
    results = [r for r in rows if r[1]]
    if len(results) == 1:
        return _join(results[0], made, ranges)
    return {r[0]: _join(r, [m[r[0]] for m in made], ranges) for r in results}
