"""The finite model as a model and a tokenizer of Hugging Face transformers, so that generate() and what is built on it run
as they do on a real model.

Token numbers 0 to V - 1 are the vocabulary's; V is the token before the first (bos) and V + 1 pads: neither ever follows.
After a terminal token the model repeats it: what a program does with an answer that has ended is its own affair.
"""
import copy
import inspect
from collections.abc import Mapping

import torch
from transformers import DynamicCache, GenerationConfig, PretrainedConfig, PreTrainedModel, PreTrainedTokenizerFast
from transformers.generation import GenerationMixin
from transformers.modeling_outputs import CausalLMOutputWithPast
from transformers.utils import ModelOutput

from . import lab, seeding
from .repeated_calls import RepeatedCalls


class FiniteModelConfig(PretrainedConfig):
    model_type = "tempera_finite_model"

    def __init__(self, vocab_size=2, **named):
        self.num_hidden_layers = self.num_attention_heads = self.num_key_value_heads = self.hidden_size = 1
        self.head_dim = 1
        self.max_position_embeddings = 1 << 20
        self.vocab_size = vocab_size
        super().__init__(**named)


class CausalLM(PreTrainedModel, GenerationMixin):
    """p0 of a tempera.check.Model. Its cache holds the tokens themselves, so that any cache operation keeps it right."""

    config_class = FiniteModelConfig
    base_model_prefix = "model"
    _supports_cache_class = True
    _no_split_modules = []

    def __init__(self, model):
        size = len(model.vocabulary)
        named = {"bos_token_id": size, "pad_token_id": size + 1, "eos_token_id": _one(model.terminal)}
        config = FiniteModelConfig(size + 2, **named)
        super().__init__(config)
        self._rows, self._model = {}, model
        self._parameter = torch.nn.Parameter(torch.zeros(1), requires_grad=False)  # tells device and dtype
        self.generation_config = GenerationConfig(**named)
        self.eval()
        self._answers, self._own = RepeatedCalls(_copied, _is_same), None
        self._own = set(vars(self))

    def generate(self, *arguments, **named):
        """transformers' own; with the same plain input and the same draws a third time it returns what it did before.

        What is not plain (processors, stopping criteria, streamers, caches) runs every time, and so does a model that
        the program has changed.
        """
        own = super().generate
        if lab.walk is None or seeding.own:
            return own(*arguments, **named)
        try:
            key = _plain([arguments, named, vars(self.generation_config), vars(self.config)])
        except _NotPlain:
            return own(*arguments, **named)
        if self._is_changed():
            return own(*arguments, **named)
        return self._answers.call(key, lambda: own(*arguments, **named))

    def _is_changed(self):
        return (type(self) is not CausalLM or set(vars(self)) != self._own or self.training or bool(
            self._forward_hooks or self._forward_pre_hooks) or any(
            getattr(CausalLM, name, None) is not own for name, own in _UNCHANGED.items()))

    def _init_weights(self, module):
        pass

    def get_input_embeddings(self):
        return None

    @classmethod
    def can_generate(cls):
        return True

    if any(p.kind is p.VAR_POSITIONAL for p in
           inspect.signature(GenerationMixin.prepare_inputs_for_generation).parameters.values()):
        # Older releases leave it to each model.
        def prepare_inputs_for_generation(self, input_ids, past_key_values=None, attention_mask=None, use_cache=None, **_):
            known = 0 if past_key_values is None else past_key_values.get_seq_length()
            return {"input_ids": input_ids[:, known:], "past_key_values": past_key_values,
                    "attention_mask": attention_mask, "use_cache": use_cache}

    def row(self, prefix):
        """log p0(. | prefix), and -inf for the two tokens that never follow."""
        row = self._rows.get(prefix)
        if row is None:
            ended = next((i for i, token in enumerate(prefix) if token in self._model.terminal), None)
            if ended is not None:
                logits = [0.0 if v == prefix[ended] else float("-inf") for v in range(len(self._model.vocabulary))]
            else:
                logits = self._model.logits(prefix)
            row = self._rows[prefix] = torch.tensor(logits + 2 * [float("-inf")])
        return row

    def forward(self, input_ids=None, attention_mask=None, past_key_values=None, use_cache=None, labels=None,
                logits_to_keep=0, return_dict=None, cache=None, **others):
        """@return logits of float32, one row for each token of input_ids; tokens that the mask hides are not seen

        The cache is `cache` since transformers 5.24, and `past_key_values` in older releases.
        """
        if input_ids is None:
            raise ValueError("tempera.check.CausalLM takes input_ids, not embeddings")
        for name, value in others.items():
            if value is not None and name not in _WITHOUT_EFFECT:
                raise lab.Refused(f"tempera.check.CausalLM does not know what {name} is to change: leave it out")
        if cache is None:
            cache = past_key_values
        if cache is None and use_cache:
            cache = DynamicCache()
        tokens = input_ids
        if cache is not None:
            keys = input_ids.to(torch.float32)[:, None, :, None]
            keys, _ = cache.update(keys, keys, 0)
            tokens = keys[:, 0, :, 0].round().long()
            if tokens.shape[1] != cache.get_seq_length():
                raise lab.Refused(f"a {type(cache).__name__} holds {tokens.shape[1]} places for {int(cache.get_seq_length())} "
                                "tokens, and tempera.check.CausalLM takes caches that hold the tokens alone: use a DynamicCache")
        length, fresh = tokens.shape[1], input_ids.shape[1]
        hidden = None
        if attention_mask is not None:
            if attention_mask.dim() != 2:
                raise lab.Refused("tempera.check.CausalLM takes an attention_mask of two dimensions, a row for each text, not of "
                                f"{attention_mask.dim()}")
            hidden = attention_mask[:, :length].tolist()
        first_unseen = len(self._model.vocabulary)
        rows = []
        for i, line in enumerate(tokens.tolist()):
            prefix = [token for t, token in enumerate(line[:length - fresh])
                      if token < first_unseen and (hidden is None or hidden[i][t])]
            of_line = []
            for t in range(length - fresh, length):
                if line[t] < first_unseen and (hidden is None or hidden[i][t]):
                    prefix.append(line[t])
                of_line.append(self.row(tuple(prefix)))
            rows.append(torch.stack(of_line))
        logits = torch.stack(rows).to(input_ids.device)
        if isinstance(logits_to_keep, int) and logits_to_keep > 0:
            logits = logits[:, -logits_to_keep:]
        return CausalLMOutputWithPast(logits=logits, **{_CACHE: cache})


