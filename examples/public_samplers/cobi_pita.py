"""PITA (github.com/cobi-inc/pita) over the finite model: its power sampling and its SMC, on its llama.cpp back end.

The back end's own loop runs; the library below it, llama_cpp, is stood in for by a model of the same calls.
"""
import types

import numpy
from checkout import block_of, checkout, module_named, setting, stand_in_for

checkout()
stand_in_for("redis", "psutil", "pynvml", "datasets", "pandas")
module_named("llama_cpp", Llama=object, LogitsProcessorList=list)
module_named("pita.utils.system_utils", get_total_vram=lambda: 0, get_gpu_vram_usage_mb=lambda: 0)

from pita.inference import llama_cpp_backend  # noqa: E402
from pita.inference.LLM_backend import Sampling_Params  # noqa: E402
from pita.sampling.power_sample import Power_Sampling  # noqa: E402
from pita.sampling.smc import Sequential_Monte_Carlo  # noqa: E402


class Llama:
    """The calls of llama_cpp.Llama that the back end makes: logits of a prefix, and tokens at a temperature."""

    def __init__(self, model):
        self._model, self._tokens = model, []
        self.scores = numpy.zeros((4 * model.horizon + 4, len(model.vocabulary)), dtype=numpy.single)

    def reset(self):
        self._tokens = []

    def tokenize(self, text):
        return [self._model.vocabulary.index(word) for word in text.decode().split()]

    def token_eos(self):
        return self._model.terminal[0] if self._model.terminal else -1

    @property
    def n_tokens(self):
        return len(self._tokens) + 1  # and the one before the first

    def eval(self, tokens):
        self._tokens += tokens

    def generate(self, _, temp, logits_processor, top_p, top_k, min_p, **other):
        if (top_p, min_p) != (1.0, 0.0) or top_k > 0:
            raise ValueError("only a whole proposal is stood in for")
        while True:
            logits = numpy.array(self._row(), dtype=numpy.single)
            self.scores[self.n_tokens - 1] = logits
            for processor in logits_processor:
                logits = processor(numpy.array(self._tokens, dtype=numpy.intc), logits)
            weights = numpy.exp((logits - logits.max()) / temp, dtype=numpy.float64)
            token = int(numpy.random.choice(len(weights), p=weights / weights.sum()))
            yield token
            self.eval([token])

    def _row(self):
        for token in self._tokens:
            if token in self._model.terminal:
                return [0.0 if v == token else -numpy.inf for v in range(len(self._model.vocabulary))]
        return self._model.logits(self._tokens)


def sampler_of(model, horizon, temperature):
    """What PITA's samplers take, with the engine's loop of its back end."""
    words = model.vocabulary

    def decode(tokens, skip_special_tokens=False):
        return " ".join(words[t] for t in tokens) + " " if tokens else ""

    sampler = types.SimpleNamespace(
        llm=Llama(model), engine="llama_cpp",
        tokenizer=types.SimpleNamespace(decode=decode, eos_token_id=model.terminal[0] if model.terminal else -1),
        sampling_params=Sampling_Params(engine="llama_cpp", max_tokens=horizon, temperature=temperature,
                                        logprobs_per_token=1, logits_per_token=1, enable_normalization_constants=True))
    sampler.sample = lambda context: llama_cpp_backend.sample(sampler, context)
    return sampler


def power_sampling(model, horizon, power):
    sampler = sampler_of(model, horizon, 1 / power)
    return Power_Sampling(block_of(horizon), setting("MOVES", 1), "power_distribution").sample(sampler, "").tokens


def sequential_monte_carlo(model, horizon, power):
    """Its SMC by the metric that is named after the power distribution; everything else is its default."""
    sampler = sampler_of(model, horizon, 1 / power)
    smc = Sequential_Monte_Carlo(setting("PARTICLES", 2), block_of(horizon), token_metric="power_distribution")
    return smc.sample(sampler, "").tokens
