"""Notices a source of chance that drew without being asked here: the states of the real generators must not move."""
import sys

from . import of_numpy, of_random

_NAMES = {
    "random": lambda module: of_random.states(),
    "numpy.random": lambda module: of_numpy.states(sys.modules["numpy"]),
    "torch": lambda module: module.default_generator.get_state().numpy().tobytes(),
}


def states():
    """The states of the generators of Python, numpy and torch, of what is imported."""
    found = {}
    for name, state in _NAMES.items():
        module = sys.modules.get(name)
        if module is not None and (name != "torch" or hasattr(module, "default_generator")):
            found[name] = state(module)
    return found


def check(before):
    """@raise TypeError naming the package whose generator has moved since states() gave `before`."""
    for name, state in states().items():
        if name in before and before[name] != state:
            raise TypeError(f"{name} has drawn without tempera_check being asked: a function of it was bound early under a "
                            "name that could not be found, or is called from compiled code; call it by its module")
