"""Judging a model: a row of its logits must depend on its tokens alone, and each deviation has a size."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tempera.errors import BadInput
from tempera.wishes import number, several, token, whole

if TYPE_CHECKING:
    from tempera.model import Model

#: The claims, in the order of the table.
_CLAIMS = {
    "repeatability": "a fresh pass twice",
    "split": "a prefix token by token, and in pieces, against whole",
    "fork": "a fork, after other tokens, against a fresh pass",
    "origin": "the cache that was forked, after more tokens, against a fresh pass",
    "batch": "rows of several lengths together against each alone",
    "numbers": "no NaN, no +inf, and a token that is allowed",
    "vocabulary": "terminal and encoded tokens are below |V|, and texts decode",
}


@dataclass(frozen=True)
class Finding:
    """The findings on one claim."""

    claim: str  #: "fork", "batch", …
    rows: int  #: that were compared
    unequal: int  #: of these, those that differ in some bit, or are wrong
    logit: float  #: the largest difference of two logits, exact; inf if one alone forbids a token, nan if one is NaN
    log_p: float  #: the largest difference of two log-probabilities of a token of probability above 2^-20
    worst: str  #: the row with the largest difference, and its first differing token; "" if all are equal
    allowed: float  #: the difference of logits that counts as rounding

    @property
    def sound(self) -> bool:
        """True if no difference is larger than rounding."""
        return self.unequal == 0 or (self.claim not in ("numbers", "vocabulary") and self.logit <= self.allowed)


@dataclass(frozen=True)
class ModelVerdict:
    """The findings on a model. `print(verdict)` shows a table, and `verdict.to_json()` the numbers."""

    model: str
    arithmetic: str | None
    vocabulary: int
    findings: tuple[Finding, ...]

    @property
    def equal(self) -> bool:
        """True if all rows are equal bit for bit: then no answer depends on batch, cache or load."""
        return all(finding.unequal == 0 for finding in self.findings)

    @property
    def sound(self) -> bool:
        """True if rows differ by rounding at most."""
        return all(finding.sound for finding in self.findings)

    def __getitem__(self, claim: str) -> Finding:
        for finding in self.findings:
            if finding.claim == claim:
                return finding
        raise KeyError(claim)

    def to_json(self) -> dict[str, Any]:
        """A dictionary that json.dumps takes: floats as they are, inf and nan as texts."""

        def shown(value: float) -> Any:
            return value if np.isfinite(value) else str(value)

        return {
            "model": self.model,
            "arithmetic": self.arithmetic,
            "vocabulary": self.vocabulary,
            "equal": self.equal,
            "sound": self.sound,
            "findings": [
                {
                    "claim": one.claim, "rows": one.rows, "unequal": one.unequal, "largest_logit_difference": shown(one.logit),
                    "largest_log_p_difference": shown(one.log_p), "allowed": one.allowed, "worst": one.worst, "sound": one.sound,
                }
                for one in self.findings
            ],
        }  # fmt: skip

    def __str__(self) -> str:
        lines = [f"{self.model}, {self.arithmetic}, {self.vocabulary} tokens"]
        lines.append(f"{'claim':<14} {'rows':>5} {'unequal':>8} {'|logit|':>12} {'|log p|':>12}  verdict")
        for one in self.findings:
            verdict = "equal" if one.unequal == 0 else "rounding" if one.sound else f"WRONG: {one.worst}"
            lines.append(f"{one.claim:<14} {one.rows:>5} {one.unequal:>8} {one.logit:>12.6g} {one.log_p:>12.6g}  {verdict}")
        return "\n".join(lines)


class _Compared:
    """Pairs of rows of one claim, and the largest difference."""

    def __init__(self, claim: str) -> None:
        self.claim, self.rows, self.unequal, self.logit, self.log_p, self.worst = claim, 0, 0, 0.0, 0.0, ""

    def take(self, got: NDArray[np.float32], expected: NDArray[np.float32], what: str) -> None:
        self.rows += 1
        if got.tobytes() == expected.tobytes():
            return
        self.unequal += 1
        with np.errstate(invalid="ignore"):
            apart = np.abs(got.astype(np.float64) - expected.astype(np.float64))
        apart[(got == expected)] = 0.0
        if np.isnan(apart).any():
            difference = np.nan
        else:
            difference = float(apart.max())
        first = int(np.flatnonzero((apart != 0) | np.isnan(apart))[0]) if (apart != 0).any() or np.isnan(apart).any() else 0
        if not np.isnan(self.logit) and not difference <= self.logit:
            self.worst = f"{what}, token {first}: {got[first]!r} for {expected[first]!r}".replace("np.float32", "")
            self.logit = difference
        here, there = _log_p(got), _log_p(expected)
        likely = np.maximum(here, there) > -20 * np.log(2)
        with np.errstate(invalid="ignore"):
            between = np.abs(here - there)[likely]
        self.log_p = max(self.log_p, float(np.nanmax(between, initial=0.0)))

    def wrong(self, what: str) -> None:
        self.unequal += 1
        self.worst = self.worst or what

    def finding(self, allowed: float) -> Finding:
        return Finding(self.claim, self.rows, self.unequal, self.logit, self.log_p, self.worst, allowed)


def _log_p(row: NDArray[np.float32]) -> NDArray[np.float64]:
    wide = row.astype(np.float64)
    largest = wide.max()
    with np.errstate(divide="ignore", invalid="ignore"):
        shifted: NDArray[np.float64] = wide - largest - np.log(np.exp(wide - largest).sum())
    return shifted


class _Passes:
    """Passes over caches of a model."""

    def __init__(self, model: Model) -> None:
        self._opened = model._opened
        self._calls = type(model._opened)

    def empty(self) -> Any:
        return self._calls.empty_cache(self._opened)

    def __call__(self, caches: Sequence[Any], tokens: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        return self._calls.next_logits(self._opened, list(caches), [list(one) for one in tokens])

    def fresh(self, tokens: Sequence[int]) -> NDArray[np.float32]:
        row: NDArray[np.float32] = self([self.empty()], [tokens])[0]
        return row


def judge(model: Model, prompts: Iterable[Sequence[int]] | None, length: int, rows: int, seed: int, within: float | None) -> ModelVerdict:
    """Computes the verdict of tempera.check.model."""
    length, rows = whole("length", length, 4, 2**16), whole("rows", rows, 2, 2**10)
    least = 0.0 if within is None else number("within", within)
    if not least >= 0:
        raise BadInput("within", f"{least} is below 0" if least < 0 else "is NaN", "give the difference of two logits that counts as rounding")
    if model.positions:
        length = min(length, model.positions)
    chance = random.Random(whole("seed", seed))
    compared = {claim: _Compared(claim) for claim in _CLAIMS}
    passes = _Passes(model)
    texts = _texts(model, prompts, length, rows, chance, passes)
    expected: dict[tuple[int, ...], NDArray[np.float32]] = {}

    def after(tokens: Sequence[int]) -> NDArray[np.float32]:
        key = tuple(tokens)
        if key not in expected:
            expected[key] = passes.fresh(tokens)
        return expected[key]

    _numbers(texts, after, compared["numbers"])
    if compared["numbers"].unequal == 0:
        _repeated(texts, passes, after, compared["repeatability"])
        _split(texts, passes, after, compared["split"], chance)
        _forked(texts, passes, after, compared["fork"], compared["origin"], chance, model.positions or 2**62)
        _together(texts, passes, after, compared["batch"], chance)
    _vocabulary(model, compared["vocabulary"])
    largest = max((float(np.abs(row[np.isfinite(row)]).max(initial=0.0)) for row in expected.values()), default=0.0)
    allowed = _rounding(model.arithmetic) * largest if within is None else least
    return ModelVerdict(model.name, model.arithmetic, model.vocabulary_size, tuple(one.finding(allowed) for one in compared.values()))


def _rounding(arithmetic: str | None) -> float:
    """The part of the largest logit that counts as rounding: none if tempera computes; 2^-13 in float32, 2^-4 in 16 bits."""
    if arithmetic is None or not arithmetic.startswith("torch "):
        return 0.0
    return 2.0**-4 if arithmetic.endswith(("bfloat16", "float16")) else 2.0**-13


def _texts(
    model: Model, prompts: Iterable[Sequence[int]] | None, length: int, rows: int, chance: random.Random, passes: _Passes
) -> list[list[int]]:
    """Prefixes of several lengths: those given, else what the model itself may write, and texts of any allowed tokens."""
    if prompts is not None:
        given = several("prompts", prompts, lambda name, one: several(name, one, token, "[[1, 2, 3]]"), "[[1, 2, 3], [4, 5]]")
        if len(given) < 2 or min(map(len, given)) < 2:
            raise BadInput("prompts", "are fewer than two, or have fewer than two tokens", "give at least two of at least two tokens")
        return given
    begins = _first_tokens(model)
    texts = []
    for row in range(rows):
        most = min(length, max(4, length - row * (length // (2 * rows))))
        text = [chance.choice(begins)]
        while len(text) < most:
            logits = passes.fresh(text).astype(np.float64)
            allowed = [one for one in np.flatnonzero(np.isfinite(logits)).tolist() if one not in model.terminal]
            if not allowed:
                break
            weights = np.exp(logits[allowed] - logits[allowed].max()) if row % 2 else np.ones(len(allowed))
            text.append(chance.choices(allowed, weights.tolist())[0])
        if len(text) > 1:
            texts.append(text)
    if len(texts) < 2:
        raise BadInput("model", "allows no prefix of two tokens that was tried", "give prompts= for it to be judged on")
    return texts


def _first_tokens(model: Model) -> list[int]:
    return [one for one in range(model.vocabulary_size) if one not in model.terminal] or [0]


def _numbers(texts: Sequence[list[int]], after: Callable[[Sequence[int]], NDArray[np.float32]], found: _Compared) -> None:
    for text in texts:
        for end in range(1, len(text) + 1):
            row = after(text[:end])
            found.rows += 1
            if np.isnan(row).any() or np.isposinf(row).any():
                found.wrong(f"the logit of token {int(np.flatnonzero(np.isnan(row) | np.isposinf(row))[0])} after {text[:end]} is NaN or +inf")
            elif not np.isfinite(row).any():
                found.wrong(f"no token is allowed after {text[:end]}")


def _repeated(texts: Sequence[list[int]], passes: _Passes, after: Any, found: _Compared) -> None:
    for text in texts:
        found.take(passes.fresh(text), after(text), f"{text} again")


def _split(texts: Sequence[list[int]], passes: _Passes, after: Any, found: _Compared, chance: random.Random) -> None:
    for text in texts:
        cache = passes.empty()
        for end, one in enumerate(text, 1):
            found.take(passes([cache], [[one]])[0], after(text[:end]), f"{text[:end]} token by token")
        found.take(passes([cache], [[]])[0], after(text), f"{text} asked for again")
        middle = chance.randrange(1, len(text))
        pieces = passes.empty()
        passes([pieces], [text[:middle]])
        found.take(passes([pieces], [text[middle:]])[0], after(text), f"{text} in pieces of {middle} and {len(text) - middle}")


def _forked(
    texts: Sequence[list[int]], passes: _Passes, after: Any, found: _Compared, origin: _Compared, chance: random.Random, positions: int
) -> None:
    for whole_text, other in zip(texts, [*texts[1:], texts[0]], strict=True):
        text = whole_text[: max(2, positions - 1)]  # with room for one more token
        cache = passes.empty()
        passes([cache], [text])
        kept = chance.randrange(1, len(text))
        more = other[-min(len(other), len(text) - kept, max(1, positions - len(text))) :]
        early, late, end = cache.fork(kept), cache.fork(kept), cache.fork(len(text))
        found.take(passes([early], [more])[0], after(text[:kept] + more), f"{text[:kept]} + {more} from a fork of {text}")
        again = early.fork(kept + 1)
        found.take(passes([again], [[]])[0], after(text[:kept] + more[:1]), f"{text[:kept] + more[:1]} from a fork of a fork")
        beside = cache.fork(len(text))
        found.take(passes([beside], [more])[0], after(text + more), f"{text} + {more} from a fork of all")
        one = more[:1]
        origin.take(passes([cache], [one])[0], after(text + one), f"{text + one} after forks of it")
        found.take(passes([late], [[]])[0], after(text[:kept]), f"{text[:kept]} from a fork of a cache with more")
        # The cache that was forked has ended.
        del cache
        found.take(passes([end], [more])[0], after(text + more), f"{text} + {more} from a fork of what has ended")


def _together(texts: Sequence[list[int]], passes: _Passes, after: Any, found: _Compared, chance: random.Random) -> None:
    caches = [passes.empty() for _ in texts]
    # Several lengths, all at once; then step by step, beside others that come and go.
    for text, row in zip(texts, passes(caches, [text[: 1 + len(text) // 2] for text in texts]), strict=True):
        found.take(row, after(text[: 1 + len(text) // 2]), f"{text[: 1 + len(text) // 2]} beside others")
    for _ in range(max(map(len, texts))):
        going = [row for row, text in enumerate(texts) if caches[row].length < len(text)]
        chance.shuffle(going)
        going = going[: max(1, len(going) - chance.randrange(2))]
        if not going:
            break
        ends = [caches[row].length + 1 for row in going]
        given = passes([caches[row] for row in going], [[texts[row][end - 1]] for row, end in zip(going, ends, strict=True)])
        for row, end, logits in zip(going, ends, given, strict=True):
            found.take(logits, after(texts[row][:end]), f"{texts[row][:end]} beside others")
        if chance.random() < 0.3:  # a fork takes the place of a row, as after an accepted move
            row = chance.choice(going)
            caches[row] = caches[row].fork(max(1, caches[row].length - 2))


def _vocabulary(model: Model, found: _Compared) -> None:
    for one in model.terminal:
        found.rows += 1
        if one >= model.vocabulary_size:
            found.wrong(f"terminal token {one} is not below {model.vocabulary_size}")
    for one in {0, model.vocabulary_size // 2, model.vocabulary_size - 1}:
        found.rows += 1
        try:
            tokens = model.encode(model.decode([one]))
        except BadInput as error:
            if "outside the vocabulary" in str(error):
                found.wrong(str(error))
            continue
        except Exception as error:  # noqa: BLE001 (a tokenizer's own)
            found.wrong(f"token {one} does not decode: {type(error).__name__}: {error}")
            continue
        if any(number_of >= model.vocabulary_size for number_of in tokens):
            found.wrong(f"the text of token {one} encodes to {tokens}, beyond the vocabulary")
