"""The example power_smc.py of a fork of vLLM (github.com/TianyangLiu-Work/vllm-ps), over the finite model, unmodified.

vLLM is stood in for by engine.py.
"""
import engine
from checkout import block_of, checkout, module_named, setting

checkout("vllm/examples/generate")
engine.stand_in_for_vllm()
module_named("vllm", SamplingParams=engine.SamplingParams)

import power_smc  # noqa: E402


def sample(model, horizon, power, ramp):
    llm = engine.LLM(model)
    llm.get_tokenizer = lambda: engine.Tokens(model)
    config = power_smc.PowerSMCConfig(max_tokens=horizon, alpha=float(power), particles=setting("PARTICLES", 2),
                                      block_size=block_of(horizon), alpha_ramp_tokens=ramp)
    sampler = power_smc.VLLMPowerSMCSampler(llm, config)
    return list(sampler.generate([]).token_ids)


def flat(model, horizon, power):
    """α from the first token on."""
    return sample(model, horizon, power, 1)


def ramped(model, horizon, power):
    """α rises over the first half of the horizon."""
    return sample(model, horizon, power, (horizon + 1) // 2 + 1)
