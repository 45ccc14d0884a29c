"""The paper's samplers, and the options of `tempera sample` for each."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from tempera.errors import BadInput
from tempera.settings import default, has_ladder, takes

# The sampler's name here, its name in the paper's tables, and in `tempera sample`.
PAPER_ROWS = {
    "standard": "Standard",
    "low-temperature": "Lower Temperature",
    "power-sampling": "Power Sampling",
    "fixed-horizon": "Single chain",
    "power-smc": "PowerSMC",
    "ppt": "PPT",
    "uncoupled-ladder": "Uncoupled ladder, coldest rung",
    "uncoupled-ladder-by-likelihood": "Uncoupled ladder",
    "best-of-n": "Best-of-N",
}
SAMPLERS = (*PAPER_ROWS, "exact-rejection")  # the last is not the paper's


def decimal(power: float) -> str:
    """A power as the command reads it, without an exponent.

    >>> decimal(1.587401), decimal(4.0), decimal(1e6), decimal(1 / 3)
    ('1.587401', '4', '1000000', '0.3333333333333333')
    """
    digits = f"{Decimal(repr(power)):f}"
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


@dataclass(frozen=True)
class Settings:
    """What decides one sampler's answers, apart from model, prompts and seed.

    `powers` is the whole ladder; a sampler of one power takes its last, alpha*. `rounds` is N_m, `particles` is N of
    `power-smc` and `best-of-n`. `label` tells it from the others of a run. `is_to_find` says that pilots find the powers
    between the first and the last before anything is drawn.
    """

    label: str
    sampler: str
    powers: tuple[float, ...]
    horizon: int | None
    block: int | None
    rounds: int
    schedule: str = field(default_factory=lambda: str(default("schedule")))
    particles: int = field(default_factory=lambda: int(default("particles")))
    preset: str = ""
    is_to_find: bool = False

    def wishes(self) -> dict[str, object]:
        """What a sampler is told: the arguments of `tempera.Model.sample`.

        Best-of-N is N answers of the model itself, so that all N can vote.

        >>> Settings("best", "best-of-n", (1.0, 4.0), 28, 4, 3).wishes()
        {'sampler': 'standard', 'horizon': 28}
        """
        sampler = "standard" if self.sampler == "best-of-n" else self.sampler
        told: dict[str, object] = {"sampler": sampler}
        if sampler != "standard":
            told["powers"] = self.powers if has_ladder(sampler) else self.powers[-1:]
        if self.horizon is not None:
            told["horizon"] = self.horizon
        elif self.preset:
            told["preset"] = self.preset
        if takes(sampler, "rounds"):
            told["rounds"] = self.rounds
        if self.block is not None and (takes(sampler, "rounds") or takes(sampler, "particles")):
            told["block"] = self.block
        if takes(sampler, "schedule"):
            told["schedule"] = self.schedule
        if takes(sampler, "particles"):
            told["particles"] = self.particles
        return told

    def flags(self) -> list[str]:
        """The same as options of `tempera sample`.

        >>> Settings("ppt", "ppt", (1.0, 4.0), 28, 4, 3).flags()[:4]
        ['--sampler', 'ppt', '--powers', '1,4']
        """
        flags = []
        for name, value in self.wishes().items():
            flags += [f"--{name}", ",".join(map(decimal, value)) if isinstance(value, tuple) else str(value)]
        return flags

    @property
    def used_powers(self) -> tuple[float, ...]:
        """The powers that this sampler takes: the ladder, its last, or 1."""
        if has_ladder(self.sampler):
            return self.powers
        return (1.0,) if self.sampler in ("standard", "best-of-n") else self.powers[-1:]

    def asked_horizon(self, presets: Callable[[], Mapping[str, Mapping[str, Any]]]) -> int | None:
        """T as it was asked for, by itself or by the preset; None if by neither."""
        if self.horizon is None and self.preset:
            return int(presets()[self.preset]["horizon"])
        return self.horizon

    @property
    def samples(self) -> int:
        """How many records each answer is chosen from, drawn as separate samples."""
        return self.particles if self.sampler == "best-of-n" else 1

    def with_amount(self, amount: int) -> Settings:
        """The same with another number of rounds or particles, whichever its cost grows with."""
        if takes(self.sampler, "particles"):
            return replace(self, particles=amount)
        return replace(self, rounds=amount)

    @property
    def amount(self) -> int:
        """The number of rounds or particles."""
        return self.particles if takes(self.sampler, "particles") else self.rounds


def check_sampler(name: str) -> str:
    """The name of a sampler, or BadInput."""
    if name not in SAMPLERS:
        raise BadInput("--samplers", f'there is no sampler "{name}"', f"give some of {', '.join(SAMPLERS)}")
    return name


# What presets are named after: the paper's models that it gives the settings for.
_MODELS_OF_PRESETS = {"qwen3": ("Qwen3-4B", "Qwen3-8B"), "qwen3.5": ("Qwen3.5-9B",)}


def preset_named(name: str, presets: Mapping[str, Mapping[str, Any]]) -> str:
    """The preset's own name, by which its family is called, for that or for one of its other names.

    >>> preset_named("Qwen3-8B/math500", {"qwen3/math500": {"other_names": ["qwen3-4b/math500", "qwen3-8b/math500"]}})
    'qwen3/math500'
    """
    names = {other: own for own, preset in presets.items() for other in (own, *preset.get("other_names", ()))}
    if name.lower() in names:
        return names[name.lower()]
    near = difflib.get_close_matches(name.lower(), names, 1)
    raise BadInput("--preset", f'there is no preset "{name}"', f"did you mean {near[0]}?" if near else f"give one of {', '.join(presets)}")


def check_preset(name: str, task: str, model: str, presets: Collection[str]) -> None:
    """Refuses a preset of another benchmark than the task, and one for other models than a model of the paper's.

    name: its own, as preset_named has it. model: the paper's name of the model, empty if it is none of the paper's. A task
    of one's own and another model take any preset. presets: the names of all.
    """
    family, _, benchmark = name.partition("/")
    asked = "aime" if task.startswith("aime") else task
    if task != "own" and benchmark != asked:
        fits = f"give --preset {family}/{asked}, or settings of your own" if f"{family}/{asked}" in presets else "give --powers and --horizon"
        raise BadInput("--preset", f"{name} does not fit the task {task}", fits)
    fitting = _MODELS_OF_PRESETS.get(family, ())
    if model and model not in fitting:
        of_model = (f"{other}/{benchmark}" for other, models in _MODELS_OF_PRESETS.items() if model in models)
        remedy = next((f"give --preset {one}" for one in of_model if one in presets), "give --powers and --horizon")
        raise BadInput("--preset", f"{name} has the paper's settings for {' and '.join(fitting)}, and the model is {model}", remedy)


def arithmetic_ladder(first: float, last: float, rungs: int) -> tuple[float, ...]:
    """Powers of equal differences.

    >>> arithmetic_ladder(1, 4, 4)
    (1.0, 2.0, 3.0, 4.0)
    """
    return tuple(first + (last - first) * rung / (rungs - 1) for rung in range(rungs))


def geometric_ladder(first: float, last: float, rungs: int) -> tuple[float, ...]:
    """Powers of equal ratios.

    >>> geometric_ladder(1, 4, 3)
    (1.0, 2.0, 4.0)
    """
    return tuple(round(first * (last / first) ** (rung / (rungs - 1)), 6) for rung in range(rungs))


def random_ladder(first: float, last: float, rungs: int, seed: int) -> tuple[float, ...]:
    """The two ends, and between them powers drawn uniformly, the same for the same seed."""
    import random

    chance = random.Random(seed)
    inner = sorted(round(chance.uniform(first, last), 6) for _ in range(rungs - 2))
    return (first, *inner, last)


def sweep(kind: str, base: Settings, equal_powers: tuple[float, ...] = ()) -> list[Settings]:
    """The paper's ablations of `ppt`: what one setting of it does, all others kept.

    replicas: K = 1 to 5 at the same first and last power, geometric between, K = 1 at the last. rounds: N_m = 1, 2, 4,
    8, 10. ladder: K = 5 random, arithmetic, geometric and equi-accepting, which is `equal_powers` or, without them, what
    pilots find. schedule: ordered sweeps and even-odd ones.

    >>> [s.label for s in sweep("schedule", Settings("ppt", "ppt", (1.0, 2.0), 8, 4, 3))]
    ['schedule adj', 'schedule deo']
    """
    first, last = base.powers[0], base.powers[-1]
    if kind in ("replicas", "ladder") and len(base.powers) < 2:
        raise BadInput("--sweep", f"{kind} needs a ladder", "give --powers FIRST,…,LAST")
    if kind == "replicas":
        single = replace(base, label="K = 1", sampler="fixed-horizon", powers=(last,))
        return [single] + [
            replace(base, label=f"K = {rungs}", powers=geometric_ladder(first, last, rungs)) for rungs in range(2, 6)
        ]
    if kind == "rounds":
        return [replace(base, label=f"rounds {rounds}", rounds=rounds) for rounds in (1, 2, 4, 8, 10)]
    if kind == "ladder":
        ladders = {
            "random": random_ladder(first, last, 5, 1),
            "arithmetic": arithmetic_ladder(first, last, 5),
            "geometric": geometric_ladder(first, last, 5),
        }
        found = [replace(base, label=f"ladder {name}", powers=powers) for name, powers in ladders.items()]
        equal = replace(base, label="ladder equi-accepting", powers=equal_powers or ladders["geometric"], is_to_find=not equal_powers)
        return [*found, equal]
    if kind == "schedule":
        return [replace(base, label=f"schedule {name}", schedule=name) for name in ("adj", "deo")]
    raise BadInput("--sweep", f'there is no sweep "{kind}"', "give replicas, rounds, ladder or schedule")
