"""Keyword arguments of the calls that draw: names, types, and their checks, each with one clear line."""

from __future__ import annotations

import difflib
import inspect
import json
import math
import numbers
import os
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, Union

from tempera.errors import BadInput, shown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: One power or a ladder of them.
Powers = Union[float, Sequence[float], "NDArray[np.floating[Any]]"]
#: Token numbers, x_1 … x_n.
Tokens = Union[Sequence[int], "NDArray[np.integer[Any]]"]
#: Text, token numbers, or the messages of a conversation.
Prompt = Union[str, Tokens, Sequence[Mapping[str, str]]]


class SamplerWishes(TypedDict, total=False):
    """The settings of what is drawn. Each may be left out, or be None."""

    # Written by python -m tempera.settings from settings/fields.hpp.
    sampler: str | None
    powers: Powers | None
    temperature: float | None
    repetition_penalty: float | None
    frequency_penalty: float | None
    presence_penalty: float | None
    min_tokens: int | None
    ignore_eos: bool | None
    top_k: int | None
    min_p: float | None
    top_p: float | None
    particles: int | None
    most_tokens: int | None
    horizon: int | None
    max_tokens: int | None
    block: int | None
    rounds: int | Sequence[int] | None
    local_moves: int | Sequence[int] | None
    sweeps: int | Sequence[int] | None
    schedule: str | None
    restart_weights: Sequence[int] | None
    restart_range: str | None
    output_rung: int | None
    samples: int | None
    seed: int | None
    early_rejection: bool | None
    confidence: bool | None
    auditable: bool | None
    prefetch: int | None
    stop: str | Sequence[str] | None
    preset: str | None


class Wishes(SamplerWishes, total=False):
    """The settings of what is drawn, and of how the work is laid out."""

    thinking: bool | None
    chat_template_kwargs: Mapping[str, Any] | None
    ids: Sequence[str] | None
    batch: int | None
    under_way: int | None
    cache_memory: int | None
    progress: bool | None


class RunWishes(Wishes, total=False):
    """The same, and how often a run folder is forced to the disk."""

    checkpoint_seconds: float | None


SAMPLER = tuple(SamplerWishes.__annotations__)
LAYOUT = ("batch", "under_way", "cache_memory")

_LONGEST_PATH = 4096  # PATH_MAX of Linux

_Call = TypeVar("_Call", bound=Callable[..., Any])


def takes(wishes: type) -> Callable[[_Call], _Call]:
    """Shows the wishes that a call takes as arguments of their own: to help(), and to a notebook that completes names."""

    def shown(call: _Call) -> _Call:
        own = inspect.signature(call)
        parameters = [one for one in own.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        for name, kind in _annotations(wishes).items():
            parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind))
        setattr(call, "__signature__", own.replace(parameters=parameters))  # noqa: B010
        return call

    return shown


def _annotations(wishes: type) -> dict[str, str]:
    # A TypedDict has those of its bases too; in Python 3.10 they are references, whose text is meant.
    return {name: getattr(kind, "__forward_arg__", str(kind)) for name, kind in wishes.__annotations__.items()}


