"""Every decision of a step, taken in turn: what asks for a draw asks here.

The walks that answer are in walks.py.
"""
import contextlib
import os
import sys
from fractions import Fraction
from math import gcd, isfinite

_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep
_ALIAS = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(_FOLDER))), "tempera_check") + os.sep
_LIBRARIES = ("site-packages", "dist-packages", os.path.dirname(os.__file__) + os.sep)

walk = None  # the walk whose step runs now; None outside steps, where chance is Python's own
refused = None  # the first refusal on this path, which ends the judgement also where the step or a thread of it catches it


class Abandoned(BaseException):
    """Ends a path whose rest is known or is another process's to take. A program must let it pass."""


class Endless(BaseException):
    """A path draws on and on, and is cut off. A program must let it pass."""


class Refused(TypeError):
    """A request that cannot be answered: the judgement ends."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        global refused
        if walk is not None and refused is None:
            refused = self


class NotDeterministic(Exception):
    """The same decisions led to other tickets."""


def raise_refused():
    """@raise Refused if this path has been refused anything, whatever has become of it."""
    if refused is not None:
        raise refused from None


@contextlib.contextmanager
def paused():
    """Within, chance is Python's own."""
    global walk
    outer, walk = walk, None
    try:
        yield
    finally:
        walk = outer


def is_deciding():
    """True if a step runs, so that its chance is answered here."""
    return walk is not None


def place_of(error):
    """file:line of the program's innermost line on which an error was raised."""
    place, trace = "", error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if whose(file) == "the program's":
            place = f"{os.path.basename(file)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


def _whose(file):
    if file.startswith((_FOLDER, _ALIAS, "<frozen")):
        return "ours"
    return "a library's" if any(part in file for part in _LIBRARIES) else "the program's"


_files = {}  # by name: whose each is


def whose(file):
    """Whose a file is: "ours", "a library's" or "the program's"."""
    found = _files.get(file)
    if found is None:
        found = _files[file] = _whose(file)
    return found


def address():
    """file:line of the program's innermost line outside tempera, and outside libraries if one of its own calls it."""
    frame, outside = sys._getframe(1), None
    while frame is not None:
        file = frame.f_code.co_filename
        owner = _files.get(file)
        if owner is None:
            owner = whose(file)
        if owner != "ours":
            outside = outside or frame
            if owner == "the program's":
                return f"{os.path.basename(file)}:{frame.f_lineno}"
        frame = frame.f_back
    return "" if outside is None else f"{os.path.basename(outside.f_code.co_filename)}:{outside.f_lineno}"


_tickets = {}


def tickets_of(weights):
    """Whole numbers in the proportion of weights: integers, fractions, or floats as the numbers that they are.

    @return the tickets, and the indices of those that are not 0
    """
    key = tuple(weights)
    try:
        found = _tickets.get(key)
    except TypeError:  # arrays and tensors of one element
        key = tuple(w if isinstance(w, (int, Fraction)) else float(w) for w in weights)
        found = _tickets.get(key)
    if found is not None:
        return found
    ratios = []
    for weight in key:
        if not isinstance(weight, (int, Fraction)):
            weight = float(weight)
            if not isfinite(weight):
                raise ValueError(f"a weight is {weight}")
        if weight < 0:
            raise ValueError(f"a weight is {float(weight)}, below 0")
        ratios.append((int(weight), 1) if isinstance(weight, int) else weight.as_integer_ratio())
    scale = 1
    for _, denominator in ratios:
        scale = scale * denominator // gcd(scale, denominator)
    tickets = [numerator * (scale // denominator) for numerator, denominator in ratios]
    common = gcd(*tickets)
    if common == 0:
        raise ValueError("a draw whose weights are all 0" if tickets else "a draw from nothing")
    tickets = [ticket // common for ticket in tickets]
    if len(_tickets) > 100_000:
        _tickets.clear()
    found = _tickets[key] = tickets, [i for i, ticket in enumerate(tickets) if ticket]
    return found


def draw(weights):
    """The winner among weights; index i has probability weights[i] / Σ weights."""
    return drawn(tickets_of(weights))


def drawn(known):
    """draw() of weights whose tickets_of() is known."""
    if walk is None:
        raise RuntimeError("tempera.check: a decision outside a step, and no step is being taken")
    tickets, winners = known
    return winners[0] if len(winners) == 1 else walk.choose(tickets, winners)


def merge(key):
    """Declares that what follows is a function of `key` and of later draws: equal keys are followed once.

    `key` is anything whose repr tells it from others, the place in the program included.
    """
    if walk is not None:
        walk.merge(repr(key))
