"""The exact law of the compiled sampler: floating point, rounding and caches included, as fractions.

    from tempera import exact, law

    model = exact.FiniteModel.open("toy_models/four_state.json")
    found = law.compiled(model, horizon=2, powers=[2])
    found.tv_own          # how far the program is from its own target: 1e-14 or so, computed and not estimated

Every random decision of the sampler is an integer lottery, so all that it can do is enumerated. `tempera law` prints
the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from tempera import _exact
from tempera.exact import Exact, FiniteModel, Law, Matrix, _checked_model, _optional, _size
from tempera.wishes import number, several, text, whole


@dataclass(frozen=True)
class CompiledLaw:
    """The behaviour of the compiled sampler on one model. Distances are computed to 40 digits."""

    matrix: Matrix  #: one step of the program; joint states are written "s1|s2"
    stationary: Law  #: its stationary law, exactly
    tv_to_target: Decimal  #: TV to the target of the fractions: rounding of their logits to float32 included
    tv_own: Decimal  #: TV to the target that the float32 logits define: the sampler's own error
    tv_one_step: Decimal  #: TV(ΠP, Π) for that target
    worst_entry: Decimal | None  #: the largest difference of an entry from reference/; None at powers that are not whole


def compiled(
    model: FiniteModel,
    horizon: int,
    powers: Sequence[float],
    *,
    schedule: str = "adj",
    restart: Sequence[Exact] | None = None,
    restart_range: str = "horizon",
) -> CompiledLaw:
    """Enumerates every draw of every move of the compiled sampler from every state.

    powers: one for local moves alone; a ladder for a local sweep and one sweep of swaps a step. schedule: "adj" or
    "deo". restart: ω(1), …, ω(T); uniform if left out. Raises BadInput for more than 1,024 states.
    """
    found = _exact.compiled(
        _checked_model(model), _size("horizon", horizon), several("powers", powers, number, "[1, 2]"), text("schedule", schedule),
        _optional("restart", restart), text("restart_range", restart_range),
    )  # fmt: skip
    states = found["states"]
    return CompiledLaw(
        Matrix(states, found["matrix"]),
        Law(states, found["stationary"]),
        Decimal(found["tv_to_target"]),
        Decimal(found["tv_own"]),
        Decimal(found["tv_one_step"]),
        None if found["worst_entry"] is None else Decimal(found["worst_entry"]),
    )


def local_move(model: FiniteModel, horizon: int, power: float) -> Matrix:
    """The matrix of the compiled local move at one power: row x is the law after one move from x. Raises BadInput."""
    compiled = _checked_model(model)
    states = model.records(horizon)
    return Matrix(states, compiled.compiled_local_move(whole("horizon", horizon, 1, 2**32 - 1), number("power", power)))
