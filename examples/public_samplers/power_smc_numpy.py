"""A Power-SMC in numpy (github.com/KarthikSubramanian07/power-smc) over the finite model, unmodified."""
import numpy
from checkout import checkout, setting

checkout()

from power_smc.ramping import LinearRamp  # noqa: E402
from power_smc.smc import power_smc  # noqa: E402


class Particles:
    """The finite model as their SMCModel: a state is the prefixes of all particles."""

    def __init__(self, model):
        self._model = model
        self.vocab_size, self.eos_id = len(model.vocabulary), model.terminal[0] if model.terminal else -1

    def _rows(self, prefixes):
        return numpy.array([self._row(prefix) for prefix in prefixes])

    def _row(self, prefix):
        for token in prefix:
            if token in self._model.terminal:  # it is said again, for ever
                return [0.0 if v == token else -numpy.inf for v in range(self.vocab_size)]
        return self._model.logits(prefix)

    def prefill(self, prompt_ids, n):
        prefixes = [[] for _ in range(n)]
        return prefixes, self._rows(prefixes)

    def decode(self, state, tokens):
        prefixes = [prefix + [int(token)] for prefix, token in zip(state, tokens)]
        return prefixes, self._rows(prefixes)

    def reorder(self, state, ancestors):
        return [list(state[a]) for a in ancestors]


def sample(model, horizon, power):
    """Resampled after each token if ESS < N / 2."""
    return list(power_smc(Particles(model), None, float(power), setting("PARTICLES", 2), 0.5, horizon).output)


def ramped(model, horizon, power):
    return list(power_smc(Particles(model), None, float(power), setting("PARTICLES", 2), 0.5, horizon,
                          alpha_schedule=LinearRamp(float(power), (horizon + 1) // 2 + 1)).output)
