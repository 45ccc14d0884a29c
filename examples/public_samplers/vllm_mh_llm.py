"""mh-llm (github.com/Huhua-Xiao/mh-llm, leogagnon/mh-llm), which is Power Sampling over vLLM, over the finite model.

Their mh_llm.py runs unmodified. vLLM and their patch of it are stood in for by engine.py.
"""
import importlib.util
import os
import sys

import engine
from checkout import block_of, checkout, merge_before, module_named, setting, stand_in_for

root = checkout()
engine.stand_in_for_vllm()
stand_in_for("tqdm")
module_named("judged")
module_named("judged.vllm", LLM=engine.LLM, SamplingParams=engine.SamplingParams)
spec = importlib.util.spec_from_file_location("judged.mh_llm", os.path.join(root, "mh_llm", "mh_llm.py"))
judged = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(judged)
# mh_sample holds its restarts in idx_list; its two loops both count in `_`, and a block's tokens tell which block it is.
merge_before(engine.LLM, "generate", "k", "_", "idx", "idx_list", "output_tokens", "logprob", "power_logprob")


def sampler_of(model):
    sampler = judged.MHLLM.__new__(judged.MHLLM)
    sampler.llm, sampler.tokenizer = engine.LLM(model), engine.Tokens(model)
    return sampler


def one_prompt(model, horizon, power):
    """_mh_sample, which a prompt alone takes."""
    params = engine.SamplingParams(temperature=1 / power, alpha=float(power))
    return sampler_of(model)._mh_sample([], params, block_of(horizon), horizon, setting("MOVES", 1))


def many_prompts(model, horizon, power):
    """mh_sample of a list of one prompt, which is a loop of its own."""
    params = engine.SamplingParams(temperature=1 / power, alpha=float(power))
    return sampler_of(model).mh_sample([[]], params, block_of(horizon), horizon, setting("MOVES", 1))[0]
