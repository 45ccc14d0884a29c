"""A power sampler written the way such code usually is, with floats and `random`, judged by `tempera check --within`.

Only the first and the last line know of tempera.
"""
import tempera.check  # before all that draws: from here on chance is tempera's

import math
import random


def temperature_probabilities(model, prefix, temperature):
    scaled = [logit / temperature for logit in model.logits(prefix)]
    most = max(scaled)
    weights = [math.exp(s - most) for s in scaled]
    return [w / sum(weights) for w in weights]


def generate(model, prefix, temperature):
    """Samples to the end; the tokens, their log proposal and their log target, token by token."""
    tokens, log_proposal, log_target = list(prefix), [], []
    while not model.is_ended(tokens):
        probabilities = temperature_probabilities(model, tokens, temperature)
        token = random.choices(range(len(probabilities)), weights=probabilities)[0]
        log_proposal.append(math.log(probabilities[token]))
        log_target.append(model.logits(tokens)[token] / temperature)
        tokens.append(token)
    return tokens, log_proposal, log_target


def score(model, tokens, start, temperature):
    log_proposal, log_target = [], []
    for t in range(start, len(tokens)):
        probabilities = temperature_probabilities(model, tokens[:t], temperature)
        log_proposal.append(math.log(probabilities[tokens[t]]))
        log_target.append(model.logits(tokens[:t])[tokens[t]] / temperature)
    return log_proposal, log_target


def mcmc_step(model, tokens):
    temperature = 1 / model.powers[0]
    start = random.randint(0, model.horizon - 1)
    if start >= len(tokens):
        return tokens
    proposal, proposed_log_q, proposed_log_p = generate(model, tokens[:start], temperature)
    current_log_q, current_log_p = score(model, tokens, start, temperature)
    log_r = sum(proposed_log_p) + sum(current_log_q) - sum(current_log_p) - sum(proposed_log_q)
    if random.random() < math.exp(min(0.0, log_r)):
        return proposal
    return tokens


tempera.check.serve(mcmc_step)
