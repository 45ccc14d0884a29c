"""The interface to tempera's samplers: prompts in, answers and figures out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tempera.eval.samplers import Settings


@dataclass(frozen=True)
class Prompt:
    """A prompt with the id that distinguishes its draws from others."""

    id: str
    text: str


@dataclass(frozen=True)
class Drawn:
    """One record that was drawn.

    `log_p0` is the sum over its tokens, `tokens` how many they are (the terminal one included), `confidence` their mean
    negative entropy, `terminated` whether it ended before its horizon. None is what nobody measured.
    """

    id: str
    sample: int
    text: str
    log_p0: float | None
    tokens: int | None
    terminated: bool
    confidence: float | None


@dataclass(frozen=True)
class Figures:
    """The cost and counters of a run: `summary` and `speed` as in the run folder of `tempera sample`."""

    summary: dict[str, Any]
    speed: dict[str, Any]
    config: dict[str, Any]

    @property
    def decode_tokens(self) -> int:
        """All tokens that were drawn, those of rejected proposals too."""
        return int(self.summary["decode_tokens"])


@dataclass(frozen=True)
class Asked:
    """The request to a sampler: the model and how it is run, the settings, the seed, the rung that answers."""

    settings: Settings
    seed: int
    output_rung: int | None = None


class Sampling(ABC):
    """Draws answers into run folders. Implemented by the command (`sampler_command`), by the package's extension (`sampler_package`)
    and by answers of a file."""

    @abstractmethod
    def presets(self) -> dict[str, dict[str, Any]]:
        """The paper's settings by name."""

    @abstractmethod
    def draw(self, prompts: list[Prompt], asked: Asked, folder: Path, progress: Callable[[int], None]) -> None:
        """Draws `settings.samples` records for each prompt into a run folder, or goes on where it was left.

        `progress` is told how many records are done. The same question gives the same records.
        """

    @abstractmethod
    def estimate(self, prompts: list[Prompt], asked: Asked) -> dict[str, Any]:
        """The cost of a run by a pilot of seconds, as `tempera sample --estimate --json` prints it."""

    @abstractmethod
    def ladder(self, prompts: list[Prompt], settings: Settings, file: Path) -> tuple[float, ...]:
        """Powers whose neighbours accept swaps equally often, by pilots: as many as the settings have, with their ends.

        `file` may be written: a place for the prompts.
        """

    @abstractmethod
    def done(self, folder: Path) -> int:
        """How many records a run folder has already."""

    @abstractmethod
    def records(self, folder: Path) -> list[Drawn]:
        """The records of a finished run folder, in the order of its prompts."""

    @abstractmethod
    def figures(self, folder: Path) -> Figures:
        """The cost and counters of a finished run."""


class Scoring(ABC):
    """Tokens of texts and their likelihoods, for a harness that scores."""

    @abstractmethod
    def tokens(self, text: str) -> list[int]:
        """The tokens of a text, with those that the tokenizer puts before it."""

    @abstractmethod
    def score(self, tokens: list[int], power: float) -> tuple[list[float], list[float]]:
        """For each token after the first: log p0, and log of the sum over the vocabulary of p0^power at its position."""
