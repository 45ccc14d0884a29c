"""EleutherAI's lm-evaluation-harness over tempera: `python -m tempera.harness run --model tempera …`.

This registers the model `tempera` and hands over to `lm_eval`, whose arguments are the same. `--model_args` has
model=FOLDER and, for tasks that generate, what the samplers take: sampler=ppt, powers=1:2:4 (a ladder, with colons),
block=, rounds=, particles=, horizon=, seed=, chat=true, arithmetic=, tempera=COMMAND. A task's own temperature is not
used: the sampler and its powers decide.

The model is opened once, in this process, by the package's extension. Without the extension, or with tempera=COMMAND, the
command draws and scores; it gives the same bits and starts once a score.
"""

from __future__ import annotations

import math
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tempera.errors import BadInput, Bug, Error
from tempera.eval.running import answers_of
from tempera.eval.sampler_command import SamplerCommand, find_command
from tempera.eval.sampler_package import SamplerPackage, is_installed
from tempera.eval.samplers import Settings, check_sampler
from tempera.eval.sampling import Asked, Prompt, Scoring

# At this power nearly all of the sum of p0^power is the most probable token's, unless one is within a millionth of it.
_POWER_OF_THE_MOST_PROBABLE = 1e6


def cut(text: str, stops: Sequence[str]) -> str:
    """A text up to the first of the stops in it.

    >>> cut("4 apples.\\n\\nQ: next", ["Q:", "\\n\\n"])
    '4 apples.'
    """
    offsets = [offset for offset in (text.find(stop) for stop in stops if stop) if offset >= 0]
    return text[: min(offsets)] if offsets else text


def log_likelihood(scoring: Scoring, context: str, continuation: str) -> tuple[float, bool]:
    """log p0 of a continuation after its context, and whether each of its tokens is the most probable one.

    Spaces at the context's end are counted to the continuation, as in the harness. Its tokens are those that the whole
    has after as many as the context alone has.
    """
    kept = context.rstrip(" ")
    continuation = context[len(kept) :] + continuation
    whole = scoring.tokens(kept + continuation)
    given = len(scoring.tokens(kept)) if kept else 0
    if given == 0:
        raise BadInput("lm_eval", "a context is empty", "the model gives no probability to a first token")
    log_p, log_z = scoring.score(whole, _POWER_OF_THE_MOST_PROBABLE)
    scored = range(given - 1, len(whole) - 1)
    # The token's share of the sum of p0^power is above 1/2 if it is the most probable one, and near 0 if not.
    greedy = all(_POWER_OF_THE_MOST_PROBABLE * log_p[at] - log_z[at] > math.log(0.5) for at in scored)
    return math.fsum(log_p[at] for at in scored), greedy


def _settings(values: dict[str, Any], horizon: int) -> Settings:
    sampler = check_sampler(str(values.get("sampler", "standard")))
    try:
        powers = tuple(float(power) for power in str(values.get("powers", "1:2:4")).split(":"))
        whole = {name: int(values[name]) for name in ("block", "rounds", "particles", "horizon") if name in values}
    except ValueError as error:
        raise BadInput("--model_args", f"is not a number: {error}") from None
    return Settings(
        label=sampler,
        sampler=sampler,
        powers=powers,
        horizon=whole.get("horizon", horizon),
        block=whole.get("block"),
        rounds=whole.get("rounds", 4),
        particles=whole.get("particles", 8),
    )


_ARGUMENTS = (
    "model", "tempera", "arithmetic", "chat", "sampler", "powers", "block", "rounds", "particles", "horizon", "seed",
)  # fmt: skip
# What the harness adds to --model_args itself.
_OF_THE_HARNESS = ("batch_size", "max_batch_size", "device")


def _texts(sampling: SamplerPackage | SamplerCommand, prompts: list[Prompt], settings: Settings, seed: int) -> list[str]:
    if isinstance(sampling, SamplerPackage):
        return sampling.texts(prompts, settings, seed)
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        sampling.draw(prompts, Asked(settings, seed), run, lambda done: None)
        return [answer.returned.text for answer in answers_of(sampling, settings, run)]


def register() -> None:
    """Registers the model `tempera` with lm_eval, which must be installed."""
    from lm_eval.api.model import LM  # type: ignore[import-not-found,import-untyped,unused-ignore]
    from lm_eval.api.registry import register_model  # type: ignore[import-not-found,import-untyped,unused-ignore]

    @register_model("tempera")  # type: ignore[untyped-decorator,unused-ignore]
    class TemperaModel(LM):  # type: ignore[misc,unused-ignore]
        """A model of tempera for lm_eval."""

        def __init__(self, **values: Any) -> None:
            super().__init__()
            for name in values:
                if name not in _ARGUMENTS + _OF_THE_HARNESS:
                    raise BadInput("--model_args", f'there is no "{name}"', f"give some of {', '.join(_ARGUMENTS)}")
            if "model" not in values:
                raise BadInput("--model_args", "model is missing", "give model=FOLDER")
            flags = ["--model", str(values["model"])]
            if str(values.get("chat", "")).lower() == "true":
                flags.append("--chat")
            if "arithmetic" in values:
                flags += ["--arithmetic", str(values["arithmetic"])]
            self._sampling: SamplerPackage | SamplerCommand
            if "tempera" not in values and is_installed():
                self._sampling = SamplerPackage(str(values["model"]), values.get("arithmetic"), "--chat" in flags)
            else:
                self._sampling = SamplerCommand(find_command(values.get("tempera")), flags, [])
            self._values = values

        def loglikelihood(self, requests: list[Any], **_: Any) -> list[tuple[float, bool]]:
            return [log_likelihood(self._sampling, *request.args) for request in requests]

        def loglikelihood_rolling(self, requests: list[Any], **_: Any) -> list[float]:
            raise BadInput("lm_eval", "tasks of rolling log-likelihood are not supported", "their first token has no context")

        def generate_until(self, requests: list[Any], **_: Any) -> list[str]:
            texts = [""] * len(requests)
            groups: dict[int, list[int]] = {}
            for number, request in enumerate(requests):
                groups.setdefault(int(request.args[1].get("max_gen_toks", 256)), []).append(number)
            for horizon, numbers in groups.items():
                settings = _settings(self._values, horizon)
                seed = int(self._values.get("seed", 1))
                # The id tells repeats of a question apart, so that each has draws of its own.
                prompts = [Prompt(f"request-{number}", requests[number].args[0]) for number in numbers]
                for number, text in zip(numbers, _texts(self._sampling, prompts, settings, seed), strict=True):
                    until = requests[number].args[1].get("until") or []
                    texts[number] = cut(text, [until] if isinstance(until, str) else until)
            return texts


def main() -> int:
    """Runs lm_eval with the model registered."""
    try:
        register()
        from lm_eval.__main__ import cli_evaluate  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ModuleNotFoundError as error:
        print(f"tempera.harness: Python has no module {error.name}; pip install lm-eval", file=sys.stderr)
        return 2
    try:
        cli_evaluate()
    except Error as error:
        print(f"tempera.harness: {error}", file=sys.stderr)
        return 3 if isinstance(error, Bug) else 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
