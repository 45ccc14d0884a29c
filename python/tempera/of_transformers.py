"""Models of transformers: what Model.from_transformers makes of a PreTrainedModel and its tokenizer.

The keys and values of rows that were computed together stay together, in the tensors of that batch (_Segment): a row's
last slots, so that the distance of two slots is that of their tokens, whatever a model's mask does with it. Rows that continue
together are computed where they are; others are gathered into tensors of their own. A fork is a row that ends earlier.
"""

from __future__ import annotations

import copy
import datetime
import inspect
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch  # type: ignore[import-not-found, unused-ignore]

from tempera.called import LARGEST_VOCABULARY, CalledText, NamedTokens, Pass, Rows, terminal_tokens, tokens_of
from tempera.errors import BadInput, shown
from tempera.wishes import not_empty, text, whole

#: How a forward pass names the cache that it takes and gives, from release to release.
_CACHE_NAMES = ("cache", "past_key_values", "cache_params", "state")


class _Forward:
    """Calls a model: token numbers and what is kept of those before them, to the logits of the last position."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.device = model.device
        self.dtype = model.dtype
        names = inspect.signature(model.forward).parameters
        self.cache_name = next((name for name in _CACHE_NAMES if name in names), None)
        self.takes_padding = "attention_mask" in names and "position_ids" in names
        self._takes_mask = "attention_mask" in names
        self._last_alone = {"logits_to_keep": 1} if "logits_to_keep" in names else {}

    def __call__(self, tokens: Any, cache: Any = None, mask: Any = None, positions: Any = None) -> tuple[Any, Any]:
        """tokens: [rows, new]. Returns logits [rows, |V|] and the cache after them, or None."""
        given: dict[str, Any] = dict(self._last_alone)
        if self.cache_name is not None:
            given["use_cache"] = True
            if cache is not None:
                given[self.cache_name] = cache
        if mask is not None and self._takes_mask:
            given["attention_mask"] = mask
        if positions is not None:
            given["position_ids"] = positions
        with torch.inference_mode():
            out = self._model(input_ids=tokens, return_dict=True, **given)
            kept = next((found for name in _CACHE_NAMES if (found := getattr(out, name, None)) is not None), None)
            return out.logits[:, -1], kept

    def tensor(self, numbers: Any, kind: Any = torch.long) -> Any:
        """Numbers of the host on the model's device."""
        return torch.as_tensor(numbers, dtype=kind).to(self.device)


class _RowsOfModel:
    """Writes logits to the memory of a pass, whatever is kept between passes."""

    bytes_per_token = 0

    def __init__(self, forward: _Forward, size: int, unstable: str) -> None:
        self.forward = forward
        self.unstable = unstable
        self._size = size

    def __call__(self, ended: Sequence[int], passes: Sequence[Pass], memory: memoryview) -> None:
        self.forget(ended)
        for rows, logits in self.computed(passes):
            if logits.shape[-1] != self._size:
                raise BadInput("model", f"gave {logits.shape[-1]} logits for {self._size} tokens", "do not resize a model that is open")
            out = np.frombuffer(memory, np.float32).reshape(len(passes), self._size)
            to = torch.from_numpy(out)
            try:
                # One copy from where torch has the logits to where the draw reads them, the type changed on the way.
                if rows == list(range(len(passes))):
                    to.copy_(logits)
                else:
                    to[torch.as_tensor(rows)] = logits.to("cpu", torch.float32)
            finally:
                del to, out

    def forget(self, ended: Sequence[int]) -> None:
        """Drops what is kept of states that have ended."""

    def computed(self, passes: Sequence[Pass]) -> Any:
        """Yields the numbers of rows with their logits, [rows, |V|], until all have theirs."""
        raise NotImplementedError


class FreshRows(_RowsOfModel):
    """Computes each row alone, from its first token on: its bits depend on its tokens and on nothing else."""

    def computed(self, passes: Sequence[Pass]) -> Any:
        for row, (_, _, packed, _) in enumerate(passes):
            yield [row], self.forward(self.forward.tensor([tokens_of(packed)]))[0]


