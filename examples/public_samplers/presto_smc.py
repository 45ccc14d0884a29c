"""PreSTO's Sequential Monte Carlo over vLLM (github.com/Nan-Jiang-Group/PreSTO), over the finite model, unmodified.

vLLM and their patch of it are stood in for by engine.py.
"""
import types

import engine
from checkout import block_of, checkout, module_named, setting

checkout("src")
engine.stand_in_for_vllm()
patch = "power_sharpening.backends.vllm.engine_patch"
module_named(patch, SamplingParams=engine.SamplingParams)
module_named(patch + ".sampling_params", _copy_sampling_params=engine.copied)

from power_sharpening.backends.vllm.samplers import smc_sampler  # noqa: E402


def sample(model, horizon, power, **other):
    wrapper = types.SimpleNamespace(llm=engine.LLM(model), tokenizer=engine.Tokens(model))
    params = engine.SamplingParams(temperature=1 / power, alpha=float(power))
    return smc_sampler.smc_power_sampler(wrapper, [[]], params, horizon, block_of(horizon), setting("PARTICLES", 2),
                                         stop_on_boxed=False, device="cpu", **other)[0]


def power_smc(model, horizon, power):
    """The algorithm of the Power-SMC paper: a whole proposal, and α from the first token on."""
    return sample(model, horizon, power, alpha_ramp_tokens=1, min_new_tokens=0)


def ramped(model, horizon, power):
    """α rises over the first half of the horizon, as their default does over 400 tokens."""
    return sample(model, horizon, power, alpha_ramp_tokens=(horizon + 1) // 2 + 1, min_new_tokens=0)


def with_a_least_length(model, horizon, power):
    """Their default keeps answers from ending in their first 100 tokens; here in the first."""
    return sample(model, horizon, power, alpha_ramp_tokens=1, min_new_tokens=1)
