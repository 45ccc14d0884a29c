"""PreSTO's Metropolis-Hastings over transformers (github.com/Nan-Jiang-Group/PreSTO), over the finite model, unmodified."""
from checkout import block_of, checkout, merge_before, setting

checkout("src")

from power_sharpening.backends.hf.samplers import power_samp_MH  # noqa: E402
from power_sharpening.backends.hf.wrapper import HF_LLM_Wrapper  # noqa: E402

merge_before(power_samp_MH, "low_temp_proposal_sampling", "generated_output_seq", "proposal_logprobs_seq",
             "target_log_scores_seq", "entropies", "bi", "mi", "cut_idx")


class FiniteLogits:
    """The model with -10^4 for log 0: no real model gives -infinity, of which their entropy is not a number."""

    def __init__(self, causal_lm):
        self._causal_lm = causal_lm

    def generate(self, *arguments, **named):
        output = self._causal_lm.generate(*arguments, **named)
        output.logits = tuple(row.clamp(min=-1e4) for row in output.logits)
        return output


def sample(causal_lm, tokenizer, prompt, horizon, power, cuts):
    wrapper = HF_LLM_Wrapper(causal_lm, tokenizer, "cpu", temperature=1 / power, alpha=float(power))
    tokens, _, _, _ = power_samp_MH.mcmc_power_sampler(
        wrapper, prompt[0].tolist(), setting("MOVES", 1), max_new_tokens=horizon, num_of_blocks=horizon // block_of(horizon),
        cut_dist_type=cuts)
    return tokens


def uniform_cuts(causal_lm, tokenizer, prompt, horizon, power):
    """Their baseline, Power Sampling as Karan and Du published it."""
    return sample(causal_lm, tokenizer, prompt, horizon, power, "uniform")


def entropy_cuts(causal_lm, tokenizer, prompt, horizon, power):
    """Restarts where the entropy jumps; these proposals go on past the terminal token, up to the horizon."""
    return sample(FiniteLogits(causal_lm), tokenizer, prompt, horizon, power, "entropy")
