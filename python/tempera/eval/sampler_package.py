"""The samplers by the extension of this package, in this process: one model is opened once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tempera.eval.answers import likeliest
from tempera.eval.samplers import Settings
from tempera.eval.sampling import Drawn, Prompt, Scoring

if TYPE_CHECKING:
    from tempera.model import Model


class SamplerPackage(Scoring):
    """Tokens, likelihoods and answers of a model that is open here: the bits are those of the command."""

    def __init__(self, model: Model, chat: bool) -> None:
        self._model = model
        self._chat = chat

    @classmethod
    def open(cls, model: str, arithmetic: str | None, chat: bool) -> SamplerPackage | None:
        """The model, or None if the extension is not installed."""
        try:
            from tempera.model import Model

            return cls(Model.open(model, arithmetic=arithmetic), chat)
        except ModuleNotFoundError:
            return None

    def tokens(self, text: str) -> list[int]:
        return self._model.encode(text)

    def score(self, tokens: list[int], power: float) -> tuple[list[float], list[float]]:
        scores = self._model.score(tokens, [power])
        return scores.log_p.tolist(), scores.log_z[:, 0].tolist()

    def texts(self, prompts: Sequence[Prompt], settings: Settings, seed: int) -> list[str]:
        """The returned answer to each prompt."""
        asked: list[str | Sequence[Mapping[str, str]]] = [
            [{"role": "user", "content": prompt.text}] if self._chat else prompt.text for prompt in prompts
        ]
        wishes: dict[str, Any] = settings.wishes()
        drawn = self._model.sample(
            asked, ids=[prompt.id for prompt in prompts], samples=settings.samples, seed=seed, progress=False, **wishes
        )
        records = [Drawn(str(one.prompt), one.sample, one.text, one.log_p0, None, True, None) for one in drawn]
        size = settings.samples
        return [likeliest(records[start : start + size]).text for start in range(0, len(records), size)]