@dataclass(eq=False)
class _Segment:
    """Keys and values of rows that were computed in one batch. Row r of length n has the last n slots."""

    cache: Any
    width: int  #: slots
    rows: int
    live: set[int] = field(default_factory=set)  #: numbers of the states that are in it
    number: int = field(default_factory=itertools.count().__next__)  #: of all, in the order in which they were made


@dataclass
class _Row:
    segment: _Segment
    index: int
    length: int  #: tokens


class AttentionRows(_RowsOfModel):
    """Rows of a model whose cache is keys and values of every token: cropped by leaving slots out, padded on the left."""

    def __init__(self, forward: _Forward, size: int, unstable: str, layers: int) -> None:
        super().__init__(forward, size, unstable)
        self._layers = layers
        self._states: dict[int, _Row] = {}
        self._thinned: set[_Segment] = set()

    def forget(self, ended: Sequence[int]) -> None:
        for number in ended:
            self._drop(number)
        for segment in self._thinned:
            if 0 < len(segment.live) <= segment.rows // 2:
                self._compact(segment)
        self._thinned.clear()

    def _drop(self, number: int) -> None:
        row = self._states.pop(number, None)
        if row is not None:
            row.segment.live.discard(number)
            self._thinned.add(row.segment)

    def _compact(self, segment: _Segment) -> None:
        """Moves the rows that are left to tensors of their own, so that the others' memory is free."""
        numbers = sorted(segment.live)
        rows = [self._states[number] for number in numbers]
        width = max(row.length for row in rows)
        gathered = self._gathered([(row, row.length) for row in rows], width)
        for index, number in enumerate(numbers):
            self._states[number] = _Row(gathered, index, rows[index].length)
        gathered.live.update(numbers)

    def computed(self, passes: Sequence[Pass]) -> Any:
        groups: dict[int, list[int]] = {}
        for row, (_, _, packed, new) in enumerate(passes):
            if not packed:
                raise BadInput("prompt", "the prompt has no token", "give a prompt of at least one token")
            # The logits after the last token that is kept: it is computed again.
            groups.setdefault(max(new, 1) if self._begins(passes[row]) else len(packed) // 4, []).append(row)
        for new, rows in groups.items():
            yield self._forward_group(passes, rows, new)

    def _begins(self, one: Pass) -> bool:
        """True if the state that a pass begins from is here."""
        _, source, packed, new = one
        known = self._states.get(source)
        return known is not None and known.length >= len(packed) // 4 - max(new, 1)

    def _forward_group(self, passes: Sequence[Pass], rows: list[int], new: int) -> tuple[list[int], Any]:
        def place(row: int) -> tuple[int, int]:
            source = self._states.get(passes[row][1])
            return (-1, row) if source is None else (source.segment.number, source.index)

        rows = sorted(rows, key=place)
        numbers = [passes[row][0] for row in rows]
        lengths = [len(passes[row][2]) // 4 for row in rows]
        kept = [length - new for length in lengths]
        tokens = np.stack([np.frombuffer(passes[row][2], np.uint32)[length - new :] for row, length in zip(rows, lengths, strict=True)])
        width = max(kept)
        before = None
        if width > 0:
            sources = [self._states[passes[row][1]] if here > 0 else None for row, here in zip(rows, kept, strict=True)]
            before = self._in_place([passes[row][1] for row in rows], numbers, sources, kept)
            if before is None:
                before = self._gathered([(source, here) for source, here in zip(sources, kept, strict=True)], width)
        mask = positions = None
        if min(kept) != width:
            slots = torch.arange(width + new)
            mask = self.forward.tensor(slots[None, :] >= torch.tensor([width - here for here in kept])[:, None])
            positions = self.forward.tensor(np.array(kept)[:, None] + np.arange(new))
        if before is not None:
            # Whatever comes of the pass, its tensors are no longer those of the states before it.
            for number in before.live.copy():
                self._drop(number)
        kept_before = _new_cache() if before is None else before.cache
        logits, cache = self.forward(self.forward.tensor(tokens.astype(np.int64)), kept_before, mask, positions)
        after = _Segment(cache, width + new, len(rows))
        if self.bytes_per_token == 0:
            self.bytes_per_token = self._checked_bytes(after)
        for index, (number, length) in enumerate(zip(numbers, lengths, strict=True)):
            self._drop(number)
            self._states[number] = _Row(after, index, length)
            after.live.add(number)
        return rows, logits

    def _checked_bytes(self, segment: _Segment) -> int:
        """The bytes of a token, if the cache is keys and values of every slot."""
        tensors = [tensor for layer in segment.cache.layers for tensor in (layer.keys, layer.values)]
        if len(segment.cache.layers) != self._layers or any(tensor.dim() != 4 or tensor.shape[::2] != (segment.rows, segment.width) for tensor in tensors):
            raise ValueError("a cache of another kind")
        return sum(tensor.shape[1] * tensor.shape[3] * tensor.element_size() for tensor in tensors)

    @staticmethod
    def _in_place(sources: list[int], numbers: list[int], rows: Sequence[_Row | None], kept: list[int]) -> _Segment | None:
        """The segment that these rows are, and nothing else is: it is written to as it is."""
        first = rows[0]
        if first is None or sources != numbers or first.segment.rows != len(rows) or first.segment.width != max(kept):
            return None
        for index, (row, here) in enumerate(zip(rows, kept, strict=True)):
            if row is None or row.segment is not first.segment or row.index != index or row.length != here:
                return None
        return first.segment

    def _gathered(self, rows: Sequence[tuple[_Row | None, int]], width: int) -> _Segment:
        """A segment of the first tokens of rows, as many as each says, in their order."""
        of_segments: dict[int, list[int]] = {}
        for index, (row, here) in enumerate(rows):
            if row is not None and here > 0:
                of_segments.setdefault(id(row.segment), []).append(index)
        parts = []
        for indices in of_segments.values():
            taken = [rows[index] for index in indices]
            segment = taken[0][0].segment  # type: ignore[union-attr]
            # Slot s of the new row is slot s - (width - here) of its tokens, which begin at slot (wide - length).
            begins = [segment.width - row.length - (width - here) for row, here in taken if row is not None]
            index = self.forward.tensor([row.index for row, _ in taken if row is not None])
            parts.append((indices, segment, index, begins))
        cache = _new_cache()
        for layer in range(self._layers):
            pair = []
            for name in ("keys", "values"):
                whole_rows = None
                for indices, segment, index, begins in parts:
                    old = getattr(segment.cache.layers[layer], name)
                    index = index.to(old.device)
                    if min(begins) == max(begins) and begins[0] >= 0:
                        taken = old.index_select(0, index)[:, :, begins[0] : begins[0] + width]
                    else:
                        slots = (torch.tensor(begins)[:, None] + torch.arange(width)).clamp(0, segment.width - 1).to(old.device)
                        taken = old[index[:, None], :, slots].transpose(1, 2)
                    if len(indices) == len(rows):
                        whole_rows = taken
                        break
                    if whole_rows is None:
                        whole_rows = old.new_zeros((len(rows), old.shape[1], width, old.shape[3]))
                    whole_rows[torch.tensor(indices, device=old.device)] = taken
                pair.append(whole_rows)
            _add_layer(cache, *pair)
        return _Segment(cache, width, len(rows))


def _new_cache() -> Any:
    from transformers import DynamicCache  # type: ignore[import-not-found, unused-ignore]

    return DynamicCache()


def _add_layer(cache: Any, keys: Any, values: Any) -> None:
    from transformers.cache_utils import DynamicLayer  # type: ignore[import-not-found, unused-ignore]

    layer = DynamicLayer()  # type: ignore[no-untyped-call, unused-ignore]
    layer.lazy_initialization(keys, values)
    layer.keys, layer.values = keys, values
    cache.layers.append(layer)


#: The most tokens that a recurrent model computes one by one after a cache. Several at once are not for all models what they
#: are one by one (Mamba's convolution in transformers 5), so more are computed anew with what is before them.
_MOST_STEPS = 16


@dataclass(eq=False)
class _Recurrent:
    """The cache of a recurrent or hybrid model after a prefix, and the logits there."""

    cache: Any
    length: int
    logits: Any
    users: int = 1  #: states that are this one


class RecurrentRows(_RowsOfModel):
    """Rows of a model whose cache cannot be cropped: it is copied where a fork begins, or the prefix is computed anew. Each
    row is computed alone: such models do not all take padding."""

    def __init__(self, forward: _Forward, size: int, unstable: str) -> None:
        super().__init__(forward, size, unstable)
        self._states: dict[int, _Recurrent] = {}

    def forget(self, ended: Sequence[int]) -> None:
        for number in ended:
            self._drop(number)

    def _drop(self, number: int) -> None:
        state = self._states.pop(number, None)
        if state is not None:
            state.users -= 1

    def computed(self, passes: Sequence[Pass]) -> Any:
        # Forks first: what they begin from is then not yet further than they are.
        for row in sorted(range(len(passes)), key=lambda row: passes[row][0] == passes[row][1]):
            own, source, packed, new = passes[row]
            tokens = tokens_of(packed)
            known = self._states.get(source)
            if known is not None and known.length == len(tokens) and new == 0:
                if source != own:
                    self._drop(own)
                    known.users += 1
                    self._states[own] = known
                yield [row], known.logits
                continue
            begins = known is not None and 0 < new <= _MOST_STEPS and known.length == len(tokens) - new
            cache = None
            if known is not None and begins:
                # A pass writes to it, also one that fails.
                cache = known.cache if source == own and known.users == 1 else copy.deepcopy(known.cache)
            self._drop(own)
            pieces = [[one] for one in tokens[len(tokens) - new :]] if begins else [tokens]
            for piece in pieces:
                logits, cache = self.forward(self.forward.tensor([piece]), cache)
            self._states[own] = _Recurrent(cache, len(tokens), logits)
            yield [row], logits


def _require_model(model: Any) -> None:
    if type(model).__module__.partition(".")[0] == "vllm":
        raise BadInput("model", "is vLLM's", "open the same folder with tempera.Model.open or transformers: docs/howto/python_models.md says why")
    for name in ("forward", "config", "get_output_embeddings", "device"):
        if not hasattr(model, name):
            raise BadInput("model", f"{type(model).__name__} is not a PreTrainedModel of transformers", "give one, or tempera.Model.from_callable")
    if getattr(model.config, "is_encoder_decoder", False):
        raise BadInput("model", f"{type(model).__name__} has an encoder and a decoder", "give a decoder alone, such as AutoModelForCausalLM opens")
    if model.get_output_embeddings() is None:
        raise BadInput("model", f"{type(model).__name__} gives no logits of tokens", "open it with AutoModelForCausalLM")
    if model.training:
        raise BadInput("model", "is in training mode, in which dropout changes every pass", "call model.eval()")


def _rows_of(model: Any, cache: str, digest: str | None) -> tuple[Rows, int]:
    """The rows of a model, and the size of its vocabulary: of the ways to keep a cache the fastest that a probe finds right."""
    forward = _Forward(model)
    logits, kept = forward(forward.tensor([[0, 0, 0]]))
    size = whole("model, its vocabulary", int(logits.shape[-1]), 1, LARGEST_VOCABULARY)
    if cache == "auto" and kept is not None and forward.cache_name is not None:
        layers = getattr(kept, "layers", [])
        is_attention = forward.takes_padding and layers and all(_is_attention(layer) for layer in layers)
        ways = [AttentionRows(forward, size, _UNSTABLE, len(layers))] if is_attention else []
        for rows in (*ways, RecurrentRows(forward, size, _UNSTABLE)):
            try:
                if _is_right(rows, forward, size):
                    return rows, size
            except (TypeError, ValueError, AttributeError, IndexError, RuntimeError):
                pass  # a cache of the model's own kind, or one that takes no tokens after the first
    return FreshRows(forward, size, "" if digest is not None else _NEEDS_DIGEST), size


def _is_right(rows: Rows, forward: _Forward, size: int) -> bool:
    """True if rows after a cache, and after a fork of it, are those of a fresh pass as far as rounding can tell."""
    whole_row = [number * 7 % size for number in range(1, 8)]
    memory = np.zeros((1, size), np.float32)

    def after(own: int, source: int, tokens: list[int], new: int) -> Any:
        rows([], [(own, source, np.array(tokens, np.uint32).tobytes(), new)], memoryview(memory).cast("B"))  # type: ignore[arg-type, unused-ignore]
        return memory[0].copy()

    found = []
    after(1, 0, whole_row[:3], 3)
    after(2, 1, whole_row[:4], 1)
    found.append((after(1, 1, whole_row, 4), whole_row))
    found.append((after(2, 2, [*whole_row[:4], *whole_row[:2]], 2), [*whole_row[:4], *whole_row[:2]]))
    found.append((after(3, 2, whole_row[:5], 1), whole_row[:5]))
    rows([1, 2, 3], [], memoryview(b""))
    rounding = 2.0**-13 if forward.dtype in (torch.float32, torch.float64) else 2.0**-4
    for row, tokens in found:
        expected = forward(forward.tensor([tokens]))[0][0].float().cpu().numpy()
        if not np.abs(row - expected).max() <= rounding * np.abs(expected).max():
            return False
    return True


_UNSTABLE = "torch's bits depend on what was computed beside a row and kept before it; open the model with cache='fresh' and digest="
_NEEDS_DIGEST = "a model of transformers does not say which weights it has; give digest="


def _is_attention(layer: Any) -> bool:
    return type(layer).__name__ in ("DynamicLayer", "DynamicSlidingWindowLayer")


def _clock(date: Any) -> Any:
    """Returns the function that a chat template calls for the date. Raises BadInput for another text."""
    try:
        return datetime.datetime.fromisoformat(date).strftime
    except (TypeError, ValueError):
        raise BadInput("chat_template_kwargs.strftime_now", f"{shown(date)} is not a date", 'give a text such as "2026-11-28"') from None


class _TokenizerText(CalledText):
    def __init__(self, tokenizer: Any, size: int) -> None:
        def chat(messages: list[dict[str, str]], **arguments: Any) -> Any:
            if "strftime_now" in arguments:
                arguments["strftime_now"] = _clock(arguments["strftime_now"])
            from jinja2 import TemplateError  # type: ignore[import-not-found, unused-ignore]  # apply_chat_template needs it too

            try:
                found = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=True, return_dict=False, **arguments)
            except TemplateError as error:
                raise BadInput("messages", f"the model's chat template refuses them ({error})", "give what the template takes") from None
            return found[0] if found and isinstance(found[0], list) else found

        def decode(tokens: list[int]) -> Any:
            return tokenizer.decode(tokens, skip_special_tokens=False, clean_up_tokenization_spaces=False)

        super().__init__(
            lambda given: tokenizer(given)["input_ids"], decode, chat if getattr(tokenizer, "chat_template", None) else None, size
        )  # fmt: skip


def _described(model: Any) -> str:
    device = model.device
    name = str(device)
    if device.type == "cuda":
        name += f" ({torch.cuda.get_device_name(device)})"
    return f"torch {torch.__version__} on {name}, {str(model.dtype).removeprefix('torch.')}"


def open_transformers(native: Any, model: Any, tokenizer: Any, terminal: Any, positions: Any, cache: Any, digest: Any) -> tuple[Any, Rows]:
    """The compiled half of a model of transformers, and its rows. Raises BadInput."""
    _require_model(model)
    if text("cache", cache) not in ("auto", "fresh"):
        raise BadInput("cache", f"{shown(cache)} is not known", 'give "auto" or "fresh"')
    if tokenizer is not None and not (callable(tokenizer) and hasattr(tokenizer, "decode")):
        raise BadInput("tokenizer", f"{shown(tokenizer)} is not a tokenizer of transformers", "give what AutoTokenizer.from_pretrained returns")
    given_digest = None if digest is None else not_empty("digest", digest)
    rows, size = _rows_of(model, cache, given_digest)
    config = model.config.get_text_config() if hasattr(model.config, "get_text_config") else model.config
    if terminal is None:
        generation = getattr(model, "generation_config", None)
        terminal = next(
            (found for place in (generation, config, tokenizer) if (found := getattr(place, "eos_token_id", None)) is not None), []
        )
    if positions is None:
        positions = next((found for name in ("max_position_embeddings", "n_positions") if (found := getattr(config, name, None))), 0)
    if tokenizer is None:
        plain = NamedTokens(None, size)
        texts: CalledText = CalledText(plain.encode, plain.decode, None, size)
    else:
        texts = _TokenizerText(tokenizer, size)
    opened = native.OpenedModel.called(
        rows, texts, size, terminal_tokens(terminal, size), whole("positions", positions), False, rows.bytes_per_token,
        _described(model), given_digest,
    )  # fmt: skip
    return opened, rows
