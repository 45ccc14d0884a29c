"""Finite models and exact laws: every number is a fraction, and there is no tolerance.

    from tempera import exact

    model = exact.FiniteModel(["a", "e"], ["e"], {"": {"a": "1/2", "e": "1/2"}, "a": {"e": 1}})
    model.power_law(horizon=2, power=2)["a e"]     # Fraction(1, 2)
    model.power_law(horizon=2, power=2).array()    # the same law as a NumPy array

The numbers come from reference/, the half of tempera that shares no code with the sampler. What the compiled sampler
does is in tempera.law.
"""

from __future__ import annotations

import json
import numbers
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Union

from tempera import _exact
from tempera.errors import BadInput, shown
from tempera.wishes import not_empty, path, several, text, token, truth, whole
from tempera.wishes import text as _checked_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: A number that is exact: 2, "3/2", "0.25", Fraction(3, 2). A float means the fraction that it is, so 1.5 is 3/2.
Exact = Union[int, str, float, Fraction]


def fraction(number: Exact) -> Fraction:
    """The fraction that a number is.

    Raises BadInput for what is not a number, for bool, for a text with an exponent beyond ±4,300, and for one of a decimal point and
    more than 4,300 digits. Whole numbers and fractions of whole numbers may have any number of digits.

    >>> fraction("3/8"), fraction(1.5), fraction("0.25")
    (Fraction(3, 8), Fraction(3, 2), Fraction(1, 4))
    """
    try:
        if isinstance(number, numbers.Integral) and not isinstance(number, bool):
            return Fraction(int(number))  # NumPy's integers wrap around
        if isinstance(number, str) and (parts := _OF_WHOLE_NUMBERS.fullmatch(number)):
            found = Fraction(_whole_of(parts[2]), _whole_of(parts[3] or "1"))
            return -found if parts[1] else found
        if isinstance(number, (Fraction, Decimal, str)):
            if _is_small(number):
                return Fraction(number)
        elif isinstance(number, numbers.Real) and not isinstance(number, bool):
            return Fraction(float(number))
    except (ArithmeticError, ValueError):
        pass
    raise BadInput("number", f"{shown(number)} is not a fraction", 'give one such as 2, "3/2" or 0.25')


def _is_small(number: Fraction | Decimal | str) -> bool:
    """False where an exponent asks for more digits than Python reads: the fraction of "1e999999999" would take hours."""
    if isinstance(number, Fraction):
        return True
    exponent = str(number).lower().partition("e")[2]
    return not exponent or abs(int(exponent)) <= 4300


_OF_WHOLE_NUMBERS = re.compile(r"(-?)([0-9]+)(?:/([0-9]+))?")
# Digits that Python reads and writes under whatever limit a program has set by sys.set_int_max_str_digits().
_DIGITS_AT_ONCE = 512


def _whole_of(digits: str) -> int:
    if len(digits) <= _DIGITS_AT_ONCE:
        return int(digits)
    low = len(digits) // 2
    return _whole_of(digits[:-low]) * int(10**low) + _whole_of(digits[-low:])


def _digits_of(number: int) -> str:
    if number < 10**_DIGITS_AT_ONCE:
        return str(number)
    low = number.bit_length() * 3 // 20  # about half of its digits: each has log2(10) bits
    above, below = divmod(number, int(10**low))
    return _digits_of(above) + _digits_of(below).rjust(low, "0")


def _text(number: Exact) -> str:
    found = fraction(number)
    above = ("-" if found < 0 else "") + _digits_of(abs(found.numerator))
    return above if found.denominator == 1 else f"{above}/{_digits_of(found.denominator)}"


def _listed(name: str, numbers: Sequence[Exact]) -> list[str]:
    return several(name, numbers, lambda _, number: _text(number), "[1, 2]")


def _optional(name: str, numbers: Sequence[Exact] | None) -> list[str] | None:
    return None if numbers is None else _listed(name, numbers)


def _named_fraction(_: str, number: Exact) -> Fraction:
    return fraction(number)


