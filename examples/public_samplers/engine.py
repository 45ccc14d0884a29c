"""Stands in for vLLM if a sampler is written over it: requests of token numbers, answered from the finite model.

A token is drawn from softmax(logits / temperature). `logprobs` are those of that law and `power_logprobs` those of the
model itself, as the patched engines of mh-llm and PreSTO return them.
"""
import copy
import math
import random
import types

from checkout import module_named


class SamplingParams:
    def __init__(self, temperature=1.0, alpha=1.0, max_tokens=16, n=1, logprobs=None, ignore_eos=False, min_tokens=0,
                 top_p=1.0, top_k=0, logprob_token_ids=None, stop_token_ids=None, detokenize=True, skip_special_tokens=True):
        named = dict(locals())
        named.pop("self")
        vars(self).update(named)

    def clone(self):
        return copy.copy(self)


def copied(params, **changed):
    found = params.clone()
    vars(found).update(changed)
    return found


class Logprob:
    def __init__(self, logprob):
        self.logprob = logprob


class LLM:
    def __init__(self, model):
        self._model = model
        self._size, self._bos = len(model.vocabulary), len(model.vocabulary)

    def generate(self, prompts, sampling_params, use_tqdm=False):
        prompts = prompts if isinstance(prompts, list) else [prompts]
        many = sampling_params if isinstance(sampling_params, list) else [sampling_params] * len(prompts)
        return [self._answer(prompt["prompt_token_ids"], params) for prompt, params in zip(prompts, many)]

    def _answer(self, prompt, params):
        if params.top_p < 1 or params.top_k > 0:
            raise ValueError("only a whole proposal is stood in for: give top_p=1")
        prefix = [t for t in prompt if t < self._size]
        outputs = [self._completion(prefix, params, index) for index in range(params.n)]
        return types.SimpleNamespace(outputs=outputs, prompt_token_ids=prompt)

    def _completion(self, prefix, params, index):
        ids, proposal, base, reason = [], [], [], "length"
        while len(ids) < params.max_tokens:
            logits = self._row(prefix + ids)
            scaled = [x / params.temperature for x in logits]
            if len(ids) < params.min_tokens:
                scaled = [-math.inf if v in self._model.terminal else x for v, x in enumerate(scaled)]
            most = max(scaled)
            weights = [math.exp(x - most) for x in scaled]
            token = random.choices(range(self._size), weights=weights)[0]
            ids.append(token)
            proposal.append({token: Logprob(math.log(weights[token] / math.fsum(weights)))})
            base.append({token: Logprob(logits[token] - math.log(math.fsum(math.exp(x) for x in logits)))})
            if token in self._model.terminal and not params.ignore_eos:
                reason = "stop"
                break
        return types.SimpleNamespace(index=index, token_ids=ids, logprobs=proposal, power_logprobs=base, finish_reason=reason,
                                     stop_reason=None)

    def _row(self, prefix):
        for token in prefix:
            if token in self._model.terminal:  # it is said again, for ever
                return [0.0 if v == token else -math.inf for v in range(self._size)]
        return self._model.logits(prefix)


class Tokens:
    """A tokenizer whose texts are lists of token numbers, so that what is answered can be read without loss."""

    def __init__(self, model):
        self.eos_token_id = model.terminal[0] if model.terminal else -1

    def encode(self, text, add_special_tokens=False):
        return list(text)

    def decode(self, tokens, skip_special_tokens=False):
        return list(tokens)


def stand_in_for_vllm():
    module_named("vllm")
    module_named("vllm.logprobs", Logprob=Logprob)
    module_named("vllm.inputs", TokensPrompt=dict)
