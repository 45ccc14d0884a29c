"""The code of the Power-SMC paper (github.com/ArminAzizi98/Power-SMC) over the finite model, unmodified."""
from checkout import block_of, checkout, setting

checkout()

import smc_samp_utils  # noqa: E402


def sample(causal_lm, tokenizer, prompt, horizon, power, **other):
    config = dict(max_new_tokens=horizon, alpha=float(power), temperature=1 / power, n_particles=setting("PARTICLES", 2),
                  block_size=block_of(horizon), stop_on_boxed=False)
    config.update(other)
    found = smc_samp_utils.smc_power_sample_memopt(causal_lm, tokenizer, prompt, smc_samp_utils.SMCSamplingConfig(**config))
    tokens = found["chosen_sequence"][prompt.shape[1]:].tolist()
    # A particle that has ended is filled with its terminal token until all have.
    end = tokens.index(tokenizer.eos_token_id) + 1 if tokenizer.eos_token_id in tokens else len(tokens)
    return tokens[:end]


def power_smc(causal_lm, tokenizer, prompt, horizon, power):
    """The algorithm of the paper: the proposal at temperature 1/α, whole, and α from the first token on."""
    return sample(causal_lm, tokenizer, prompt, horizon, power, top_p=1.0, min_new_tokens=0, alpha_ramp_tokens=1)


def ramped(causal_lm, tokenizer, prompt, horizon, power):
    """The same with α rising over the first half of the horizon, as their defaults do over 400 tokens."""
    return sample(causal_lm, tokenizer, prompt, horizon, power, top_p=1.0, min_new_tokens=0,
                  alpha_ramp_tokens=(horizon + 1) // 2 + 1)


def as_their_scripts_run_it(causal_lm, tokenizer, prompt, horizon, power):
    """Their power_samp_*.py leave top_p at 0.9 and min_new_tokens at 100; here the latter is 1, for a short horizon."""
    return sample(causal_lm, tokenizer, prompt, horizon, power, min_new_tokens=1)