def _states(states: Any) -> tuple[str, ...]:
    found = tuple(several("states", states, text, '["a", "b"]'))
    if len(set(found)) != len(found):
        raise BadInput("states", "has one twice", "give different ones")
    return found


class Law(Mapping[str, Fraction]):
    """A probability distribution over states, in their order: a mapping from a state to its fraction.

    >>> law = Law(["a a", "a e"], ["1/4", "3/4"])
    >>> law["a e"], sum(law.values())
    (Fraction(3, 4), Fraction(1, 1))
    >>> law.array()
    array([0.25, 0.75])
    """

    def __init__(self, states: Sequence[str], probabilities: Sequence[Exact]) -> None:
        self.states = _states(states)  #: in order
        self.fractions: tuple[Fraction, ...] = tuple(several("probabilities", probabilities, _named_fraction, "[1]"))  #: in the order of the states
        if len(self.fractions) != len(self.states):
            raise BadInput("probabilities", f"are {len(self.fractions)} for {len(self.states)} states", "give one for each")
        self._of = dict(zip(self.states, self.fractions, strict=True))

    def __getitem__(self, state: str) -> Fraction:
        return self._of[state]

    def __iter__(self) -> Iterator[str]:
        return iter(self.states)

    def __len__(self) -> int:
        return len(self.states)

    def __repr__(self) -> str:
        return "Law({" + ", ".join(f"{state!r}: {_text(value)}" for state, value in self.items()) + "})"

    def array(self) -> NDArray[np.float64]:
        """[states]: the float64 nearest to each fraction."""
        import numpy

        return numpy.array([float(value) for value in self.fractions])


class Matrix:
    """A transition matrix of fractions: entry (x, y) is the probability of going from state x to state y.

    >>> matrix = Matrix(["a", "b"], [["1/2", "1/2"], ["0", "1"]])
    >>> matrix["a", "b"]
    Fraction(1, 2)
    >>> matrix.array().shape
    (2, 2)
    """

    def __init__(self, states: Sequence[str], rows: Sequence[Sequence[Exact]]) -> None:
        self.states = _states(states)  #: in order
        entries = several("rows", rows, lambda name, row: tuple(several(name, row, _named_fraction, "[[1]]")), "[[1]]")
        if {len(self.states)} != {len(entries), *map(len, entries)}:
            raise BadInput("rows", f"are not {len(self.states)} rows of {len(self.states)} entries", "give one for each pair of states")
        self.fractions: tuple[tuple[Fraction, ...], ...] = tuple(entries)  #: [states][states]
        self._at = {state: number for number, state in enumerate(self.states)}

    def __getitem__(self, pair: tuple[str, str]) -> Fraction:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise BadInput("pair", f"{shown(pair)} is not two states", 'give them as in matrix["a", "b"]')
        return self.fractions[self._number(pair[0])][self._number(pair[1])]

    def _number(self, state: str) -> int:
        found = self._at.get(text("state", state))
        if found is None:
            raise BadInput("state", f"{shown(state)} is not one of the matrix", "use one of its states")
        return found

    def row(self, state: str) -> Law:
        """The law of the next state. Raises BadInput for a state that the matrix does not have."""
        return Law(self.states, self.fractions[self._number(state)])

    def array(self) -> NDArray[np.float64]:
        """[states, states]: the float64 nearest to each fraction."""
        import numpy

        return numpy.array([[float(entry) for entry in row] for row in self.fractions])

    def __len__(self) -> int:
        return len(self.states)


@dataclass(frozen=True)
class Chain:
    """The exact decisions of reference/ on a chain and the law that it is claimed to preserve."""

    invariant: bool  #: ΠP = Π
    reversible: bool  #: Π(x)P(x, y) = Π(y)P(y, x)
    irreducible: bool  #: every state is reached from every other
    explanation: str  #: the state whose mass changes and the pair whose flow is unbalanced; "" if there is none
    total_variation: tuple[Fraction, ...]  #: to the target after 0, 1, …, `steps` steps from `start`; or empty


@dataclass(frozen=True)
class LocalChain(Chain):
    """One rung."""

    base: Law  #: p0
    target: Law  #: p0^α / Σ p0^α (`eq:theory-power-target`)
    matrix: Matrix  #: one local move