def check_names(names: Iterable[str], known: Iterable[str], call: str) -> None:
    """Refuses an argument that the call does not have, with the nearest that it has."""
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            raise TypeError(f"{call}() has no argument {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))


def whole(name: str, value: Any, least: int = 0, most: int = 2**64 - 1) -> int:
    """The integer `value` if least <= value <= most; NumPy's integers count, bool does not. Raises BadInput.

    >>> whole("seed", -1)
    Traceback (most recent call last):
    tempera.errors.BadInput: seed: -1 is not a whole number from 0 to 2^64 - 1
    >>> whole("batch", 0, 1)
    Traceback (most recent call last):
    tempera.errors.BadInput: batch: 0 is not a whole number from 1 to 2^64 - 1
    """
    if isinstance(value, numbers.Integral) and not isinstance(value, bool) and least <= int(value) <= most:
        return int(value)
    last = f"2^{(most + 1).bit_length() - 1} - 1" if (most & (most + 1)) == 0 and most > 2**16 else str(most)
    raise BadInput(name, f"{shown(value)} is not a whole number from {least} to {last}")


def token(name: str, value: Any) -> int:
    """The number of a token, from 0 to 2^32 - 1. Raises BadInput."""
    return whole(name, value, 0, 2**32 - 1)


def number(name: str, value: Any) -> float:
    """A real number as a float: Python's, NumPy's or a fraction; bool does not count. Raises BadInput."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            raise BadInput(name, f"{shown(value)} is too large") from None
    raise BadInput(name, f"{shown(value)} is not a number")


def several(name: str, values: Any, one: Callable[[str, Any], Any], example: str) -> list[Any]:
    """Each value of a list, tuple or array, checked by `one`. Raises BadInput, also for a set, whose order is arbitrary."""
    if not _has_order(values):
        raise BadInput(name, f"{shown(values)} is not a list", f"give one such as {example}")
    return [one(name, value) for value in values]


def _has_order(values: Any) -> bool:
    """True for what gives values one after the other; an array without dimensions has the method and gives none."""
    return hasattr(values, "__iter__") and getattr(values, "ndim", 1) != 0 and not isinstance(values, (str, bytes, bytearray, Mapping, Set))


def text(name: str, value: Any) -> str:
    """A text that UTF-8 can hold. Raises BadInput for anything else, also for half of a surrogate pair."""
    if not isinstance(value, str):
        raise BadInput(name, f"{shown(value)} is not a text")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise BadInput(
            name, f"character {error.start + 1} is {value[error.start]!a}, half of a surrogate pair", "give text that UTF-8 can hold"
        ) from None
    return value


def identity(name: str, value: Any) -> str:
    """The id of a prompt: a text, or a whole number for its digits. Raises BadInput."""
    return str(whole(name, value)) if isinstance(value, numbers.Integral) else text(name, value)


def path(name: str, value: Any) -> str:
    """A path as a text, from a text or a path object. Raises BadInput."""
    if not isinstance(value, (str, os.PathLike)):
        raise BadInput(name, f"{shown(value)} is not a path")
    found = not_empty(name, os.fspath(value))
    if "\0" in found:  # the compiled half would read what is before it
        raise BadInput(name, f"{shown(found)} has a character that no path has", "give a path without NUL")
    if len(found.encode()) >= _LONGEST_PATH:
        raise BadInput(name, f"{shown(found)} is longer than a path may be", f"give one of fewer than {_LONGEST_PATH} bytes")
    return found


def not_empty(name: str, value: Any) -> str:
    """A text that says where something is, so that a line about it can begin with it. Raises BadInput."""
    found = text(name, value)
    if not found:
        raise BadInput(name, '"" is empty', "give one that is not")
    return found


def confidence(value: Any) -> float:
    """A probability above 0 and below 1. Raises BadInput.

    >>> confidence(1)
    Traceback (most recent call last):
    tempera.errors.BadInput: confidence: 1 is not between 0 and 1; give such as 0.95
    """
    found = number("confidence", value)
    if not 0 < found < 1:
        raise BadInput("confidence", f"{shown(value)} is not between 0 and 1", "give such as 0.95")
    return found


def finite(name: str, value: Any) -> float:
    """The same as number(), and neither infinite nor NaN. Raises BadInput."""
    found = number(name, value)
    if not math.isfinite(found):
        raise BadInput(name, f"{found} is not finite")
    return found


def called(name: str, value: Any) -> Any:
    """Anything that can be called. Raises BadInput."""
    if not callable(value):
        raise BadInput(name, f"{shown(value)} is not callable")
    return value


def truth(name: str, value: Any) -> bool:
    """True or False; 0, 1 and NumPy's truths count. Raises BadInput."""
    if isinstance(value, (bool, numbers.Integral)) and value in (0, 1):
        return bool(value)
    if type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    raise BadInput(name, f"{shown(value)} is neither True nor False")


def _powers(name: str, value: Any) -> list[float]:
    return [number(name, value)] if isinstance(value, numbers.Real) else several(name, value, number, "[1, 2, 4]")


def _counts(name: str, value: Any) -> int | list[int]:
    return several(name, value, whole, "[4, 2]") if _has_order(value) else whole(name, value)


def _stops(name: str, value: Any) -> list[str]:
    return [text(name, value)] if isinstance(value, str) else several(name, value, text, "['\\n\\n']")


def _at_least_one(name: str, value: Any) -> int:
    return whole(name, value, 1)


def _weights(name: str, value: Any) -> list[int]:
    found = several(name, value, whole, "[3, 2, 1]")
    if not found:
        raise BadInput(name, "are an empty list", "give one for each position, or leave it out")
    return found


def _seconds(name: str, value: Any) -> float:
    found = number(name, value)
    if not 0 <= found <= 1e6:
        raise BadInput(name, f"{found} is not from 0 to 1000000", "give seconds, such as 0.5 or 60")
    return found


def _arguments(name: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise BadInput(name, f"{shown(value)} is not a dictionary of names", 'give one such as {"reasoning_effort": "low"}')
    return dict(value)


def chat_arguments(thinking: bool | None, given: Mapping[str, Any] | None) -> str:
    """Returns the variables of a chat template as JSON; `thinking` is "enable_thinking". Raises BadInput.

    >>> chat_arguments(False, {"reasoning_effort": "low"})
    '{"reasoning_effort": "low", "enable_thinking": false}'
    """
    name = "chat_template_kwargs"
    arguments = {} if given is None else _arguments(name, given)
    if thinking is not None:
        thinking = truth("thinking", thinking)
        if arguments.get("enable_thinking") not in (None, thinking):
            raise BadInput("thinking", 'differs from "enable_thinking" of chat_template_kwargs', "give one of the two")
        arguments["enable_thinking"] = thinking
    try:
        return text(name, json.dumps(arguments, ensure_ascii=False, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise BadInput(name, f"no JSON can hold it ({error})", "give texts, numbers, truths, lists and dictionaries") from None


def _limit(name: str, value: Any) -> int:
    return max(0, whole(name, value, -1))


# How a value is checked, by the kind that settings/fields.hpp gives its setting.
_KINDS: dict[str, Callable[[str, Any], Any]] = {
    "text": text, "choice": text, "count": whole, "limit": _limit, "counts": _counts, "weights": _weights, "powers": _powers,
    "number": number, "truth": truth, "texts": _stops,
}  # fmt: skip
# The same of arguments that are not settings of a sampler.
_LAYOUT_CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "cache_memory": whole, "batch": _at_least_one, "under_way": _at_least_one, "thinking": truth, "progress": truth,
    "checkpoint_seconds": _seconds, "chat_template_kwargs": _arguments,
}  # fmt: skip


def _check_of(name: str) -> Callable[[str, Any], Any]:
    from tempera.settings import kinds

    return _LAYOUT_CHECKS[name] if name in _LAYOUT_CHECKS else _KINDS[kinds()[name]]


def checked(wishes: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """The values of those names that are given, as the compiled half takes them. Raises BadInput.

    `max_tokens` is another name of `horizon`.

    >>> checked({"max_tokens": 8, "seed": None}, SAMPLER)
    {'horizon': 8}
    """
    found = {name: _check_of(name)(name, wishes[name]) for name in names if name != "max_tokens" and wishes.get(name) is not None}
    if "max_tokens" in names and wishes.get("max_tokens") is not None:
        most = whole("max_tokens", wishes["max_tokens"])
        if found.setdefault("horizon", most) != most:
            raise BadInput("max_tokens", f"{most} differs from horizon, {found['horizon']}", "give one of them")
    return found


def _no_prompt(value: Any) -> BadInput:
    return BadInput("prompt", f"{shown(value)} is not a prompt", 'give a text, token numbers, or messages such as {"role": "user", "content": "…"} in a list')


def is_one(prompts: Any) -> bool:
    """True for one prompt, False for a list of prompts. Raises BadInput for anything else."""
    if isinstance(prompts, str):
        return True
    if not _has_order(prompts):
        raise _no_prompt(prompts)
    if not hasattr(prompts, "__len__"):
        return False  # a generator gives prompts; to look at its first would take it away
    first = next(iter(prompts), None)
    return isinstance(first, (numbers.Integral, Mapping)) or hasattr(first, "__index__") and getattr(first, "ndim", 0) == 0  # as tensors have


def raw_prompt(prompt: Any) -> Any:
    """A prompt as the compiled half takes it. Raises BadInput for invalid messages."""
    if isinstance(prompt, str):
        return text("prompt", prompt)
    if not _has_order(prompt):
        raise _no_prompt(prompt)
    parts = list(prompt)
    if not any(isinstance(part, Mapping) for part in parts):
        return [token("prompt", part) for part in parts]
    for number_of, message in enumerate(parts, 1):
        if not isinstance(message, Mapping) or set(message) != {"role", "content"}:
            raise BadInput(f"prompt, message {number_of}", "it needs role and content alone")
        for part in message.values():
            text(f"prompt, message {number_of}", part)
    return [(message["role"], message["content"]) for message in parts]
