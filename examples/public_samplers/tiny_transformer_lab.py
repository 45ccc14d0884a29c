"""The Parallel Power Tempering of github.com/Mchicao/tiny-transformer-lab over the finite model, unmodified."""
import torch
from checkout import checkout, setting

checkout("src")

import power_tempering  # noqa: E402


def sampler_of(model, horizon, budget=1 << 30):
    def logits(prefix):
        return torch.tensor(model.logits(prefix), dtype=torch.float64)

    return power_tempering.Sampler(logits, [], 0, horizon, model.terminal[0] if model.terminal else -1, budget)


def record_of(sampler, tokens):
    return power_tempering.Record(list(tokens), [sampler.logits(tokens[:t]) for t in range(len(tokens))])


def one_round(model, state, horizon):
    """A kernel on two records (--target powers:1,2): a move at each power, then the swap."""
    sampler = sampler_of(model, horizon)
    low, high = (record_of(sampler, tokens) for tokens in state)
    low, high = sampler.swap(sampler.refine(low, 1.0), sampler.refine(high, 2.0))
    return [low.tokens, high.tokens]


def rounds(model, horizon):
    """A whole program: fresh records at powers 1 and 2, then MOVES rounds; the answer is that of power 2."""
    sampler = sampler_of(model, horizon)
    low, high = sampler.generate(1.0), sampler.generate(2.0)
    for _ in range(setting("MOVES", 1)):
        low, high = sampler.swap(sampler.refine(low, 1.0), sampler.refine(high, 2.0))
    return high.tokens


def as_it_is_run(model, horizon):
    """Their run("ppt") ends where BUDGET tokens have been passed to the model, so that how often it moves is chance."""
    return sampler_of(model, horizon, setting("BUDGET", 8)).run("ppt").tokens