@dataclass(frozen=True)
class JointChain(Chain):
    """A ladder. Its states are K-tuples of `records`; the matrix is held in factors and not listed."""

    records: tuple[str, ...]  #: of one rung
    swap_acceptance: tuple[Fraction, ...]  #: at equilibrium, one for each edge


@dataclass(frozen=True)
class RoundTrips:
    """Round trips of a tagged replica between the first rung and the last."""

    expected: tuple[Fraction, ...]  #: their number after 0, 1, …, n steps from equilibrium with the tag at rung K
    formula: Fraction  #: steps of one round trip if acceptances did not depend on history


@dataclass(frozen=True)
class Cut:
    """A set S of classes of states with π(S) ≤ 1/2, and the flow that leaves it at equilibrium."""

    classes: tuple[str, ...]  #: first tokens, or states
    mass: Fraction  #: π(S)
    flow: Fraction  #: Q(S, Sᶜ) = Σ π(x)P(x, y) over x in S and y outside

    @property
    def conductance(self) -> Fraction:
        """Φ(S) = Q(S, Sᶜ)/π(S). A reversible chain's gap is at most Φ(S)/π(Sᶜ), and at least Φ²/2 if no cut has a smaller Φ."""
        return self.flow / self.mass

    def steps_at_least(self, within: Exact = Fraction(1, 4)) -> Fraction | None:
        """(π(Sᶜ) − ε)/Φ(S), a lower bound of t_mix(ε) that is at least 0; None if no flow leaves S."""
        if self.flow == 0:
            return None
        return max(Fraction(0), (1 - self.mass - fraction(within)) / self.conductance)


@dataclass(frozen=True)
class Mixing:
    """How fast a chain forgets its start. Pairs are fractions with the number between them."""

    steps: int | None  #: t_mix(ε) = min {N : max_x TV(δ_x P^N, π) ≤ ε}; None if no `within` was given
    worst_start: str | None  #: a state that is furthest from the target one step before, as far as `before` tells
    before: tuple[Fraction, Fraction] | None  #: the largest distance after steps − 1
    after: tuple[Fraction, Fraction] | None  #: the largest distance after steps
    gap: tuple[Fraction, Fraction] | None  #: 1 − λ₂ of one rung; of a ladder, that of PP*, P* the chain backwards
    first_token_cut: Cut | None  #: the narrowest cut between first tokens, of a ladder those of rung K
    any_cut: Cut | None  #: the narrowest cut of all, of up to 12 states


def _cut(found: dict[str, Any] | None) -> Cut | None:
    return None if found is None else Cut(tuple(found["classes"]), fraction(found["mass"]), fraction(found["flow"]))


def _ends(found: tuple[str, str] | None) -> tuple[Fraction, Fraction] | None:
    return None if found is None else (fraction(found[0]), fraction(found[1]))


def _checked_model(model: FiniteModel) -> _exact.FiniteModel:
    if not isinstance(model, FiniteModel):
        raise BadInput("model", f"{shown(model)} is not a finite model", "give a tempera.exact.FiniteModel")
    return model._model


def _size(name: str, value: Any) -> int:
    return whole(name, value, 0, 2**32 - 1)


def _start(start: Any) -> str | None:
    return None if start is None else text("start", start)


def _rows(name: str, rows: Any) -> Mapping[Any, Any]:
    if not isinstance(rows, Mapping):
        raise BadInput(name, f"{shown(rows)} is not a dictionary", 'give one such as {"a": "1/2", "e": "1/2"}')
    return rows


def _row(name: str, row: Any) -> dict[str, str]:
    return {text(name, token): _text(probability) for token, probability in _rows(name, row).items()}


