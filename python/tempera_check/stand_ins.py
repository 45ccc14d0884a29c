"""What stands in for `random`, `numpy.random` and `torch`."""
import math
import random
import sys

from . import lab
from .lazy import Log, Real, uniform


def _integer(count):
    if count <= 0:
        raise ValueError("a draw from nothing")
    return 0 if count == 1 else lab.draw([1] * count)


def _choices(population, weights=None, *, cum_weights=None, k=1):
    if cum_weights is not None:
        weights = [b - a for a, b in zip([0] + list(cum_weights), cum_weights)]
    items = list(population)
    weights = [1] * len(items) if weights is None else list(weights)
    return [items[lab.draw(weights)] for _ in range(k)]


def _shuffle(items):
    for i in range(len(items) - 1, 0, -1):
        j = _integer(i + 1)
        items[i], items[j] = items[j], items[i]


def _sample(population, k):
    items = list(population)
    return [items.pop(_integer(len(items))) for _ in range(k)]


def _randrange(start, stop=None, step=1):
    numbers = range(start) if stop is None else range(start, stop, step)
    return numbers[_integer(len(numbers))]


def _one_of(size):
    """A size that is a single number; tensors and arrays of several have no stand-in."""
    flat = [n for s in size for n in (s if isinstance(s, (tuple, list)) else [s])]
    if math.prod(flat) != 1:
        raise TypeError(f"tempera_check stands in for one uniform at a time, not for {flat}")
    return uniform()


def _no_stand_in(name):
    def refuse(*_, **__):
        raise TypeError(f"tempera_check has no stand-in for {name}")

    return refuse


def _replace(module, functions):
    """Puts functions in the place of a module's; every other source of chance in it then says that it has none."""
    for name in ("gauss", "normalvariate", "expovariate", "betavariate", "gammavariate", "triangular", "Random",
                 "SystemRandom", "getrandbits", "randbytes", "normal", "randn", "standard_normal", "exponential",
                 "permutation", "RandomState", "gumbel", "bernoulli", "randperm", "rand_like", "poisson"):
        if hasattr(module, name) and name not in functions:
            setattr(module, name, _no_stand_in(f"{module.__name__}.{name}"))
    for name, function in functions.items():
        setattr(module, name, function)


_installed = set()


def install():
    """Stands in for the sources of chance that are imported by now."""
    for name, stand_in in (("random", _random), ("math", _math), ("numpy", _numpy), ("torch", _torch)):
        if name in sys.modules and name not in _installed:
            _installed.add(name)
            stand_in(sys.modules[name])


def _math(math):
    original_log = math.log
    math.log = lambda x, *base: x.log() if isinstance(x, Real) and not base else original_log(x, *base)


def _random(random):
    _replace(random, {
        "random": uniform,
        "uniform": lambda a, b: uniform() * (b - a) + a,
        "choices": _choices,
        "choice": lambda items: items[_integer(len(items))],
        "randrange": _randrange,
        "randint": lambda a, b: a + _integer(b - a + 1),
        "shuffle": _shuffle,
        "sample": _sample,
        "seed": lambda *_, **__: None,
    })


def _numpy(numpy):
    def choose(a, size=None, replace=True, p=None):
        items = list(range(a)) if isinstance(a, int) else list(a)
        if size is not None and size != 1:
            raise TypeError("tempera_check stands in for one choice at a time")
        item = _choices(items, None if p is None else list(p))[0]
        return item if size is None else [item]

    def whole(low, high=None, size=None, endpoint=False):
        first, last = (0, low) if high is None else (low, high)
        return first + _integer(last - first + (1 if endpoint else 0))

    def real(*size, **named):
        return _one_of(size if size else [named.get("size") or 1])

    def between(low=0.0, high=1.0):
        return uniform() * (high - low) + low

    class Generator:
        random = staticmethod(real)
        choice = staticmethod(choose)
        integers = staticmethod(whole)
        uniform = staticmethod(between)

    _replace(numpy.random, {
        "rand": real, "random": real, "random_sample": real, "choice": choose, "randint": whole,
        "uniform": between, "seed": lambda *_: None, "default_rng": lambda *_: Generator(),
    })


def _torch(torch):
    original_log = torch.log

    def multinomial(weights, num_samples, replacement=False, generator=None):
        rows = weights.tolist()
        if num_samples != 1:
            raise TypeError("tempera_check stands in for torch.multinomial of one sample")
        if rows and isinstance(rows[0], (list, tuple)):
            return torch.tensor([[lab.draw(row)] for row in rows])
        return torch.tensor([lab.draw(rows)])

    def randint(low, high=None, size=None, **_):
        first, last = (0, low) if not isinstance(high, int) else (low, high)
        return torch.tensor([first + _integer(last - first)])

    _replace(torch, {
        "rand": lambda *size, **_: _one_of(size),
        "multinomial": multinomial,
        "randint": randint,
        "log": lambda x: x.log() if isinstance(x, (Real, Log)) else original_log(x),
        "manual_seed": lambda *_: None,
    })
