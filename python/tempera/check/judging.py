"""Judging a kernel that draws through a Lottery, and judging a model: tempera.check says more."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Union

from tempera import _exact
from tempera.errors import BadInput, shown
from tempera.exact import Exact, FiniteModel, Matrix, _checked_model, _listed, _size, _text, fraction
from tempera.wishes import called, several, text, whole

if TYPE_CHECKING:
    from tempera.model import Model
    from tempera.check.model_judging import ModelVerdict

#: The numbers of the generated tokens, a terminal one included.
Record = Sequence[int]
#: One record for each power.
State = Sequence[Record]


class Lottery:
    """Where every decision of a kernel is drawn. There must be no other source of chance."""

    def __init__(self, draw: Callable[[list[str]], int], merge: Callable[[str], None]) -> None:
        self._draw = draw
        self._merge = merge

    def draw(self, weights: Sequence[Exact]) -> int:
        """Index i with probability weights[i] / Σ weights. None is negative, and one is positive."""
        return self._draw(_listed("weights", weights))

    def happens(self, probability: Exact) -> bool:
        """True if an event of this probability, from 0 to 1, happens."""
        exact = fraction(probability)
        return self.draw([exact, 1 - exact]) == 0

    def merge(self, key: str) -> None:
        """Says that what follows is a function of `key` and of later draws, as at the beginning of each try of a rejection sampler.

        It is followed once for each key, and where tries go round their law is solved for exactly. Its exception must pass.
        """
        self._merge(text("key", key))


@dataclass(frozen=True)
class Case:
    """The case that a kernel is judged on: its target is Π_k p0^α_k on S_T."""

    model: FiniteModel  #: p0
    horizon: int  #: T
    powers: tuple[Fraction, ...]  #: α_1, …, one for each record of a state


#: One step of a Markov kernel. It must be a function of its state and its draws.
Step = Callable[[Case, State, Lottery], Union[State, Sequence[Record]]]


@dataclass(frozen=True)
class Verdict:
    """The exact verdict on a kernel for one case."""

    stochastic: bool  #: every step ends at a state
    invariant: bool  #: ΠP = Π
    reversible: bool  #: Π(x)P(x, y) = Π(y)P(y, x); a kernel need not be
    irreducible: bool  #: every state of the target is reached from every other
    tv_one_step: Fraction  #: TV(ΠP, Π)
    matrix: Matrix  #: P
    explanation: str  #: the state whose mass changes and the pair whose flow is unbalanced

    @property
    def sound(self) -> bool:
        """True if the kernel samples its target: stochastic, invariant and irreducible."""
        return self.stochastic and self.invariant and self.irreducible


@dataclass(frozen=True)
class Failure:
    """A case on which a kernel fails: the smallest that was found."""

    case: Case
    verdict: Verdict  #: on that case
    tried: int  #: cases that were judged on the way

    def __str__(self) -> str:
        return f"{self.verdict.explanation}\non horizon {self.case.horizon}, {self.case.model.json()}"


def _kernel(step: Step) -> Callable[..., list[list[int]]]:
    def run(
        model: _exact.FiniteModel,
        horizon: int,
        powers: list[str],
        state: list[list[int]],
        draw: Callable[[list[str]], int],
        merge: Callable[[str], None],
    ) -> list[list[int]]:
        case = Case(FiniteModel._of(model), horizon, tuple(map(fraction, powers)))
        after = step(case, tuple(tuple(record) for record in state), Lottery(draw, merge))
        return several("step", after, lambda name, record: several(name, record, _token, "[[0, 1]]"), "[[0, 1]]")

    called("step", step)
    return run


def _token(name: str, value: Any) -> int:
    """A token of a state, also as a tensor of one whole number. Raises BadInput."""
    try:
        return whole(name, value if isinstance(value, bool) else operator.index(value), 0, 2**32 - 1)
    except TypeError:
        raise BadInput(name, f"{shown(value)} is not the number of a token", "return a list of them for each power") from None


def _verdict(found: _exact.Verdict) -> Verdict:
    return Verdict(
        found.stochastic,
        found.invariant,
        found.reversible,
        found.irreducible,
        fraction(found.tv_one_step),
        Matrix(found.states, found.matrix),
        found.explanation,
    )


def judge(
    step: Step, model: FiniteModel, horizon: int = 2, powers: Sequence[Exact] = (2,), *, within: Exact = 0
) -> Verdict:
    """Takes every decision of the kernel from every state.

    within: how far a mass or a flow may be off and still count as equal. Raises BadInput for a case with too many
    states and for a step that is not a function of its state and draws or draws without end, and whatever the step raises.
    """
    asked = _listed("powers", powers)
    return _verdict(_exact.judge(_kernel(step), _checked_model(model), _size("horizon", horizon), asked, _text(within)))


def shrink(
    step: Step, model: FiniteModel, horizon: int = 2, powers: Sequence[Exact] = (2,), *, within: Exact = 0
) -> Failure:
    """The smallest case found on which the kernel still fails, from one on which it does.

    Raises BadInput for a kernel that samples its target on the case given.
    """
    if judge(step, model, horizon, powers, within=within).sound:
        raise BadInput("step", "samples its target on this case", "give a case on which it fails")
    asked = _listed("powers", powers)
    found = _exact.shrink(_kernel(step), _checked_model(model), _size("horizon", horizon), asked, _text(within))
    case = Case(FiniteModel._of(found.model), found.horizon, tuple(map(fraction, found.powers)))
    return Failure(case, _verdict(found.verdict), found.tried)


def fault(step: Step, model: FiniteModel, horizon: int = 2, powers: Sequence[Exact] = (2,), *, within: Exact = 0) -> str:
    """"" for a kernel that samples its target; otherwise what is wrong, on the smallest model found.

    In a test: `assert not check.fault(step, model)`.
    """
    if judge(step, model, horizon, powers, within=within).sound:
        return ""
    return str(shrink(step, model, horizon, powers, within=within))


def model(
    judged: Model, *, prompts: Iterable[Sequence[int]] | None = None, length: int = 16, rows: int = 5, seed: int = 0, within: float | None = None
) -> ModelVerdict:
    """Judges a model: a row of its logits must depend on its tokens alone, as every sampler needs it.

    Each claim compares rows with those of a fresh pass over the same tokens, alone: a second fresh pass (repeatability), a
    prefix in pieces (split), forks and what they were forked from (fork, origin), several rows at once (batch). `numbers` looks for
    NaN, +inf and rows that allow no token, and `vocabulary` for tokens that are not below |V|.

        verdict = check.model(tempera.Model.from_transformers(model, tokenizer))
        print(verdict)
        assert verdict.sound

    prompts: the token numbers to be judged on; if left out, `rows` texts of at most `length` tokens that the model allows.
    within: the difference of two logits that counts as rounding. If left out, none, but for torch 2^-13 of the largest
    logit, or 2^-4 in 16 bits. Raises BadInput, and what a callable raises.
    """
    from tempera.model import require_model
    from tempera.check.model_judging import judge as judge_model

    require_model(judged)
    return judge_model(judged, prompts, length, rows, seed, within)
