"""Puts stand-ins in the place of sources of chance: outside a step each is what it stands in for."""
import functools
import sys

from . import lab, seeding

replaced = {}  # by id: what was replaced, and by what


def refusal(name, remedy=""):
    """The behaviour within a step of a source without a stand-in."""

    def refuse(*_, **__):
        raise lab.Refused(f"tempera.check has no stand-in for {name}, called at {lab.address()}{remedy}")

    return refuse


def replace(owner, name, answer, called=None, source=None):
    """Within a step owner.name is answer(...), outside it what it was. Nothing if the owner has none.

    source(arguments, named) gives the generator of a call: one that the step has seeded draws its own stream.
    """
    original = getattr(owner, name, None)
    if original is None or getattr(original, "stands_in_for", None) is not None:
        return
    answer = answer or refusal(called or f"{owner.__name__}.{name}")

    @functools.wraps(original, assigned=("__doc__", "__name__"), updated=())
    def stand_in(*arguments, **named):
        if lab.walk is None:
            return original(*arguments, **named)
        if source is not None:
            generator = id(source(arguments, named))
            if generator in seeding.own:
                return original(*arguments, **named)
            seeding.count(generator)
        return answer(*arguments, **named)

    stand_in.stands_in_for = original
    # A static or class method, fetched from the class, must not be bound a second time.
    setattr(owner, name, stand_in)
    if not isinstance(owner, type):
        replaced[id(original)] = (original, stand_in, f"{owner.__name__}.{name}")


def replace_all(owner, answers, refused, source=None):
    """replace() of names with answers, and of names that are refused."""
    for name, answer in answers.items():
        replace(owner, name, answer, source=source)
    for name in refused:
        replace(owner, name, None, source=source)


def fast_replace(owner, name, stand_in):
    """Puts a function that itself knows what to do outside a step."""
    original = getattr(owner, name)
    if getattr(original, "stands_in_for", None) is None:
        stand_in.stands_in_for, stand_in.__name__ = original, name
        setattr(owner, name, stand_in)
        replaced[id(original)] = (original, stand_in, f"{owner.__name__}.{name}")


def count(size):
    """Numbers in a size: None, a whole number, or a tuple of them."""
    if size is None:
        return 1
    total = 1
    for n in size if isinstance(size, (tuple, list)) else (size,):
        total *= int(n)
    return total


def loaded(name):
    return sys.modules.get(name)
