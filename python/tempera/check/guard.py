"""Notices a source of chance that drew without being asked here: the states of the real generators must not move."""
import random
import sys

from . import lab, of_numpy, of_random, seeding

_NAMES = {
    "random": lambda module: of_random.states(),
    "numpy.random": lambda module: of_numpy.states(sys.modules["numpy"]),
    "torch": lambda module: module.default_generator.get_state().numpy().tobytes(),
}
watched = []  # generators that were made before they had stand-ins
unreached = set()  # who holds what could not be renamed


def watch(generators):
    """Also the states of these must not move."""
    ids = {id(generator) for generator in watched}
    watched.extend(g for g in generators if id(g) not in ids and g is not random._inst
                    and not isinstance(g, random.SystemRandom))
    of_random.watched.update(id(g) for g in watched)


def _state_of(generator):
    if isinstance(generator, random.Random):
        return of_random.getstate(generator)
    bits = getattr(generator, "bit_generator", getattr(generator, "_bit_generator", generator))
    return repr(bits.state)


def states():
    """The states of the generators of Python, numpy and torch, of what is imported."""
    found = {}
    for name, state in _NAMES.items():
        module = sys.modules.get(name)
        if module is not None and (name != "torch" or hasattr(module, "default_generator")):
            found[name] = state(module)
    for i, generator in enumerate(watched):
        found[i] = _state_of(generator)
    return found


def check(before):
    """@raise lab.Refused naming the package whose generator has moved since states() gave `before`."""
    seeding.end()
    for name, state in states().items():
        if name in before and before[name] != state:
            kind = name if isinstance(name, str) else f"a generator of {type(watched[name]).__module__.split('.')[0]}"
            held = f" ({'; '.join(sorted(unreached))})" if unreached else ""
            raise lab.Refused(f"{kind} has drawn without tempera.check being asked: a function of it was bound early under a "
                            f"name that could not be found{held}, or is called from compiled code; call it by its module")
