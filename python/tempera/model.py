"""A model, and drawing answers from it."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tempera import errors
from tempera.native import native
from tempera.wishes import (
    LAYOUT, SAMPLER, Powers, Prompt, RunWishes, Tokens, Wishes, chat_arguments, check_names, checked, identity, is_one, not_empty, path, raw_prompt, several,
    takes, token, truth,
)  # fmt: skip
from tempera.wishes import text as _text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from tempera._tempera import News, OpenedModel
    from tempera.called import Rows
    from tempera.server import ServeWishes


@dataclass(frozen=True)
class Acceptance:
    """How often something was proposed, and how often it was accepted."""

    proposed: int
    accepted: int

    @property
    def rate(self) -> float:
        """accepted / proposed; 0 if nothing was proposed.

        >>> Acceptance(4, 1).rate
        0.25
        """
        return self.accepted / self.proposed if self.proposed else 0.0


@dataclass(frozen=True)
class RungRecord:
    """The record of one rung, or of one particle, when the sampler ended."""

    text: str  #: what people read: without the terminal token, up to a stop string
    tokens: tuple[int, ...]  #: x_1 … x_n, a terminal token included
    log_p0: float  #: log p0(x_1 … x_n | prompt), natural logarithm
    terminated: bool  #: a terminal token ended it
    confidence: float | None  #: the mean negative entropy over its tokens, if `confidence` was asked for


@dataclass(frozen=True)
class Answer:
    """One answer: the record at the output rung, or the one that the sampler chose."""

    text: str  #: what people read: without the terminal token, up to a stop string
    tokens: tuple[int, ...]  #: x_1 … x_n, a terminal token included
    log_p0: float  #: log p0(x_1 … x_n | prompt), natural logarithm
    log_p0_of_rungs: tuple[float, ...]  #: of the record of each rung when the sampler ended
    local_moves: tuple[Acceptance, ...]  #: by rung
    swaps: tuple[Acceptance, ...]  #: of rungs k and k + 1
    decode_tokens: int  #: tokens drawn for it, also for proposals
    finish_reason: str  #: "terminal", "stop" or "horizon"
    prompt: int  #: the number of its prompt in the call, from 0
    sample: int  #: its number among the answers to its prompt, from 0
    records: tuple[RungRecord, ...] = ()  #: by rung, from α_1 to α_K, or by particle; none of a run folder


@dataclass(frozen=True)
class Scores:
    """A model's probabilities of given tokens x_1 … x_n; index t - 2 is position t."""

    log_p: NDArray[np.float64]  #: [n - 1]: log p0(x_t | x_<t)
    log_z: NDArray[np.float64]  #: [n - 1, powers]: log of the sum over v of p0(v | x_<t)^α


