"""Every source of chance of numpy.random, old and new, is answered with its law, or refused by name."""
import itertools
import math
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


def outcomes(values, share):
    """The law of a uniform choice among values, each as the nested tuples that an array's list becomes."""
    found = {}
    for value in values:
        found[value] = found.get(value, 0) + share
    return found


def drawn_of(whole, weights=None):
    return {value: Fraction(1, len(whole)) if weights is None else weights[value] for value in whole}


def independent(laws, shape=None):
    """The law of a tuple of independent draws, row by row if it has a shape of two numbers."""
    found = {}
    for values in itertools.product(*laws):
        share = math.prod((law_of[value] for law_of, value in zip(laws, values)), start=Fraction(1))
        end = values if shape is None else tuple(values[row * shape[1] : (row + 1) * shape[1]] for row in range(shape[0]))
        found[end] = found.get(end, 0) + share
    return found


def in_place(shuffle, items):
    shuffle(items)
    return items


TWO_ROWS = [[1, 2], [3, 4], [5, 6]]
THREE = {0: Fraction(1, 2), 1: Fraction(1, 4), 2: Fraction(1, 4)}
PERMUTED = outcomes(itertools.permutations([3, 4, 4]), Fraction(1, 6))
OF_ROWS = outcomes(itertools.permutations(map(tuple, TWO_ROWS)), Fraction(1, 6))
OF_COLUMNS = {((1, 2), (3, 4), (5, 6)): Fraction(1, 2), ((2, 1), (4, 3), (6, 5)): Fraction(1, 2)}
COUNTED = {}
for first, second in itertools.product(range(3), repeat=2):
    end = tuple((first, second).count(value) for value in range(3))
    COUNTED[end] = COUNTED.get(end, 0) + THREE[first] * THREE[second]
BINOMIAL = {k: math.comb(3, k) * Fraction(1, 4) ** k * Fraction(3, 4) ** (3 - k) for k in range(4)}
HALVES = drawn_of([False, True])
# Each call with its law; which of the generators have it.
CALLS = {
    "integers": ("m", lambda g: g.integers(-2, 1, size=2), independent([drawn_of(range(-2, 1))] * 2)),
    "integers, closed": ("m", lambda g: g.integers(-2, 1, endpoint=True), drawn_of(range(-2, 2))),
    "integers below": ("m", lambda g: g.integers(3), drawn_of(range(3))),
    "integers of bounds": ("m", lambda g: g.integers([0, 5], [2, 8]), independent([drawn_of(range(2)), drawn_of(range(5, 8))])),
    "randint": ("l", lambda g: g.randint(-2, 1, size=(1, 2)), independent([drawn_of(range(-2, 1))] * 2, (1, 2))),
    "randint below": ("l", lambda g: g.randint(3), drawn_of(range(3))),
    "random_integers": ("l", lambda g: g.random_integers(-2, 1), drawn_of(range(-2, 2))),
    "random_integers below": ("l", lambda g: g.random_integers(3), drawn_of(range(1, 4))),
    "choice": ("ml", lambda g: g.choice(3, 2), independent([drawn_of(range(3))] * 2)),
    "choice, weighted": ("ml", lambda g: g.choice([0, 1, 2], (2, 1), p=WEIGHTS), independent([THREE] * 2, (2, 1))),
    "choice of all": ("ml", lambda g: g.choice([3, 4, 4], 3, replace=False), PERMUTED),
    "choice of rows": ("m", lambda g: g.choice(TWO_ROWS, 3, replace=False), OF_ROWS),
    "choice of a row": ("m", lambda g: g.choice(TWO_ROWS), drawn_of([tuple(row) for row in TWO_ROWS])),
    "choice of columns": ("m", lambda g: g.choice(TWO_ROWS, 2, replace=False, axis=1), OF_COLUMNS),
    "choice of rows in a shape": ("m", lambda g: g.choice(TWO_ROWS[:2], (2, 1)), independent([drawn_of([((1, 2),), ((3, 4),)])] * 2)),
    "choice of no row": ("ml", lambda g: g.choice([3, 4], 0), {(): Fraction(1)}),
    "choice of wide columns": ("m", lambda g: g.choice([[1, 2, 3]], axis=1), drawn_of([(1,), (2,), (3,)])),
    "shuffle of wide columns": ("m", lambda g: in_place(lambda x: g.shuffle(x, axis=1), np.array([[3, 4, 4]])),
                                {(end,): share for end, share in PERMUTED.items()}),
    "shuffle": ("ml", lambda g: in_place(g.shuffle, [3, 4, 4]), PERMUTED),
    "shuffle of an array": ("ml", lambda g: in_place(g.shuffle, np.array([3, 4, 4])), PERMUTED),
    "shuffle of rows": ("ml", lambda g: in_place(g.shuffle, np.array(TWO_ROWS)), OF_ROWS),
    "shuffle of columns": ("m", lambda g: in_place(lambda x: g.shuffle(x, axis=1), np.array(TWO_ROWS)), OF_COLUMNS),
    "permutation": ("ml", lambda g: g.permutation(3), outcomes(itertools.permutations(range(3)), Fraction(1, 6))),
    "permutation of a list": ("ml", lambda g: g.permutation([3, 4, 4]), PERMUTED),
    "permutation of rows": ("ml", lambda g: g.permutation(TWO_ROWS), OF_ROWS),
    "permutation of columns": ("m", lambda g: g.permutation(TWO_ROWS, axis=1), OF_COLUMNS),
    "permuted": ("m", lambda g: g.permuted([3, 4, 4]), PERMUTED),
    "multinomial": ("ml", lambda g: g.multinomial(2, WEIGHTS), COUNTED),
    "multinomials": ("ml", lambda g: g.multinomial(1, WEIGHTS, size=2), independent([{tuple(map(int, np.eye(3)[v])): p for v, p in THREE.items()}] * 2)),
    "multinomials of a shape": ("ml", lambda g: g.multinomial(1, [0.25, 0.75], size=(1, 2)),
                                independent([{(1, 0): Fraction(1, 4), (0, 1): Fraction(3, 4)}] * 2, (1, 2))),
    "binomial": ("ml", lambda g: g.binomial(3, 0.25), BINOMIAL),
    "binomials": ("ml", lambda g: g.binomial([0, 3], [0.5, 0.25]), independent([{0: Fraction(1)}, BINOMIAL])),
    "binomials of a shape": ("ml", lambda g: g.binomial([1, 1], 0.5, size=(2, 2)), independent([drawn_of(range(2))] * 4, (2, 2))),
    "uniform": ("ml", lambda g: g.uniform(-1, 3) < 0, {True: Fraction(1, 4), False: Fraction(3, 4)}),
    "uniforms": ("ml", lambda g: g.uniform([-1, 0], [3, 4]) < [0, 2], independent([{True: Fraction(1, 4), False: Fraction(3, 4)}, HALVES])),
    "uniforms of a shape": ("ml", lambda g: g.uniform(-1, 1, (1, 2)) < 0, independent([HALVES] * 2, (1, 2))),
    "random": ("ml", lambda g: g.random((2, 1)) < 0.5, independent([HALVES] * 2, (2, 1))),
    "rand": ("l", lambda g: g.rand(1, 2) < 0.5, independent([HALVES] * 2, (1, 2))),
}  # fmt: skip


