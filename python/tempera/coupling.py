"""How far the answers of a run are from its target: `tempera certify-run` from Python.

    from tempera import coupling

    found = coupling.certify_run(model, "4+7+9?", powers=[1, 2, 4], horizon=28, rounds=20, pairs=60)
    print(found.tv_at_most, found.rounds_for_005)

A pair is two runs of the same program that share their draws, one of them `lag` rounds ahead, until they meet
(docs/reference/certify_run.md). The numbers are those of `tempera certify-run --json`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tempera import wishes as values
from tempera.errors import BadInput
from tempera.model import Model, require_model
from tempera.wishes import SAMPLER, Prompt, called, chat_arguments, check_names, checked, number, raw_prompt, text, truth, whole

#: Settings that a run of one answer has no use for.
_UNUSED = ("samples", "confidence", "auditable")


@dataclass(frozen=True)
class Estimate:
    """A mean over independent pairs."""

    mean: float
    standard_error: float


@dataclass(frozen=True)
class TvBound:
    """The estimated upper bound of the total variation after so many rounds."""

    round: int
    mean: float
    standard_error: float
    limit: float  #: the bound's upper limit, of 95 %


@dataclass(frozen=True)
class RunCertificate:
    """The figures of all pairs. All that needs every pair to have met is None, or empty, if one has not."""

    lag: int
    rounds: int  #: N of the run that is judged
    most_rounds: int
    met: int  #: pairs that have met
    meetings: tuple[int | None, ...]  #: the round at which each pair met
    tv_at_most: Estimate | None  #: after N rounds
    by_round: tuple[TvBound, ...]
    rounds_for_005: int | None  #: the first round from which on the limit is at most 0.05
    reached: int | None  #: the first round from which on it is at most until_tv, if that was asked
    decode_tokens: int
    log_p0: Estimate | None  #: of the answer under the target, without bias
    length: Estimate | None
    answer: Estimate | None  #: the probability of `answer` under the target, without bias, if it was asked


def _share(name: str, value: Any) -> float | None:
    if value is None:
        return None
    found = number(name, value)
    if not 0 < found < 1:
        raise BadInput(name, f"{found:g} is not between 0 and 1", "give such as 0.05")
    return found


def certify_run(
    model: Model,
    prompt: Prompt,
    *,
    pairs: int | None = None,
    lag: int | None = None,
    most_rounds: int | None = None,
    until_tv: float | None = None,
    confidence_level: float | None = None,
    token_limit: int | None = None,
    answer: str | Callable[[str], bool] | None = None,
    thinking: bool | None = None,
    chat_template_kwargs: Mapping[str, Any] | None = None,
    cache_memory: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    **wishes: Any,
) -> RunCertificate:
    """Bounds the total variation between the answers of N rounds and their target, by pairs of runs.

    TV(law after t rounds, target) ≤ E[max(0, ⌈(τ − L − t) / L⌉)], τ the round at which a pair meets and L the lag.

    wishes: the settings of the run, as Model.sample has them, but for samples, confidence and auditable. pairs, lag, most_rounds,
    until_tv, confidence_level and token_limit are the options of `tempera certify-run`, and what is left out is what
    its help says. answer: whose probability is estimated too: the text that it ends with, or a function that tells by its text whether
    an answer is such a one; it may not call the model. An answer that the horizon cuts is none. progress: is called after each pair with how many have ended and how many have met. The same seed gives the same
    numbers as the command. Ctrl-C ends the work after the pass that is under way. Raises BadInput, ModelError, DeviceError.
    """
    require_model(model)
    check_names(wishes, [name for name in SAMPLER if name not in _UNUSED], "certify_run")
    if progress is not None:
        called("progress", progress)

    def done(ended: int, met: int, most: int) -> None:
        if progress is not None:
            if ended > 0:
                progress(ended, met)
        elif sys.stderr.isatty():
            print(f"\r{ended} of {most} pairs, {met} have met", end="\n" if ended == most else "", file=sys.stderr, flush=True)

    ending = text("answer", answer) if isinstance(answer, str) else None
    judge: Callable[[str], Any] | None = None if answer is None or isinstance(answer, str) else called("answer", answer)

    def is_answer(of: str) -> bool:
        return judge is not None and truth("what answer returns", judge(of))

    counts = {"pairs": (pairs, 2, 2**19), "lag": (lag, 1, 2**24 - 1), "most_rounds": (most_rounds, 1, 2**24 - 1),
              "token_limit": (token_limit, 1, 2**40)}  # fmt: skip
    counted = {name: None if value is None else whole(name, value, least, most) for name, (value, least, most) in counts.items()}
    found = json.loads(
        model._native.certify_run(
            model._opened,
            raw_prompt(prompt),
            chat_arguments(thinking, chat_template_kwargs),
            checked(wishes, SAMPLER),
            until_tv=_share("until_tv", until_tv),
            confidence=None if confidence_level is None else values.confidence(confidence_level),
            ending=ending,
            is_answer=None if judge is None else is_answer,
            cache_memory=0 if cache_memory is None else whole("cache_memory", cache_memory),
            done=done,
            **counted,
        )
    )
    estimates = {name: None if found[name] is None else Estimate(**found[name]) for name in ("tv_at_most", "log_p0", "length")}
    return RunCertificate(
        lag=found["lag"],
        rounds=found["rounds"],
        most_rounds=found["most_rounds"],
        met=found["met"],
        meetings=tuple(found["meetings"]),
        by_round=tuple(TvBound(**one) for one in found["tv_at_most_by_round"]),
        rounds_for_005=found["rounds_for_0.05"],
        reached=found["until_tv"]["rounds"] if "until_tv" in found else None,
        decode_tokens=found["decode_tokens"],
        answer=Estimate(**found["answer"]) if found.get("answer") else None,
        **estimates,
    )