class FiniteModel:
    """An autoregressive model p0 over a small vocabulary, given by rows of fractions.

    vocabulary: the text of each token. terminal: those that end a record. next: for a prefix, its tokens joined by one
    space, the law of the next token; tokens that are left out have probability 0. default: the row of every prefix that
    is not listed.

    Raises BadInput for rows that are not laws.

    >>> model = FiniteModel(["a", "e"], ["e"], {"": {"a": "1/2", "e": "1/2"}, "a": {"a": "1/4", "e": "3/4"}})
    >>> model.base_law(2)
    Law({'a a': 1/8, 'a e': 3/8, 'e': 1/2})
    >>> model.power_law(2, 2)["e"]
    Fraction(8, 13)
    """

    def __init__(
        self,
        vocabulary: Sequence[str],
        terminal: Sequence[str],
        next: Mapping[str, Mapping[str, Exact]],
        default: Mapping[str, Exact] | None = None,
        name: str = "model",
    ) -> None:
        document: dict[str, Any] = {
            "name": not_empty("name", name),
            "vocabulary": several("vocabulary", vocabulary, text, "['a', 'e']"),
            "terminal": several("terminal", terminal, text, "['e']"),
            "next": {text("next", prefix): _row(f"next, {prefix!r}", row) for prefix, row in _rows("next", next).items()},
        }
        if default is not None:
            document["default"] = _row("default", default)
        self._model = _exact.FiniteModel.parse(json.dumps(document), name)

    @classmethod
    def _of(cls, model: _exact.FiniteModel) -> FiniteModel:
        made = cls.__new__(cls)
        made._model = model
        return made

    @classmethod
    def open(cls, file: str | os.PathLike[str]) -> FiniteModel:
        """Reads a model file (docs/reference/exact.md has the format). Raises BadInput naming file, place and remedy."""
        return cls._of(_exact.FiniteModel.open(path("file", file)))

    @classmethod
    def parse(cls, text: str, name: str = "model") -> FiniteModel:
        """Reads the same format from a text. Raises BadInput."""
        return cls._of(_exact.FiniteModel.parse(_checked_text("text", text), not_empty("name", name)))

    def __repr__(self) -> str:
        return f"FiniteModel({self.name!r})"

    def json(self) -> str:
        """The model in the file format, in one line."""
        return self._model.json()

    def smaller(self) -> list[FiniteModel]:
        """Models that are simpler in one respect each: a token less, a row less, simpler probabilities."""
        return [FiniteModel._of(model) for model in self._model.smaller()]

    @property
    def name(self) -> str:
        """Its name."""
        return self._model.name

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The text of each token."""
        return tuple(self._model.vocabulary)

    @property
    def terminal(self) -> tuple[str, ...]:
        """The tokens that end a record."""
        return tuple(token for token, ends in zip(self._model.vocabulary, self._model.terminal, strict=True) if ends)

    def next(self, prefix: Sequence[int] = ()) -> Law:
        """p0(· | prefix), by tokens. prefix: numbers of tokens, none terminal. Raises BadInput."""
        return Law(self.vocabulary, self._model.next(several("prefix", prefix, token, "[0, 1]")))

    def records(self, horizon: int) -> tuple[str, ...]:
        """S_T: the records of horizon T, depth-first in the vocabulary's order, tokens joined by one space."""
        return tuple(self._model.records(_size("horizon", horizon)))

    def base_law(self, horizon: int) -> Law:
        """p0(x) of each record of S_T."""
        return Law(self.records(horizon), self._model.base_law(_size("horizon", horizon)))

    def power_law(self, horizon: int, power: Exact) -> Law:
        """p0(x)^α / Σ p0^α of each record of S_T (`eq:theory-power-target`). Raises BadInput if a value is not a fraction."""
        return Law(self.records(horizon), self._model.power_law(_size("horizon", horizon), _text(power)))

    def local_chain(
        self,
        horizon: int,
        power: Exact,
        *,
        kernel: str = "fixed",
        restart: Sequence[Exact] | None = None,
        restart_range: str = "horizon",
        start: str | None = None,
        steps: int = 10,
    ) -> LocalChain:
        """The local move at one power: its matrix, its target, and whether the one preserves the other.

        kernel: "fixed", the paper's, on S_T; "truncating", restart and regeneration capped by the current length, on
        the records of all lengths. restart: ω(1), …, ω(T); uniform if left out. start: a record; with it, the total
        variation after 0, …, steps moves from there.

        `tempera exact MODEL --horizon T --power A` prints the same. Raises BadInput for a space that is too large.
        """
        found = _exact.rung(
            self._model, _size("horizon", horizon), _text(power), text("kernel", kernel), _optional("restart", restart),
            text("restart_range", restart_range), _start(start), _size("steps", steps),
        )  # fmt: skip
        states = found["states"]
        return LocalChain(
            found["invariant"],
            found["reversible"],
            found["irreducible"],
            found["explanation"],
            tuple(map(fraction, found["total_variation"])),
            Law(states, found["base"]),
            Law(states, found["target"]),
            Matrix(states, found["matrix"]),
        )

    def joint_chain(
        self,
        horizon: int,
        powers: Sequence[Exact],
        *,
        schedule: str = "adj",
        restart: Sequence[Exact] | None = None,
        restart_range: str = "horizon",
        start: str | None = None,
        steps: int = 10,
    ) -> JointChain:
        """The chain of a ladder: one local sweep and one sweep of swaps a step.

        powers: α_1 < … < α_K. schedule: "adj", all edges in order, or "deo", odd and even edges in turn; then the
        verdict is of two steps. start: one record for each rung, joined by "|".

        `tempera exact MODEL --horizon T --powers A,B,…` prints the same. Raises BadInput.
        """
        found = _exact.joint(
            self._model, _size("horizon", horizon), _listed("powers", powers), text("schedule", schedule),
            _optional("restart", restart), text("restart_range", restart_range), _start(start), _size("steps", steps),
        )  # fmt: skip
        return JointChain(
            found["invariant"],
            found["reversible"],
            found["irreducible"],
            found["explanation"],
            tuple(map(fraction, found["total_variation"])),
            tuple(found["states"]),
            tuple(map(fraction, found["swap_acceptance"])),
        )

    def mixing(
        self,
        horizon: int,
        powers: Sequence[Exact],
        *,
        within: Exact | None = "1/4",
        gap: bool = True,
        cuts: bool = True,
        schedule: str = "adj",
        restart: Sequence[Exact] | None = None,
        restart_range: str = "horizon",
    ) -> Mixing:
        """How fast the chain of a ladder, or of one power, forgets its start.

        within: ε of the mixing time, between 0 and 1; None leaves it out. The chain is one local sweep and one sweep of
        swaps, or under "deo" two of each; for one power it is a local move.

        `tempera exact … --mixing ε --gap --cuts` prints the same. Raises BadInput for more than 4,096 states (gap and
        mixing time) or 65,536 (cuts), and for a chain that takes more than 2^20 steps.
        """
        found = _exact.mixing(
            self._model, _size("horizon", horizon), _listed("powers", powers), text("schedule", schedule),
            _optional("restart", restart), text("restart_range", restart_range),
            None if within is None else _text(within), truth("gap", gap), truth("cuts", cuts),
        )  # fmt: skip
        return Mixing(
            found["steps"],
            found.get("worst_start"),
            _ends(found.get("before")),
            _ends(found.get("after")),
            _ends(found["gap"]),
            _cut(found["first_token_cut"]),
            _cut(found["any_cut"]),
        )

    def round_trips(self, horizon: int, powers: Sequence[Exact], rounds: int, *, schedule: str = "adj") -> RoundTrips:
        """Expected round trips of a tagged replica in 0, …, rounds steps from equilibrium. Raises BadInput."""
        expected, formula = _exact.round_trips(
            self._model, _size("horizon", horizon), _listed("powers", powers), text("schedule", schedule), _size("rounds", rounds)
        )
        return RoundTrips(tuple(map(fraction, expected)), fraction(formula))


def total_variation(first: Mapping[str, Exact], second: Mapping[str, Exact]) -> Fraction:
    """TV(p, q) = ½ Σ |p(x) − q(x)| over the states of both.

    >>> total_variation({"a": "1/2", "b": "1/2"}, {"b": 1})
    Fraction(1, 2)
    """
    states = {*_rows("first", first), *_rows("second", second)}
    return sum((abs(fraction(first.get(x, 0)) - fraction(second.get(x, 0))) for x in states), Fraction(0)) / 2
