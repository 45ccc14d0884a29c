"""Models that a callable of Python computes: what Model.from_callable makes."""

from __future__ import annotations

import inspect
import json
import numbers
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tempera.errors import BadInput, shown
from tempera.wishes import called, not_empty, several, text, token, whole

#: The most tokens that a vocabulary has.
LARGEST_VOCABULARY = 2**18

#: (own, from, tokens, new): the number of a row's state, of the state to begin from or 0, the bytes of all its tokens as
#: uint32, and how many of these at the end are new.
Pass = tuple[int, int, bytes, int]


class Rows(Protocol):
    """Computes the rows of logits of a pass: what the compiled half calls, once a pass."""

    #: Why two runs of one request may differ in their bits; "" if they may not.
    unstable: str
    #: The most bytes of memory that a token of a cache takes; 0 if that is not known.
    bytes_per_token: int

    def __call__(self, ended: Sequence[int], passes: Sequence[Pass], memory: memoryview) -> None:
        """Forgets the states that have ended, and writes a row of float32 logits for each pass to the memory."""


def tokens_of(packed: bytes) -> list[int]:
    """The tokens of a pass."""
    return np.frombuffer(packed, np.uint32).tolist()  # type: ignore[no-any-return]


def terminal_tokens(given: Any, size: int) -> list[int]:
    """Token numbers that end an answer, from one or several. Raises BadInput for one outside the vocabulary."""
    listed = [] if given is None else [token("terminal", given)] if isinstance(given, numbers.Integral) else several("terminal", given, token, "[2]")
    for one in listed:
        if one >= size:
            raise BadInput("terminal", f"{one} is outside the vocabulary", f"use numbers below {size}")
    return sorted(set(listed))


class CalledRows:
    """Rows of a callable that gets whole prefixes and keeps nothing."""

    bytes_per_token = 0

    def __init__(self, next_logits: Callable[[list[list[int]]], Any], size: int, digest: str | None) -> None:
        self._next_logits = next_logits
        self._size = size
        self.unstable = "" if digest is not None else "a callable without a digest may compute other numbers than the one that began the run; give digest="

    def __call__(self, ended: Sequence[int], passes: Sequence[Pass], memory: memoryview) -> None:
        write_rows(self._next_logits([tokens_of(packed) for _, _, packed, _ in passes]), len(passes), self._size, memory)


def write_rows(given: Any, rows: int, size: int, memory: memoryview) -> None:
    """Writes what a callable gave for `rows` prefixes to the memory of a pass. Raises BadInput for all else."""
    array = _array(given)
    if array.dtype.kind not in "fiu" and str(array.dtype) != "bfloat16":
        raise BadInput("next_logits", f"gave numbers of the type {array.dtype}", "give real numbers")
    if array.shape != (rows, size):
        raise BadInput("next_logits", f"gave an array of shape {array.shape}{_wrong_row(given, size)}", f"give one of shape ({rows}, {size}): a row of logits for each prefix")
    out = np.frombuffer(memory, np.float32).reshape(rows, size)
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            out[:] = array
        if array.dtype != np.float32:
            lost = np.isfinite(array) & ~np.isfinite(out)
            if lost.any():
                row, column = (int(one) for one in np.argwhere(lost)[0])
                raise BadInput(f"next_logits, row {row}", f"gave {array[row, column]} for token {column}, which float32 does not hold", "give -inf for a token that is forbidden")
    finally:
        del out


def _wrong_row(given: Any, size: int) -> str:
    """Which row of a list is too long or too short."""
    if isinstance(given, (list, tuple)):
        for row, one in enumerate(given):
            if hasattr(one, "__len__") and len(one) != size:
                return f": row {row} has {len(one)} numbers"
    return ""


def _array(given: Any) -> NDArray[Any]:
    """An array of numbers, of the memory that they are in if that is the host's. Raises BadInput."""
    if isinstance(given, (list, tuple)) and any(hasattr(one, "detach") for one in given):
        given = [_array(one) for one in given]
    if hasattr(given, "detach"):  # torch
        tensor = given.detach()
        if tensor.is_floating_point() and tensor.element_size() < 4:
            tensor = tensor.float()
        return tensor.cpu().numpy()  # type: ignore[no-any-return]
    try:
        if not hasattr(given, "__array__") and hasattr(given, "__dlpack__"):
            return np.from_dlpack(given)
        return np.asarray(given)
    except ValueError:
        rows = f"{_wrong_row(given, -1)}" if isinstance(given, (list, tuple)) else ""
        raise BadInput("next_logits", "gave rows of different lengths" + rows, "give as many logits for each prefix as the vocabulary has tokens") from None


