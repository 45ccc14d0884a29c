"""Ladders of powers: by formula, and by pilot runs.

    from tempera import tempering

    found = tempering.ladder(model, ["4+7+9?", "3+8+6+2?"], first=1, last=4, replicas=4, horizon=28)
    model.sample("1+2+3?", powers=found.powers, horizon=28)
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tempera.errors import BadInput
from tempera.model import Acceptance, Model, require_model
from tempera.wishes import Prompt, called, chat_arguments, finite, identity, is_one, raw_prompt, several, whole

if TYPE_CHECKING:
    from tempera._tempera import RawPilot


@dataclass(frozen=True)
class Pilot:
    """A ladder that was tried, and what was measured."""

    powers: tuple[float, ...]
    deviations: tuple[float, ...]  #: the standard deviation of log p0 at each rung, the mean of the prompts'
    swaps: tuple[Acceptance, ...]  #: of rungs k and k + 1


@dataclass(frozen=True)
class Ladder:
    """The best ladder of all pilots: the one whose lowest acceptance is highest."""

    powers: tuple[float, ...]  #: α_1 < … < α_K
    swaps: tuple[Acceptance, ...]  #: what its pilot measured
    deviations: tuple[float, ...]
    equal: bool | None  #: whether its acceptances are equal as far as noise can tell; None if one run shows no noise
    restart_weights: tuple[int, ...]  #: suggested by where its local moves changed something
    pilots: tuple[Pilot, ...]  #: in their order; the first is the geometric ladder
    end: str  #: why no pilot follows: "equal", "same" or "exhausted"


def geometric(first: float, last: float, replicas: int) -> tuple[float, ...]:
    """α_k = α_1 (α_K/α_1)^((k−1)/(K−1)) (`eq:arithmetic-geometric-ladders`).

    >>> [round(power, 6) for power in geometric(1, 4, 3)]
    [1.0, 2.0, 4.0]
    """
    first, last, replicas = _checked(first, last, replicas)
    return tuple(first * (last / first) ** (rung / (replicas - 1)) for rung in range(replicas))


def arithmetic(first: float, last: float, replicas: int) -> tuple[float, ...]:
    """α_k = α_1 + (α_K − α_1) (k−1)/(K−1) (`eq:arithmetic-geometric-ladders`).

    >>> arithmetic(1, 4, 4)
    (1.0, 2.0, 3.0, 4.0)
    """
    first, last, replicas = _checked(first, last, replicas)
    return tuple(first + (last - first) * rung / (replicas - 1) for rung in range(replicas))


def _checked(first: Any, last: Any, replicas: Any) -> tuple[float, float, int]:
    low, high, rungs = finite("first", first), finite("last", last), whole("replicas", replicas, most=2**16)
    if not 0 < low < high or rungs < 2:
        raise BadInput("ladder", "has no such powers", "give 0 < first < last and at least 2 replicas")
    return low, high, rungs


def ladder(
    model: Model,
    prompts: Prompt | Sequence[Prompt],
    *,
    first: float,
    last: float,
    replicas: int,
    horizon: int | None = None,
    block: int | None = None,
    rounds: int | None = None,
    samples: int | None = None,
    seed: int | None = None,
    pilots: int | None = None,
    thinking: bool | None = None,
    chat_template_kwargs: Mapping[str, Any] | None = None,
    ids: Sequence[str] | None = None,
    cache_memory: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Ladder:
    """Finds powers whose neighbours exchange their records equally often, by pilot runs.

    The first pilot is the geometric ladder. Each further one places its powers at equal thermodynamic distance
    (`eq:equal-thermodynamic-distance`), by what the pilot before it measured. Nothing that a pilot draws is ever an
    answer: its draws have addresses of their own.

    What is left out is what `tempera ladder --help` says. progress: is told how many pilots have ended. Ctrl-C ends the work after
    the forward pass that is under way. The result is that
    of `tempera ladder --prompts FILE` with the same ids, which are "0", "1", … if left out. Raises BadInput.
    """
    require_model(model)
    listed = [prompts] if is_one(prompts) else list(prompts)
    if not listed:
        raise BadInput("prompts", "are an empty list", "give at least one: the pilots draw answers to them")
    raw = [raw_prompt(prompt) for prompt in listed]
    names = [str(number) for number in range(len(raw))] if ids is None else several("ids", ids, identity, "['a', 'b']")
    if len(names) != len(raw) or len(set(names)) != len(names):
        raise BadInput("ids", "are not one for each prompt, all different")
    low, high, _ = _checked(first, last, replicas)
    if progress is not None:
        called("progress", progress)

    def done(number: int, most: int) -> None:
        if progress is not None:
            progress(number)
        elif sys.stderr.isatty():
            print(f"\r{number} of at most {most} pilots", end="", file=sys.stderr, flush=True)

    sizes = {"replicas": replicas, "horizon": horizon, "block": block, "rounds": rounds, "samples": samples, "seed": seed,
             "pilots": pilots, "cache_memory": 0 if cache_memory is None else cache_memory}  # fmt: skip
    counted = {name: None if size is None else whole(name, size) for name, size in sizes.items()}
    found = model._native.calibrate(
        model._opened, raw, names, arguments=chat_arguments(thinking, chat_template_kwargs), first=low, last=high, done=done, **counted
    )
    if progress is None and sys.stderr.isatty():
        print(file=sys.stderr)
    best = found.best
    return Ladder(
        tuple(best.powers),
        _swaps(best),
        tuple(best.deviations),
        best.equal,
        tuple(best.restart_weights),
        tuple(Pilot(tuple(one.powers), tuple(one.deviations), _swaps(one)) for one in found.pilots),
        found.end,
    )


def _swaps(pilot: RawPilot) -> tuple[Acceptance, ...]:
    return tuple(Acceptance(*pair) for pair in zip(pilot.attempts, pilot.accepted, strict=True))
