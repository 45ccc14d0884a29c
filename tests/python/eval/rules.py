"""Every rule that a grader's module declares as data, and the same module without it.

Expressions are taken apart by their text: each alternative, each member of a class, each part that may be absent, each
look around, and each bound of a repetition, one less.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

_PIECE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?:\?(?:P<\w+>|<?[=!]|:|i:))?|\)|\||[*+?]\??|\{[0-9]*,?[0-9]*\}|.", re.DOTALL)
_MEMBER = re.compile(r"\\u[0-9a-f]{4}|\\.|.-[^\]]|.", re.DOTALL)
_REPETITION = re.compile(r"\{([0-9]*)(,?)([0-9]*)\}")


def without_parts(source: str) -> Iterator[tuple[str, str]]:
    """What is left out of an expression, and the expression without it."""
    pieces = _PIECE.findall(source)
    assert "".join(pieces) == source
    opened, closing = [], {}
    for place, piece in enumerate(pieces):
        if piece[0] == "(":
            opened.append(place)
        elif piece == ")":
            closing[opened.pop()] = place
    yield from _of_branches(pieces, -1, len(pieces), closing)
    for begin, end in closing.items():
        yield from _of_branches(pieces, begin, end, closing)
        if pieces[begin] in ("(?=", "(?!", "(?<=", "(?<!"):
            yield _without(pieces, begin, end + 1)
    for place, piece in enumerate(pieces):
        if piece[0] == "[" and len(piece) > 1 and piece != "[^{}]":  # no brace: one thing
            sign = piece[: 2 if piece[1] == "^" else 1]
            members = _MEMBER.findall(piece[len(sign) : -1])
            for number in range(len(members) if len(members) > 1 else 0):
                less = sign + "".join(members[:number] + members[number + 1 :]) + "]"
                yield members[number] + " of " + piece, "".join(pieces[:place]) + less + "".join(pieces[place + 1 :])
        begin = {end: begin for begin, end in closing.items()}.get(place - 1, place - 1)
        if piece in ("?", "*", "+?", "*?", "??") and piece != "+?":
            yield _without(pieces, begin, place + 1)
        bounds = _REPETITION.fullmatch(piece) if len(piece) > 1 else None
        if bounds:
            low, comma, high = bounds.groups()
            if high or not comma:
                last = int(high or low)
                less = f"{{{low if comma else last - 1}{comma}{last - 1 if comma else ''}}}"
                yield f"{piece} to {less}", "".join(pieces[:place]) + less + "".join(pieces[place + 1 :])
            if low not in ("", "0"):
                yield f"{piece} from one less", "".join(pieces[:place]) + f"{{{int(low) - 1},{high if comma else low}}}" + "".join(pieces[place + 1 :])


def _without(pieces: list[str], begin: int, end: int) -> tuple[str, str]:
    return "".join(pieces[begin:end]), "".join(pieces[:begin] + pieces[end:])


def _of_branches(pieces: list[str], begin: int, end: int, closing: dict[int, int]) -> Iterator[tuple[str, str]]:
    """Each of the alternatives between two places, if there are several."""
    cuts, place = [begin], begin + 1
    while place < end:
        if pieces[place][0] == "(":
            place = closing[place]
        elif pieces[place] == "|":
            cuts.append(place)
        place += 1
    cuts.append(end)
    if len(cuts) > 2:
        for first, last in zip(cuts, cuts[1:]):
            left = pieces[: first + 1] + pieces[last + 1 :] if first == begin and last < end else pieces[:first] + pieces[last:]
            yield "".join(pieces[first + 1 : last]), "".join(left)


def _less(value: Any) -> Iterator[tuple[str, Any]]:
    """A table, a set or an expression without one of its rules; a number one less and one more."""
    if isinstance(value, re.Pattern):
        for name, source in without_parts(value.pattern):
            try:
                yield f"{name} of {value.pattern}", re.compile(source, value.flags)
            except re.error:
                pass  # what is left is not an expression
    elif isinstance(value, int):
        yield from ((str(other), other) for other in (value - 1, value + 1))
    elif isinstance(value, tuple):
        for number, entry in enumerate(value):
            begin, end = value[:number], value[number + 1 :]
            yield getattr(entry, "__name__", str(entry)), begin + end
            if isinstance(entry, tuple) and isinstance(entry[-1], str):  # what is replaced, and by what
                if isinstance(entry[0], re.Pattern):
                    yield from ((name, (*begin, (less, *entry[1:]), *end)) for name, less in _less(entry[0]))
            elif isinstance(entry, (tuple, re.Pattern)):
                yield from ((name, (*begin, less, *end)) for name, less in _less(entry))
    elif isinstance(value, frozenset):
        yield from ((entry, value - {entry}) for entry in sorted(value))
    elif isinstance(value, dict):
        yield from ((entry, {key: value[key] for key in value if key != entry}) for entry in value)


def left_out(module: ModuleType) -> Iterator[tuple[str, str, Any]]:
    """Each name of the data that a module's own lines define, a rule of it, and the data without that rule.

    What a tuple holds is left out within the tuple.
    """
    own = re.findall(r"^(\w+)(?:: [^=]*)? = ", inspect.getsource(module), re.MULTILINE)
    data = {name: vars(module)[name] for name in own if isinstance(vars(module)[name], (re.Pattern, tuple, frozenset, dict, int))}
    held = [id(entry) for value in data.values() if isinstance(value, tuple) for entry in value]
    for name, value in data.items():
        if id(value) not in held:
            for what, less in _less(value):
                yield name, what, less
