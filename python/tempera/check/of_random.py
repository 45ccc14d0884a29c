"""Stand-ins for Python's `random`, `secrets` and os.urandom; the system's own chance is refused."""
import math
import os
import random
import stat
import sys
import uuid

from . import lab, seeding
from .lazy import Undrawn, python_log, uniform
from .replacing import fast_replace, refusal, replace, replace_all


def below(count):
    """A whole number from 0 to count - 1."""
    if count <= 0:
        raise ValueError("a draw from nothing")
    return lab.draw([1] * count)


def choices(population, weights=None, *, cum_weights=None, k=1):
    items = list(population)
    if cum_weights is not None:
        cumulated = list(cum_weights)
        weights = [b - a for a, b in zip([0] + cumulated, cumulated)]
    weights = [1] * len(items) if weights is None else list(weights)
    if len(weights) != len(items):
        raise ValueError("The number of weights does not match the population")
    return [items[lab.draw(weights)] for _ in range(k)]


def shuffle(items):
    for i in range(len(items) - 1, 0, -1):
        j = below(i + 1)
        items[i], items[j] = items[j], items[i]


def sample(population, k, *, counts=None):
    items = list(population)
    if counts is not None:
        items = [item for item, times in zip(items, counts) for _ in range(times)]
    if not 0 <= k <= len(items):
        raise ValueError("Sample larger than population or is negative")
    return [items.pop(below(len(items))) for _ in range(k)]


def randrange(start, stop=None, step=1):
    numbers = range(start) if stop is None else range(start, stop, step)
    return numbers[below(len(numbers))]


def choice(items):
    return items[below(len(items))]


def bits(k):
    if k > 16:
        raise lab.Refused(f"tempera.check has no stand-in for {k} random bits at once, asked for at {lab.address()}: "
                        "draw what they decide")
    return below(2**k)


def binomial(n=1, p=0.5):
    from fractions import Fraction

    p = Fraction(p) if isinstance(p, (int, Fraction)) else Fraction(float(p))
    return lab.draw([math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)])


def exponential(rate=1.0):
    return -uniform().log() / rate if rate != 1.0 else -uniform().log()


ANSWERS = {
    "random": uniform,
    "uniform": lambda a, b: uniform() * (b - a) + a,
    "choices": choices,
    "choice": choice,
    "randrange": randrange,
    "randint": lambda a, b: a + below(b - a + 1),
    "shuffle": shuffle,
    "sample": sample,
    "getrandbits": bits,
    "expovariate": exponential,
    "binomialvariate": binomial,
}
REFUSED = ("gauss", "normalvariate", "lognormvariate", "vonmisesvariate", "gammavariate", "betavariate", "paretovariate",
           "weibullvariate", "triangular", "randbytes")


def _keep(generator):
    """How to put a generator back that was there before the step."""
    if id(generator) in seeding.fresh:
        return None

    def keep():
        state = getstate(generator)
        return state, lambda: setstate(generator, state)

    return keep


def seed(generator, own_seed, value, arguments):
    """seed(value) of a generator within a step."""
    lasts = _keep(generator) is not None
    if value is None:
        seeding.forget(generator)
        return None if lasts else own_seed(generator, *arguments)
    name = "random" if generator is random._inst else "random.Random"
    is_given = seeding.give(generator, "random", value, f"{name}.seed({seeding.short(value)})", _keep(generator))
    return own_seed(generator, *arguments) if is_given or not lasts else None


def put_state(generator, state):
    """setstate(state) of a generator within a step."""
    if seeding.put(generator, state, state, getstate(generator), "random.setstate", _keep(generator)):
        setstate(generator, state)


def saved_state(generator):
    """getstate() of a generator within a step."""
    return seeding.save(generator, getstate(generator))


