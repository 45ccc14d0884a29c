"""Requests that come and go over one model, for programs that serve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union

from tempera import errors
from tempera.model import Answer, Model, answer_of, require_model
from tempera.wishes import LAYOUT, SAMPLER, Prompt, SamplerWishes, chat_arguments, check_names, checked, raw_prompt, takes, text, whole

if TYPE_CHECKING:
    from typing_extensions import Unpack


@dataclass(frozen=True)
class RoundEnded:
    """A block extension (round 0) or a refinement round of a sample has ended."""

    request: int
    sample: int
    stage: int  #: from 0
    round: int
    log_p0: tuple[float, ...]  #: of each rung's record so far


@dataclass(frozen=True)
class TextDrawn:
    """A tokenwise sampler has drawn text that no later step takes back: whole characters."""

    request: int
    sample: int
    text: str


@dataclass(frozen=True)
class Answered:
    """A sample's answer is there. `answer.prompt` is 0."""

    request: int
    sample: int
    answer: Answer


@dataclass(frozen=True)
class Failed:
    """A sample has no answer: the model gave no numbers for it. Nothing else is affected."""

    request: int
    sample: int
    error: errors.Error


Event = Union[RoundEnded, TextDrawn, Answered, Failed]


class Session:
    """Draws answers for requests that come and go while it runs; all share the forward passes.

        session = tempera.Session(model)
        request = session.submit("4+7+9?", powers=[1, 2, 4], horizon=28, seed=1)
        while session.busy:
            for event in session.step():
                ...

    An answer depends on model, arithmetic and request alone: never on other requests, load or order. Any thread may
    call; a call waits until the step that is under way has ended. Sessions of one model, and its other calls, take turns of
    one step each (see tempera.Model). A step releases the GIL.

    batch: the most records of one forward pass. under_way: the most samples at once; both as `tempera sample` has them
    if left out. cache_memory: the most bytes of
    keys and values, 0 for half of the memory that is free. None of them changes an answer.

    As a context manager it cancels what is still to come at the end of the block.
    """

    def __init__(self, model: Model, *, batch: int | None = None, under_way: int | None = None, cache_memory: int = 0) -> None:
        require_model(model)
        self.model = model
        layout = checked({"batch": batch, "under_way": under_way, "cache_memory": cache_memory}, LAYOUT)
        self._session = model._native.CollectingSession(model._opened, **layout)
        self._confidence: dict[int, bool] = {}
        self._left: dict[int, int] = {}

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        for request in list(self._left):
            self.cancel(request)

    @takes(SamplerWishes)
    def submit(
        self,
        prompt: Prompt,
        *,
        id: str | None = None,
        thinking: bool | None = None,
        chat_template_kwargs: Mapping[str, Any] | None = None,
        **wishes: Unpack[SamplerWishes],
    ) -> int:
        """Takes a request at any time; nothing is computed before the next step. Returns its number.

        id: what tells this prompt's draws from those of others under the same seed. Further arguments are those of
        Model.sample that say what is drawn. Raises BadInput for a request that cannot be drawn.
        """
        check_names(wishes, SAMPLER, "submit")
        sampler = checked(wishes, SAMPLER)
        request: int = self._session.submit(
            raw_prompt(prompt),
            None if id is None else text("id", id),
            chat_arguments(thinking, chat_template_kwargs),
            sampler,
        )
        self._confidence[request] = bool(sampler.get("confidence"))
        self._left[request] = int(sampler.get("samples", 1))
        return request

    def cancel(self, request: int) -> None:
        """Forgets a request: its rows leave the batch before the next pass, and no event of it follows."""
        self._session.cancel(whole("request", request))
        self._left.pop(request, None)
        self._confidence.pop(request, None)

    @property
    def busy(self) -> bool:
        """True if an answer is still to come."""
        return bool(self._left)

    def step(self) -> list[Event]:
        """Makes one forward pass for all that wait, and returns what it has brought. Raises DeviceError."""
        self._session.step()
        events = []
        for news in self._session.take_news():
            event = self._event(news)
            if isinstance(event, (Answered, Failed)) and news.request in self._left:
                self._left[news.request] -= 1
                if self._left[news.request] == 0:
                    del self._left[news.request], self._confidence[news.request]
            events.append(event)
        return events

    def _event(self, news: Any) -> Event:
        if news.kind == "round":
            return RoundEnded(news.request, news.sample, news.stage, news.round, tuple(news.log_p0))
        if news.kind == "text":
            return TextDrawn(news.request, news.sample, news.text)
        if news.kind == "failure":
            return Failed(news.request, news.sample, getattr(errors, news.error)(news.text))
        return Answered(news.request, news.sample, answer_of(news, 0, self._confidence.get(news.request, False)))

    def totals(self) -> Mapping[str, float]:
        """The counters so far: decode_tokens, batches, forward_seconds, draw_seconds."""
        found: dict[str, float] = self._session.totals()
        return found