def as_tuple(value):
    value = value.tolist() if hasattr(value, "tolist") else value
    return tuple(map(as_tuple, value)) if isinstance(value, (list, tuple)) else value


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore:This function is deprecated")
def test_each_call_has_its_law_its_shape_and_its_kind(name):
    kinds, call, expected = CALLS[name]
    old = (state, np.random)[list(CALLS).index(name) % 2]  # which have the same answers
    for owner in [generator] * ("m" in kinds) + [old] * ("l" in kinds):
        own = np.asarray(call(owner))
        seen = set()

        def step():
            found = call(owner)  # noqa: B023
            seen.add((np.asarray(found).shape, np.asarray(found).dtype.kind))  # noqa: B023
            return as_tuple(found)

        assert law(step) == expected, owner
        assert seen == {(own.shape, own.dtype.kind)}, owner


@pytest.mark.parametrize("step, scale", [
    (lambda: np.random.exponential(2) < 2 * math.log(4), [True, True, True, False]),
    (lambda: tuple(generator.exponential([1, 3]) < [math.log(2), 3 * math.log(2)]), list(itertools.product([True, False], repeat=2))),
    (lambda: generator.standard_exponential((1, 2))[0, 1] < math.log(2), [True, False]),
    # P(μ + βG < μ) = exp(-1), and P(G < -log log 2) = 1/2.
    (lambda: np.random.gumbel(3, 2) < 3 - 2 * math.log(math.log(2)), [True, False]),
    (lambda: tuple(generator.gumbel([0, 3], [1, 2]) < [-math.log(math.log(2)), 3 - 2 * math.log(math.log(2))]), list(itertools.product([True, False], repeat=2))),
    (lambda: state.gumbel(size=(2, 1))[1, 0] < -math.log(math.log(2)), [True, False]),
])
def test_exponentials_and_gumbels_have_their_scale_and_place(step, scale):
    check_law(step, {end: Fraction(scale.count(end), len(scale)) for end in scale}, 1e-15)


@pytest.mark.parametrize("step", [
    lambda: generator.choice(0), lambda: generator.choice([]), lambda: generator.choice(2, p=[0.5, 0.25]), lambda: generator.choice(2, p=[1.0]),
    lambda: np.random.choice(2, 3, replace=False), lambda: np.random.randint(0), lambda: generator.integers(3, 3), lambda: generator.choice(2, p=[1.5, -0.5]),
])
def test_what_numpy_refuses_is_refused(step):
    with pytest.raises(ValueError):
        step()
    with pytest.raises(ValueError):
        law(step)


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