_REMEDY = ": ask random or secrets for what its bytes decide"
# They read the clock and the machine; uuid4 asks os.urandom.
_UUIDS = ("uuid1", "uuid6", "uuid7")
_DEVICES = (os.makedev(1, 8), os.makedev(1, 9), os.makedev(10, 183))  # Linux's numbers of random, urandom and hwrng
_own_open = os.open
_is_watching_files = False


def _refuse_devices(event, arguments):
    """An audit hook: whoever opens a device of chance within a step, by whatever name, is refused."""
    if event != "open" or lab.walk is None:
        return
    try:
        found = os.stat(arguments[0])
    except (OSError, TypeError, ValueError):
        return  # nothing that can be opened
    if _is_device(found):
        name = f"/proc/self/fd/{arguments[0]}" if isinstance(arguments[0], int) else os.path.abspath(os.fsdecode(arguments[0]))
        refusal(name, _REMEDY)()


def _is_device(found):
    return stat.S_ISCHR(found.st_mode) and found.st_rdev in _DEVICES


def _open(path, flags, mode=0o777, *, dir_fd=None):
    """os.open, whose audit hook is not told of dir_fd."""
    opened = _own_open(path, flags, mode, dir_fd=dir_fd)
    if lab.walk is not None and dir_fd is not None and _is_device(os.fstat(opened)):
        os.close(opened)
        refusal(os.fsdecode(path), _REMEDY)()
    return opened


def install():
    inst = random._inst
    replace_all(random, ANSWERS, REFUSED, lambda *_: inst)
    replace(random, "setstate", lambda state: put_state(inst, state))
    replace(random, "getstate", lambda: saved_state(inst))
    # Instances, those of early names too if Python's own methods draw by one of these.
    methods = {name: (lambda answer: lambda self, *a, **k: answer(*a, **k))(answer) for name, answer in ANSWERS.items()}
    methods["_randbelow"] = lambda self, n: below(n)
    itself = lambda arguments, _: arguments[0]  # noqa: E731
    for name, answer in methods.items():
        replace(random.Random, name, answer, source=itself)
    replace(random.Random, "setstate", put_state)
    replace(random.Random, "getstate", saved_state)
    own_seed, own_init = random.Random.seed, random.Random.__init__

    def make(self, *arguments, **named):
        if lab.walk is not None:
            seeding.fresh[id(self)] = self
        own_init(self, *arguments, **named)

    fast_replace(random.Random, "__init__", make)
    if getattr(own_seed, "stands_in_for", None) is None:
        def seed_method(self, a=None, version=2):
            return own_seed(self, a, version) if lab.walk is None else seed(self, own_seed, a, (a, version))

        fast_replace(random.Random, "seed", seed_method)
        replace(random, "seed", lambda a=None, version=2: seed(inst, own_seed, a, (a, version)))
    for name in REFUSED:
        replace(random.Random, name, None, f"random.Random.{name}", itself)
    for name in ("random", "getrandbits", "_randbelow"):
        replace(random.SystemRandom, name, methods[name])
    replace(random.SystemRandom, "randbytes", None, "random.SystemRandom.randbytes")
    for name in ("urandom", "getrandom"):
        replace(os, name, refusal(f"os.{name}", _REMEDY))
    for name in _UUIDS:
        replace(uuid, name, refusal(f"uuid.{name}", _REMEDY))
    fast_replace(os, "open", _open)
    os.supports_dir_fd.add(_open)
    global _is_watching_files
    if not _is_watching_files:
        sys.addaudithook(_refuse_devices)
        _is_watching_files = True

    def log(x, *base):
        return x.log() if isinstance(x, Undrawn) and not base else python_log(x, *base)

    fast_replace(math, "log", log)


watched = set()  # ids of generators whose states must not move within a step

getstate, setstate = random.Random.getstate, random.Random.setstate


def states():
    """The state that changes when random draws without asking here."""
    return getstate(random._inst)


def restore(state):
    """Puts random's own generator where states() found it."""
    setstate(random._inst, state)
