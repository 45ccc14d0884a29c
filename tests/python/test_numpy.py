"""Every source of chance of numpy.random, old and new, is answered with its law, or refused by name."""
import itertools
import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from laws import EIGHTHS, PACKAGE, QUARTERS, check_law, check_refused, small
from numpy.random import rand as early_rand
from tempera.check import law

generator = np.random.default_rng(3)  # made before anything is replaced
state = np.random.RandomState(3)
bound, in_tuple = np.random.default_rng(5).random, (np.random.RandomState(4), (np.random.default_rng(6),))
WEIGHTS = [0.5, 0.25, 0.25]


@pytest.mark.parametrize("step", [
    lambda: small(np.random.rand()),
    lambda: small(early_rand()),
    lambda: small(np.random.random()),
    lambda: small(np.random.random_sample()),
    lambda: small(np.random.uniform()),
    lambda: small(np.random.uniform(size=1)[0]),
    lambda: small(np.random.rand(1).item()),
    lambda: small(generator.random()),
    lambda: small(state.rand()),
    lambda: small(bound()),
    lambda: small(in_tuple[0].rand()),
    lambda: small(in_tuple[1][0].random()),
    lambda: small(np.random.default_rng().random()),
    lambda: small(np.random.Generator(np.random.PCG64()).random()),
    lambda: small(np.random.RandomState().random_sample()),
    lambda: min(2, np.random.randint(8)),
    lambda: min(2, generator.integers(0, 7, endpoint=True)),
    lambda: min(2, generator.permutation(8)[5]),
    lambda: np.random.choice(3, p=[0.125, 0.125, 0.75]),
    lambda: generator.choice([0, 1, 2], p=np.array([0.125, 0.125, 0.75])),
    lambda: np.argmax(np.random.multinomial(1, [0.125, 0.125, 0.75])),
    lambda: np.searchsorted(np.cumsum([0.125, 0.125, 0.75]), np.random.rand()),
])
def test_each_way_of_drawing_has_its_law(step):
    check_law(step, EIGHTHS)


@pytest.mark.parametrize("step", [
    lambda: np.argmax(np.log(WEIGHTS) + np.random.gumbel(size=3)),
    lambda: np.argmax(np.log(WEIGHTS) + generator.gumbel(size=(3,))),
    lambda: np.argmax(np.log(WEIGHTS) - np.log(-np.log(np.random.rand(3)))),
    lambda: np.argmax(np.array(WEIGHTS) / np.random.exponential(size=3)),
    lambda: np.argmin(generator.standard_exponential(3) / np.array(WEIGHTS)),
])
def test_gumbels_trick_draws_by_the_weights(step):
    check_law(step, QUARTERS, 1e-15)


def test_a_weight_of_zero_never_wins():
    check_law(lambda: np.argmax(np.array([0.25, 0.0, 0.75]) / np.random.exponential(size=3)),
              {0: Fraction(1, 4), 2: Fraction(3, 4)}, 1e-15)


def test_several_at_once_are_independent():
    naive = {}
    for a, b in itertools.product((True, False), repeat=2):
        naive[a, b] = Fraction(1 if a else 3, 4) * Fraction(1 if b else 3, 4)
    check_law(lambda: np.random.rand(2) < 0.25, naive)
    check_law(lambda: generator.binomial(2, 0.25), {0: Fraction(9, 16), 1: Fraction(6, 16), 2: Fraction(1, 16)})
    pairs = {(a, b): Fraction(WEIGHTS[a]) * Fraction(WEIGHTS[b]) / (1 - Fraction(WEIGHTS[a]))
             for a, b in itertools.permutations(range(3), 2)}
    check_law(lambda: np.random.choice(3, size=2, replace=False, p=WEIGHTS), pairs)
    check_law(lambda: tuple(np.random.randint(0, 2, size=2)), {pair: Fraction(1, 4)
                                                              for pair in itertools.product(range(2), repeat=2)})


@pytest.mark.parametrize("step, name", [
    (lambda: np.random.dirichlet([1, 2]), "numpy.random.dirichlet"),
    (lambda: np.random.normal(), "numpy.random.normal"),
    (lambda: generator.normal(), "numpy.random.Generator.normal"),
    (lambda: state.standard_gamma(1), "numpy.random.RandomState.standard_gamma"),
    (lambda: generator.poisson(1), "numpy.random.Generator.poisson"),
    (lambda: np.random.PCG64(1).random_raw(), "PCG64.random_raw"),
    (lambda: np.random.rand(2).sum(), "two uniforms"),
    (lambda: np.exp(np.random.rand()), "exp"),
])
def test_what_has_no_answer_is_refused_by_name(step, name):
    check_refused(step, name)


def test_every_public_function_of_chance_is_answered_or_refused():
    """None of them may draw from numpy's own generator within a step."""
    silent = []
    for owner in (np.random, generator, state):
        for name in dir(owner):
            function = getattr(owner, name)
            if name.startswith("_") or isinstance(function, type) or not callable(function) or name in (
                    "seed", "get_state", "set_state", "test", "default_rng", "spawn", "get_bit_generator",
                    "set_bit_generator"):
                continue
            for arguments in ((), (1,), (1, 1), ([0.5, 0.5],), (2, 1, 1), (2, [0.5, 0.5]), ([0.0], [[1.0]])):
                before = np.random.get_state()[1].tobytes(), state.get_state()[1].tobytes()
                try:
                    law(lambda: (function(*arguments), 0)[1])
                except Exception:
                    pass
                if before != (np.random.get_state()[1].tobytes(), state.get_state()[1].tobytes()):
                    silent.append(name)
    assert silent == []


@pytest.mark.parametrize("order", ["import tempera.check, numpy as np", "import numpy as np, tempera.check",
                                   "from numpy.random import rand; import numpy as np, secrets, tempera.check"])
def test_the_order_of_imports_does_not_matter(order):
    code = (f"{order}\nfrom fractions import Fraction\n"
            "assert tempera.check.law(lambda: bool(np.random.rand() < 0.25))[True] == Fraction(1, 4)\n"
            "assert 0 <= np.random.default_rng().random() < 1 and 0 <= np.random.rand() < 1\n")
    subprocess.run([sys.executable, "-c", code], check=True, env=dict(os.environ, PYTHONPATH=PACKAGE))


def test_a_uniform_may_be_kept_from_its_ends():
    """Gumbel's trick as it is often written, over rows."""

    def step():
        u = np.clip(np.random.default_rng().random((2, 2)), 1e-300, 1.0)
        return tuple(np.argmax(np.log([[1.0, 3.0], [1.0, 1.0]]) - np.log(-np.log(u)), axis=-1))

    found = law(step)
    assert {k: round(float(v), 12) for k, v in found.items()} == {(0, 0): 1 / 8, (0, 1): 1 / 8, (1, 0): 3 / 8, (1, 1): 3 / 8}
