"""Scalable Power Sampling (arXiv 2601.21590) as github.com/tatami-galaxy/power-sampling has it, unmodified.

ROLLOUTS=M is the number of rollouts of each candidate (default: 2), JACKKNIFE=0 leaves their correction out. All tokens are
candidates, and with T = 2 a rollout reaches the horizon, so that what is left is the method's own error. Their code asks for
the caches that transformers had before version 5, so a model of tensors stands in: its cache is the tokens themselves. After
its end it says the terminal token again, as no real model does surely; AFTER=uniform lets it say anything.
"""
import math
import os
import types

import torch
from checkout import checkout, setting

from tempera.check import merge

checkout()

from scalable_power_sampling import power_sampler  # noqa: E402

generate_rollouts = power_sampler.generate_rollouts


def rollouts_that_merge(**named):
    """Rollouts, after which what follows is a function of the tokens so far and of their log-likelihoods."""
    found = generate_rollouts(**named)
    merge((named["prefix_ids"].tolist(), found[0].tolist()))
    return found


power_sampler.generate_rollouts = rollouts_that_merge


def end_of(model):
    return model.terminal[0] if model.terminal else -1


class TokensAsCache(torch.nn.Module):
    def __init__(self, model, horizon):
        super().__init__()
        self._model, self._horizon = model, horizon
        self._bos = len(model.vocabulary)
        self._place = torch.nn.Parameter(torch.zeros(1), requires_grad=False)
        self.config = types.SimpleNamespace(eos_token_id=end_of(model))

    def forward(self, input_ids, past_key_values=None, use_cache=True):
        held = input_ids if past_key_values is None else torch.cat([past_key_values[0][0], input_ids], dim=1)
        rows = torch.tensor([self._row([t for t in row if t != self._bos]) for row in held.tolist()], dtype=torch.float64)
        return types.SimpleNamespace(logits=rows[:, None], past_key_values=((held, held),))

    def _row(self, prefix):
        for token in prefix:
            if token in self._model.terminal and os.environ.get("AFTER") == "uniform":
                return [0.0] * self._bos
            if token in self._model.terminal:  # it is said again, for ever
                return [0.0 if v == token else -math.inf for v in range(self._bos)]
        # Their rollouts compute a row past the horizon too, and use it for nothing.
        return self._model.logits(prefix) if len(prefix) < self._horizon else [0.0] * self._bos


def per_token(model, horizon, power):
    tokenizer = types.SimpleNamespace(eos_token_id=end_of(model), decode=lambda *_, **__: "")
    sampler = power_sampler.PowerSampler(
        TokensAsCache(model, horizon), tokenizer, alpha=float(power), top_k=len(model.vocabulary), num_rollouts=setting("ROLLOUTS", 2),
        lookahead=horizon - 1, max_new_tokens=horizon, use_jackknife=setting("JACKKNIFE", 1) == 1)
    return sampler.generate(input_ids=torch.tensor([[len(model.vocabulary)]]))["input_ids"][0, 1:].tolist()
