"""The samplers by the extension of this package, in this process: one model is opened once."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tempera.errors import BadInput
from tempera.eval.answers import likeliest
from tempera.eval.run_folders import RunFolders, make_way, naming_problems
from tempera.eval.samplers import Settings
from tempera.eval.sampling import Asked, Drawn, Prompt, Scoring

if TYPE_CHECKING:
    from tempera.model import Model

_SECONDS_BETWEEN_LOOKS = 0.2


def is_installed() -> bool:
    """True if the package has its extension."""
    return importlib.util.find_spec("tempera._tempera") is not None


class SamplerPackage(RunFolders, Scoring):
    """Tokens, likelihoods and answers of a model that is opened here when it is first needed, or is given. The bits, and
    the run folders' bytes, are those of the command.

    `machine` is what decides no bit: batch, cache_memory and prefetch, as for tempera.Model.sample.
    """

    def __init__(
        self,
        model: str | Model,
        arithmetic: str | None = None,
        chat: bool = False,
        thinking: bool | None = None,
        device: str | None = None,
        machine: Mapping[str, int] | None = None,
    ) -> None:
        self._name = model if isinstance(model, str) else ""
        self._arithmetic = arithmetic
        self._chat = chat
        self._thinking = thinking
        self._device = device
        self._machine: dict[str, Any] = dict(machine or {})
        self._opened: Model | None = None if isinstance(model, str) else model

    @property
    def _model(self) -> Model:
        if self._opened is None:
            from tempera.model import Model

            self._opened = Model.open(self._name, arithmetic=self._arithmetic, device=self._device)
        return self._opened

    def presets(self) -> dict[str, dict[str, Any]]:
        from tempera.native import native

        found: dict[str, dict[str, Any]] = native().presets()
        return found

    def draw(self, prompts: list[Prompt], asked: Asked, folder: Path, progress: Callable[[int], None]) -> None:
        from tempera.model import draw_into

        make_way(folder)
        looked = 0.0

        def answered() -> None:
            nonlocal looked
            if time.monotonic() - looked > _SECONDS_BETWEEN_LOOKS:
                progress(self.done(folder))
                looked = time.monotonic()

        wishes: dict[str, Any] = {**asked.settings.wishes(), **self._machine}
        if asked.output_rung is not None:
            wishes["output_rung"] = asked.output_rung
        try:
            draw_into(
                self._model, self._prompts(prompts), str(folder), answered, ids=[prompt.id for prompt in prompts],
                samples=asked.settings.samples, seed=asked.seed, confidence=True, thinking=self._thinking, **wishes,
            )  # fmt: skip
        except BadInput as error:
            raise naming_problems(error, r"\bprompt(?: (\d+))?(?=:)", prompts, 0) from None

    def estimate(self, prompts: list[Prompt], asked: Asked) -> dict[str, Any]:
        raise BadInput("--estimate", "needs the command tempera", "build it, and name it with --tempera")

    def ladder(self, prompts: list[Prompt], settings: Settings, file: Path) -> tuple[float, ...]:
        from tempera import tempering

        return tempering.ladder(
            self._model, self._prompts(prompts), first=settings.powers[0], last=settings.powers[-1], replicas=len(settings.powers),
            horizon=settings.asked_horizon(self.presets), block=settings.block, thinking=self._thinking,
            ids=[prompt.id for prompt in prompts], cache_memory=self._machine.get("cache_memory", 0), progress=lambda number: None,
        ).powers  # fmt: skip

    def tokens(self, text: str) -> list[int]:
        return self._model.encode(text)

    def score(self, tokens: list[int], power: float) -> tuple[list[float], list[float]]:
        scores = self._model.score(tokens, [power])
        return scores.log_p.tolist(), scores.log_z[:, 0].tolist()

    def texts(self, prompts: Sequence[Prompt], settings: Settings, seed: int) -> list[str]:
        """The returned answer to each prompt."""
        wishes: dict[str, Any] = settings.wishes()
        drawn = self._model.sample(
            self._prompts(prompts), ids=[prompt.id for prompt in prompts], samples=settings.samples, seed=seed,
            progress=False, **wishes,
        )  # fmt: skip
        records = [Drawn(str(one.prompt), one.sample, one.text, one.log_p0, None, True, None) for one in drawn]
        size = settings.samples
        return [likeliest(records[start : start + size]).text for start in range(0, len(records), size)]

    def _prompts(self, prompts: Sequence[Prompt]) -> list[str | Sequence[Mapping[str, str]]]:
        return [[{"role": "user", "content": prompt.text}] if self._chat else prompt.text for prompt in prompts]
