"""Power Sampling of github.com/BNZ94/Reasoning-with-sampling over the finite model, unmodified."""
import torch
from checkout import block_of, checkout, merge_before, setting, stand_in_for

checkout("src")
stand_in_for("pandas", "datasets", "tqdm")

from rws import power_mcmc  # noqa: E402
from rws.models import ModelWrapper  # noqa: E402

merge_before(power_mcmc, "extend_sequence", "current_ids", "block_idx", "hit_eos")
merge_before(power_mcmc, "mh_step", "current_ids", "block_idx", "mh_iter", "hit_eos", "max_suffix_for_mh")


class Prompted(ModelWrapper):
    """Their wrapper, whose prompt is given as token numbers."""

    def encode(self, prompt, add_special_tokens=True):
        return prompt


def wrapper_of(causal_lm, tokenizer):
    return Prompted(causal_lm, tokenizer, "cpu")


def whole(causal_lm, tokenizer, prompt, horizon, power):
    """Blocks of BLOCK tokens, MOVES moves after each."""
    found = power_mcmc.power_sampling_mcmc(prompt[0], wrapper_of(causal_lm, tokenizer), float(power), block_of(horizon),
                                           setting("MOVES", 1), prompt.shape[1] + horizon)
    return found["output_ids"]


def step(causal_lm, tokenizer, prompt, state, horizon, power):
    """One move on a record, as a kernel."""
    start = torch.cat([prompt[0], torch.tensor(state, dtype=torch.long)])
    tokens, _, _, _ = power_mcmc.mh_step(wrapper_of(causal_lm, tokenizer), start, prompt.shape[1], float(power), 1 / power,
                                         horizon, tokenizer.eos_token_id)
    return tokens[prompt.shape[1]:].tolist()