class NamedTokens:
    """The text of a vocabulary whose tokens have names, separated by spaces; of one of numbers, these numbers."""

    def __init__(self, names: Sequence[str] | None, size: int) -> None:
        self._names = names
        self._numbers = {} if names is None else {name: number for number, name in enumerate(names)}
        self._size = size

    def encode(self, given: str) -> list[int]:
        found = []
        for word in given.split():
            number = self._numbers.get(word) if self._names is not None else int(word) if word.isascii() and word.isdigit() else None
            if number is None or number >= self._size:
                remedy = f"use numbers below {self._size}" if self._names is None else "use the tokens of its vocabulary, separated by spaces"
                raise BadInput("prompt", f'"{word}" is not a token of the model', remedy)
            found.append(number)
        return found

    def decode(self, tokens: list[int]) -> str:
        return " ".join(str(one) if self._names is None else self._names[one] for one in tokens)


class CalledText:
    """Texts and conversations, by the callables that a user gives for them."""

    def __init__(
        self,
        encode: Callable[[str], Iterable[int]],
        decode: Callable[[list[int]], str],
        chat: Callable[..., Iterable[int]] | None,
        size: int,
    ) -> None:
        self._encode, self._decode, self._chat, self._size = encode, decode, chat, size

    def encode(self, given: str) -> list[int]:
        """The tokens of a prompt."""
        return self._tokens("encode", self._encode(given))

    def encode_chat(self, messages: list[tuple[str, str]], arguments: str) -> list[int]:
        """The tokens of a conversation, up to where the answer begins. arguments: of the chat template, as JSON."""
        if self._chat is None:
            raise BadInput("prompt", "the model has no conversations", "give a text, or open the model with chat=")
        turns = [{"role": role, "content": content} for role, content in messages]
        return self._tokens("chat", self._chat(turns, **json.loads(arguments)))

    def decode(self, tokens: list[int]) -> str:
        """The text of tokens."""
        decoded = self._decode(tokens)
        if not isinstance(decoded, str):
            raise BadInput("decode", f"gave {shown(decoded)}, which is not a text")
        return decoded.encode("utf-8", "replace").decode()

    def _tokens(self, which: str, given: Any) -> list[int]:
        tokens = several(which, given, token, "[1, 2]")
        for one in tokens:
            if one >= self._size:
                raise BadInput(which, f"gave token {one}, which is outside the vocabulary", f"give tokens below {self._size}")
        return tokens


def open_callable(
    native: Any,
    next_logits: Any,
    vocabulary: Any,
    terminal: Any,
    encode: Any,
    decode: Any,
    chat: Any,
    positions: Any,
    arithmetic: Any,
    digest: Any,
) -> tuple[Any, Rows]:
    """The compiled half of a model that a callable computes, and its rows. Raises BadInput."""
    for name, given in (("next_logits", next_logits), ("encode", encode), ("decode", decode), ("chat", chat)):
        if given is not None or name == "next_logits":
            called(name, given)
    if inspect.iscoroutinefunction(next_logits):
        raise BadInput("next_logits", "is a coroutine function", "give one that returns the logits")
    names = None if isinstance(vocabulary, (int, np.integer)) else several("vocabulary", vocabulary, text, "['a', 'b'], or a number")
    size = whole("vocabulary", vocabulary if names is None else len(names), 1, LARGEST_VOCABULARY)
    if names is not None and len(set(names)) != size:
        raise BadInput("vocabulary", "has a token twice", "give different names")
    if names is not None and isinstance(terminal, str):
        terminal = [terminal]
    if isinstance(terminal, (set, frozenset)):  # the order of these says nothing
        terminal = list(terminal)
    if names is not None and terminal is not None and not isinstance(terminal, numbers.Integral):
        known = {name: number for number, name in enumerate(names)}
        terminal = several("terminal", terminal, lambda _, one: known.get(one, one) if isinstance(one, str) else one, "['e']")
    plain = NamedTokens(names, size)
    texts = CalledText(encode or plain.encode, decode or plain.decode, chat, size)
    given_digest = None if digest is None else not_empty("digest", digest)
    rows = CalledRows(next_logits, size, given_digest)
    opened = native.OpenedModel.called(
        rows, texts, size, terminal_tokens(terminal, size), whole("positions", positions), True, 0, not_empty("arithmetic", arithmetic), given_digest
    )  # fmt: skip
    return opened, rows
