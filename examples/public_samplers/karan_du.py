"""Karan and Du's Power Sampling (github.com/aakaran/reasoning-with-sampling) over the finite model, unmodified.

Their mcmc_power_samp calls transformers' generate(), as it does on a real model.
"""
from checkout import block_of, checkout, merge_before, setting, stand_in_for

checkout("llm_experiments")
stand_in_for("pandas", "datasets", "grader_utils", "grader_utils.parse_utils", "tqdm")

import power_samp_utils  # noqa: E402

# `attempts` tells how far it is: both of its loops count in `_`.
merge_before(power_samp_utils, "naive_temp", "gen", "log_probs_norm", "log_probs_unnorm", "attempts", "idx")


def power_sampling(causal_lm, tokenizer, prompt, horizon, power):
    """α = 1 / temperature; `max_new_tokens` in blocks of BLOCK tokens, MOVES moves after each."""
    sampler = power_samp_utils.AutoregressiveSampler(causal_lm, tokenizer, "cpu")
    context = prompt[0].tolist()
    tokens, _, _, _ = power_samp_utils.mcmc_power_samp(sampler, context, 1 / power, setting("MOVES", 1), horizon,
                                                       horizon // block_of(horizon))
    return tokens


def largest_by_swaps(causal_lm, tokenizer, prompt, horizon, power):
    """Their max_swap: a move is taken if it is more likely, which is meant for an infinite power."""
    sampler = power_samp_utils.AutoregressiveSampler(causal_lm, tokenizer, "cpu")
    tokens, _, _, _ = power_samp_utils.max_swap(sampler, prompt[0].tolist(), 1 / power, setting("MOVES", 1), horizon,
                                                horizon // block_of(horizon))
    return tokens