class Model:
    """A language model that is open: weights, tokenizer, arithmetic.

    Any thread may call, also while another thread samples from the same model: no answer changes. The calls that compute
    with a model take turns of one forward pass each, in the order in which they ask. On the host two models compute at
    once; on CUDA all models of the process take turns. Other Python threads run meanwhile.
    """

    def __init__(
        self, opened: OpenedModel, name: str, device: str | None = None, rope_factors: str | None = None, rows: Rows | None = None
    ) -> None:
        self._opened = opened
        self._rows = rows  # of a model that Python computes
        self._native = native(device)
        self._device = device
        self._rope_factors = rope_factors
        self.name = name
        snapshot = None if rows is not None else self._native.hub_snapshot(name)
        #: The commit of the snapshot, and a digest of its files, for a name of the Hugging Face Hub.
        self.revision: str | None = None if snapshot is None else snapshot[1]
        self.digest: str | None = None if snapshot is None else snapshot[2]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the name, not the weights: whoever unpickles opens the same files with the same arithmetic.

        Raises BadInput for a model that Python computes: what it is made of is not tempera's to pickle.
        """
        if self._rows is not None:
            raise errors.BadInput("model", f"{self.name} is computed by an object of this process and cannot be pickled", "make it in the process that needs it")
        where = os.path.abspath(self.name) if os.path.exists(self.name) else self.name
        if self.revision is not None:  # a branch of the Hub moves
            where = f"{where.partition('@')[0]}@{self.revision}"
        return _opened_again, (where, self.arithmetic, self._device, self._rope_factors)

    @classmethod
    def open(
        cls,
        name_or_path: str | os.PathLike[str],
        *,
        arithmetic: str | None = None,
        device: str | None = None,
        rope_factors: str | None = None,
        download: bool = False,
    ) -> Model:
        """Opens a Hugging Face folder, a GGUF file, a model that `tempera models` knows by name, or one of the Hugging Face
        Hub, such as "Qwen/Qwen3-8B" or "Qwen/Qwen3-8B@REVISION", that is in the Hub's cache. A path that exists wins.

        arithmetic: which bits the logits have; "float32" if none is given.
        device: "host", "cuda" or "cuda:N"; the host if none is given. Kernels for CUDA are in a package that was built
        where nvcc was on the path, and are loaded when they are first asked for.
        rope_factors: "short" or "long", for a model with two sets of rotary factors.
        download: True downloads a model of the Hub that is not in its cache, if huggingface_hub is installed.

        Raises BadInput for files that cannot be used, and for a device of no such name; DeviceError for one that this
        package or this machine lacks.
        """
        name = path("model", name_or_path)
        asked = [None if value is None else _text(label, value) for label, value in (("arithmetic", arithmetic), ("rope_factors", rope_factors))]
        if truth("download", download):
            _download(name)
        opened = native(device).OpenedModel.open(name, asked[0], device, asked[1])
        return cls(opened, name, device, rope_factors)

    @classmethod
    def from_callable(
        cls,
        next_logits: Callable[[list[list[int]]], Any],
        vocabulary: int | Sequence[str],
        *,
        terminal: int | str | Sequence[int | str] = (),
        encode: Callable[[str], Iterable[int]] | None = None,
        decode: Callable[[list[int]], str] | None = None,
        chat: Callable[..., Iterable[int]] | None = None,
        positions: int = 0,
        arithmetic: str = "python",
        name: str = "callable",
        digest: str | None = None,
    ) -> Model:
        """A model whose logits a callable computes: every sampler, `score`, run folders and ladders work over it.

        next_logits: takes n prefixes, prompt included, each a list of tokens, and returns the logits of the token after
        each: [n, |V|], as a NumPy array, a tensor of torch, what has `__dlpack__`, or a list of rows. -inf forbids a token.
        It is called once a pass, in one thread at a time, which holds the GIL. The same prefix must have the same logits,
        whatever is beside it: tempera.check.model says whether it has. Its exceptions come out of the call that needed
        the pass, and the session makes that pass again if it is called again.

        vocabulary: |V|, at most 2^18, or the texts of the tokens. terminal: the tokens that end an answer, by number or
        text. encode(text), decode(tokens): the prompt of a text, the text of tokens; if left out, names or numbers of tokens with
        spaces between. chat(messages, **arguments): the prompt of a conversation. positions: the most tokens of prompt and
        answer, 0 for any number. arithmetic: what computes the logits, for config.json. digest: what tells these numbers
        from others; a run folder is only resumed by a model that has one.

        Raises BadInput; a call that draws also for rows of another shape, and ModelError for NaN and +inf.
        """
        from tempera.called import open_callable

        opened, rows = open_callable(native(), next_logits, vocabulary, terminal, encode, decode, chat, positions, arithmetic, digest)
        return cls(opened, not_empty("name", name), rows=rows)

    @classmethod
    def from_transformers(
        cls,
        model: Any,
        tokenizer: Any = None,
        *,
        terminal: int | Sequence[int] | None = None,
        positions: int | None = None,
        cache: str = "auto",
        name: str | None = None,
        digest: str | None = None,
    ) -> Model:
        """A model of transformers: any decoder that AutoModelForCausalLM opens, on the device that it is on.

        tokenizer: encodes and decodes texts; its chat template writes conversations. Without one a text is token numbers.
        terminal: tokens that end an answer; those of the generation config if left out. positions: as in from_callable;
        those of the config if left out.

        cache: "auto" keeps keys and values, or a recurrent state, between passes; "fresh" keeps nothing and computes each
        row alone from its first token, in far more time. The bits are torch's: with "auto" they depend on what was
        computed beside a row, with "fresh" on its tokens alone. tempera.check.model says by how much. So a run
        folder is only resumed with "fresh" and a digest.

        Raises BadInput unless the model is a decoder in evaluation mode.
        """
        from tempera.of_transformers import open_transformers

        opened, rows = open_transformers(native(), model, tokenizer, terminal, positions, cache, digest)
        known = getattr(model.config, "_name_or_path", "") or type(model).__name__
        return cls(opened, not_empty("name", known if name is None else name), rows=rows)

    def __repr__(self) -> str:
        return f"Model({self.name!r}, arithmetic={self.arithmetic!r})"

    @property
    def arithmetic(self) -> str | None:
        """The arithmetic of the logits; of a model that Python computes, what computes them: "torch 2.15.0 on cpu, float32"."""
        return self._opened.arithmetic

    @property
    def vocabulary_size(self) -> int:
        """|V|, the number of tokens."""
        return self._opened.vocabulary_size

    @property
    def positions(self) -> int:
        """The most tokens of prompt and answer together; 0 for any number."""
        return self._opened.positions

    @property
    def terminal(self) -> tuple[int, ...]:
        """The tokens that end an answer."""
        return tuple(self._opened.terminal)

    def encode(self, text: str) -> list[int]:
        """The tokens of a text, with those that the tokenizer puts before it. Raises BadInput."""
        return list(self._opened.encode(_text("text", text)))

    def decode(self, tokens: Tokens) -> str:
        """The text of tokens. Raises BadInput for a token outside the vocabulary."""
        return self._opened.decode(several("tokens", tokens, token, "[1, 2]"))

    def score(self, tokens: Tokens, powers: Powers = (1.0,)) -> Scores:
        """log p0 of each token after the first given those before it, and log z of every power there.

        The arrays own the memory that was computed into: nothing is copied, here or by DLPack. Other threads run
        meanwhile. `tempera score` gives the same bits.

        tokens: n >= 2. powers: each from 2^-20 to 2^20.
        Raises BadInput for tokens that the model cannot produce.
        """
        if isinstance(tokens, str):
            raise errors.BadInput("tokens", "are a text", "give model.encode(text)")
        rungs = checked({"powers": (1.0,) if powers is None else powers}, ("powers",))["powers"]
        return Scores(*self._opened.score(several("tokens", tokens, token, "[1, 2]"), rungs))

    @takes(RunWishes)
    def sample(
        self,
        prompts: Prompt | Iterable[Prompt],
        *,
        out: str | os.PathLike[str] | None = None,
        resume: bool = False,
        **wishes: Unpack[RunWishes],
    ) -> list[Answer]:
        """Draws answers and returns all of them, in the order of prompts and samples.

        prompts: one prompt or a list of them. A prompt is a text, a list of token numbers, or a list
        of messages such as {"role": "user", "content": "…"}.

        out: a run folder to make, with the bytes of `tempera sample --out`; see tempera.RunFolder. A run that was ended
        at any moment goes on with `resume=True` to the same bits: the same call makes the folder, goes on with it, or
        reads it if it is finished. Its answers have no `records`, which a run folder does not keep.

        Further arguments. What is left out is what `tempera sample --help` says. sampler, preset, powers, temperature,
        horizon (T; also max_tokens), block (B), rounds, local_moves, sweeps (one number or one for each stage),
        schedule ("adj" or "deo"), restart_weights, restart_range, output_rung, particles, most_tokens,
        samples (answers to each prompt), seed, stop, early_rejection, prefetch, confidence, auditable;
        repetition_penalty, frequency_penalty, presence_penalty, min_tokens, ignore_eos, top_k, min_p, top_p (of the samplers
        of single tokens: docs/reference/samplers.md);
        thinking, chat_template_kwargs (what the chat template of a conversation is given: docs/reference/chat_templates.md);
        ids (of the prompts, different ones); batch, under_way, cache_memory (how the work is laid
        out, which changes no answer) and checkpoint_seconds (how often a run folder is forced to the disk);
        progress (True, False, or None for a terminal alone).

        The same seed gives the same bits as `tempera sample`. Of several prompts without ids, number
        i draws as the prompt with the id "i" does. Ctrl-C ends the work after the forward pass that is
        under way. Raises BadInput, ModelError, DeviceError.
        """
        resume = _resumes(out, resume, wishes.pop("checkpoint_seconds", None) if out is None else None)
        if out is not None:
            return _into_folder(self, path("out", out), resume, _Wished("sample", prompts, dict(wishes), ("checkpoint_seconds",)))
        answers = list(_Sampling(self, prompts, dict(wishes)).run())
        return sorted(answers, key=lambda answer: (answer.prompt, answer.sample))

    @takes(Wishes)
    def iterate(self, prompts: Prompt | Iterable[Prompt], **wishes: Unpack[Wishes]) -> Iterator[Answer]:
        """The answers of sample(), each as soon as it is there. Leaving the loop ends the work."""
        return _Sampling(self, prompts, dict(wishes)).run()

    @takes(RunWishes)
    async def sample_async(
        self,
        prompts: Prompt | Iterable[Prompt],
        *,
        out: str | os.PathLike[str] | None = None,
        resume: bool = False,
        **wishes: Unpack[RunWishes],
    ) -> list[Answer]:
        """sample() for asyncio: other tasks run between the forward passes.

        Cancelling the task ends the work after the pass that is under way; with `out` what has been drawn is saved, and the
        folder can go on.
        """
        resume = _resumes(out, resume, wishes.pop("checkpoint_seconds", None) if out is None else None)
        if out is not None:
            wished = _Wished("sample_async", prompts, dict(wishes), ("checkpoint_seconds",))
            return await _into_folder_async(self, path("out", out), resume, wished)
        answers = [answer async for answer in _Sampling(self, prompts, dict(wishes)).run_async()]
        return sorted(answers, key=lambda answer: (answer.prompt, answer.sample))

    @takes(Wishes)
    async def iterate_async(self, prompts: Prompt | Iterable[Prompt], **wishes: Unpack[Wishes]) -> AsyncIterator[Answer]:
        """iterate() for asyncio. Cancelling the task ends the work after the pass that is under way."""
        async for answer in _Sampling(self, prompts, dict(wishes)).run_async():
            yield answer

    def serve(self, **wishes: Unpack[ServeWishes]) -> None:
        """Serves the model as `tempera serve` does, until Ctrl-C: tempera.Server(model, …).run(), with its arguments."""
        from tempera.server import Server

        Server(self, **wishes).run()


def require_model(model: Any) -> None:
    """Raises BadInput for anything but a Model."""
    if not isinstance(model, Model):
        raise errors.BadInput("model", f"{errors.shown(model)} is not a model", "give what tempera.Model.open returns")


def _download(name: str) -> None:
    """Downloads what is missing of a model of the Hugging Face Hub. Raises BadInput."""
    missing = native().missing_of_hub(name)
    if missing is None:
        return
    from tempera.hub_download import download

    try:
        download(*missing)
    except ImportError:
        raise errors.BadInput(name, "cannot be downloaded: huggingface_hub is not installed", "pip install huggingface_hub") from None
    except Exception as error:
        raise errors.BadInput(name, f"cannot be downloaded ({error})", "see the name, the network, HF_ENDPOINT and HF_TOKEN") from error


def _opened_again(name: str, arithmetic: str | None, device: str | None, rope_factors: str | None) -> Model:
    return Model.open(name, arithmetic=arithmetic, device=device, rope_factors=rope_factors)


def _resumes(out: Any, resume: Any, checkpoint_seconds: Any) -> bool:
    """True if a run is resumed. Raises BadInput for a wish about a run folder where there is none."""
    asked = truth("resume", resume)
    if out is None:
        for name, given in (("resume", asked), ("checkpoint_seconds", checkpoint_seconds is not None)):
            if given:
                raise errors.BadInput(name, "has no effect without out", "name the run folder with out=")
    return asked


def answer_of(news: News, prompt: int, confidence: bool) -> Answer:
    """The answer that a step has brought."""
    raw = news.answer
    return Answer(
        text=raw.text,
        tokens=tuple(raw.tokens),
        log_p0=raw.log_p0,
        log_p0_of_rungs=tuple(raw.log_p0_of_records),
        local_moves=tuple(Acceptance(*pair) for pair in raw.moves),
        swaps=tuple(Acceptance(*pair) for pair in raw.swaps),
        decode_tokens=raw.decode_tokens,
        finish_reason="stop" if raw.stopped else "terminal" if raw.terminated else "horizon",
        prompt=prompt,
        sample=news.sample,
        records=tuple(
            RungRecord(
                record.text, tuple(record.tokens), record.log_p0, record.terminated, record.confidence if confidence else None
            )
            for record in news.records
        ),
    )


class _Wished:
    """The request of a call: prompts with their ids, and its further arguments."""

    def __init__(self, call: str, prompts: Any, wishes: dict[str, Any], more_layout: Iterable[str] = ()) -> None:
        layout = (*LAYOUT, *more_layout)
        check_names(wishes, (*layout, *SAMPLER, "thinking", "chat_template_kwargs", "progress", "ids"), call)
        listed: Iterable[Prompt] = [prompts] if is_one(prompts) else list(prompts)
        self.layout = checked(wishes, layout)
        self.sampler = checked(wishes, SAMPLER)
        further = checked(wishes, ("thinking", "chat_template_kwargs", "progress"))
        self.chat_arguments = chat_arguments(further.get("thinking"), further.get("chat_template_kwargs"))
        self.prompts = [raw_prompt(prompt) for prompt in listed]
        self.ids: list[str | None] = [None] if len(self.prompts) == 1 else [str(number) for number in range(len(self.prompts))]
        if wishes.get("ids") is not None:
            self.ids = several("ids", wishes["ids"], identity, "['a', 'b']")
            if len(self.ids) != len(self.prompts) or len(set(self.ids)) != len(self.ids):
                raise errors.BadInput("ids", "are not one for each prompt, all different")
        self.total = len(self.prompts) * int(self.sampler.get("samples", 1))
        self.is_shown: bool = further.get("progress", sys.stderr.isatty())


def _into_folder(
    model: Model, folder: str, resume: bool, wished: _Wished, is_left: Callable[[], bool] = lambda: False
) -> list[Answer]:
    """Draws a run folder, or what is left of it, and reads its answers. After each pass `is_left` may end it."""
    from tempera.run_folder import RunFolder

    bar = _bar(wished.total) if wished.is_shown else None
    try:
        _draw_run(model, folder, resume, wished, (lambda: bar.update(1)) if bar is not None else (lambda: None), is_left)
    finally:
        if bar is not None:
            bar.close()
    return RunFolder(folder).answers()


async def _into_folder_async(model: Model, folder: str, resume: bool, wished: _Wished) -> list[Answer]:
    """The same in a thread, which a cancelled task ends and waits for: the folder is then free."""
    left = threading.Event()
    work = asyncio.get_running_loop().run_in_executor(None, lambda: _into_folder(model, folder, resume, wished, left.is_set))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        left.set()
        await asyncio.wait({work})
        if not work.cancelled():
            work.exception()  # nobody waits for it
        raise


def draw_into(
    model: Model, prompts: Iterable[Prompt], folder: str, answered: Callable[[], None], **wishes: Unpack[RunWishes]
) -> None:
    """Makes a run folder, or resumes it; `answered` is called as each answer is there. For tempera.eval."""
    wished = _Wished("draw_into", prompts, dict(wishes), ("checkpoint_seconds",))
    _draw_run(model, folder, True, wished, answered, lambda: False)


def _draw_run(
    model: Model, folder: str, resume: bool, wished: _Wished, answered: Callable[[], None], is_left: Callable[[], bool]
) -> None:
    if not wished.prompts:
        raise errors.BadInput("prompts", "are none", "give at least one")
    if not resume and os.path.exists(os.path.join(folder, "config.json")):
        raise errors.BadInput(folder, "exists already, and a run folder is never overwritten", "give another, or resume=True")
    if model._rows is not None and model._rows.unstable and os.path.exists(os.path.join(folder, "config.json")) and not os.path.exists(os.path.join(folder, "summary.json")):
        raise errors.BadInput(folder, f"holds a run that cannot be resumed with these bits: {model._rows.unstable}", "or draw it again in another folder")
    model._native.draw_run(
        model._opened, model.name, folder, resume, wished.prompts, wished.ids, wished.chat_arguments, wished.sampler, answered,
        is_left, **wished.layout,
    )  # fmt: skip


class _Sampling:
    """The work of one call: a session of its own, and what its news mean."""

    def __init__(self, model: Model, prompts: Any, wishes: dict[str, Any]) -> None:
        wished = _Wished("sample", prompts, wishes)
        self.session = model._native.CollectingSession(model._opened, **wished.layout)
        self.confidence = bool(wished.sampler.get("confidence"))
        self.prompt_of: dict[int, int] = {}
        for number, (prompt, identity) in enumerate(zip(wished.prompts, wished.ids, strict=True)):
            self.prompt_of[self.session.submit(prompt, identity, wished.chat_arguments, wished.sampler)] = number
        self.bar = _bar(wished.total) if wished.is_shown else None

    def __enter__(self) -> _Sampling:
        return self

    def __exit__(self, *_: object) -> None:
        for request in self.prompt_of:
            self.session.cancel(request)
        if self.bar is not None:
            self.bar.close()

    def run(self) -> Iterator[Answer]:
        """Steps until all answers are there."""
        with self:
            more = True
            while more:
                more = self.session.step()
                yield from self.take()

    async def run_async(self) -> AsyncIterator[Answer]:
        """The same; other tasks run between the steps."""
        with self:
            more = True
            while more:
                more = await asyncio.to_thread(self.session.step)
                for answer in self.take():
                    yield answer

    def take(self) -> Iterator[Answer]:
        """The answers of the last step. Raises what a sample failed of."""
        for news in self.session.take_news():
            if news.kind == "failure":
                raise getattr(errors, news.error)(news.text)
            if news.kind != "answer":
                continue
            if self.bar is not None:
                self.bar.update(1)
            yield answer_of(news, self.prompt_of[news.request], self.confidence)


def _bar(total: int) -> Any:
    """A progress bar: tqdm's if it is installed, else a line of our own on stderr."""
    try:
        from tqdm.auto import tqdm  # type: ignore[import-untyped]
    except ImportError:
        return _Line(total)
    return tqdm(total=total, unit="answer")


class _Line:
    """How many answers are there, on one line of stderr."""

    def __init__(self, total: int) -> None:
        self.total, self.done = total, 0

    def update(self, more: int) -> None:
        self.done += more
        print(f"\r{self.done} of {self.total} answers", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self.done:
            print(file=sys.stderr)