# The name of the cache in what a model returns.
_CACHE = "cache" if "cache" in CausalLMOutputWithPast.__dataclass_fields__ else "past_key_values"
# What generate() tells a model, and a table of rows does not ask for.
_WITHOUT_EFFECT = {"position_ids", "cache_position", "token_type_ids", "mm_token_type_ids", "num_logits_to_keep", "output_attentions",
                   "output_hidden_states"}
# What generate() runs by. A program that puts its own there sees every call.
_UNCHANGED = {name: getattr(CausalLM, name, None) for name in (
    "forward", "__call__", "_sample", "sample", "greedy_search", "prepare_inputs_for_generation", "_get_logits_processor",
    "_get_logits_warper", "_get_stopping_criteria", "_update_model_kwargs_for_generation")}


class _NotPlain(Exception):
    pass


def _plain(value):
    """A key that tells values of numbers, texts and tensors apart. @raise _NotPlain for any other"""
    kind = type(value)
    if kind in _ATOMS or kind in (int, float, torch.dtype, torch.device):
        return kind.__name__, value
    if kind is torch.Tensor:
        return str(value.dtype), tuple(value.shape), tuple(value.reshape(-1).tolist())
    if kind in (list, tuple, set):
        return kind.__name__, tuple(_plain(one) for one in value)
    if isinstance(value, Mapping):
        return kind.__name__, tuple(value), tuple(one if type(one) in _ATOMS else _plain(one) for one in value.values())
    if isinstance(value, (GenerationConfig, PretrainedConfig)):
        return kind.__name__, _plain(vars(value))
    raise _NotPlain


_ATOMS = (str, type(None), bool)


def _copied(value):
    """An answer of generate() that the program may change."""
    if type(value) is torch.Tensor:
        return value.clone()
    if type(value) in (list, tuple):
        return type(value)(map(_copied, value))
    if isinstance(value, ModelOutput):
        return type(value)(**{key: _copied(one) for key, one in value.items()})
    return copy.deepcopy(value)


def _is_same(a, b):
    """True if two answers of generate() have the same numbers; caches are not compared."""
    if isinstance(a, torch.Tensor):
        return isinstance(b, torch.Tensor) and torch.equal(a, b)
    if isinstance(a, Mapping):
        return isinstance(b, Mapping) and a.keys() == b.keys() and all(_is_same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return isinstance(b, (list, tuple)) and len(a) == len(b) and all(map(_is_same, a, b))
    return True


class Tokenizer(PreTrainedTokenizerFast):
    """Texts as a real model has them: decoding joins the words of the vocabulary, and encoding cuts a text into as few words
    as it can, so that tokens that join to another one do not come back. White space only divides texts; <bos> is
    the token before the first, and <pad> pads.
    """

    def __init__(self, model):
        from tokenizers import AddedToken, decoders, models, pre_tokenizers
        from tokenizers import Tokenizer as Words

        size = len(model.vocabulary)
        tokenizer = Words(models.Unigram([(word, -1.0) for word in (*model.vocabulary, "<bos>", "<pad>")], size, False))
        tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        tokenizer.decoder = decoders.Fuse()
        # A terminal token that is a part of another word is cut out of no text.
        end = AddedToken(model.vocabulary[model.terminal[0]], single_word=True, normalized=False) if model.terminal else None
        super().__init__(tokenizer_object=tokenizer, bos_token="<bos>", pad_token="<pad>", unk_token="<bos>", eos_token=end,
                         clean_up_tokenization_spaces=False)


def _one(terminal):
    return None if not terminal else terminal[0] if len(terminal) == 1 else list(terminal)
