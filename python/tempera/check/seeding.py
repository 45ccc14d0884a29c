"""Seeds that a step gives to its own generators.

A generator that is seeded within a step of a kernel draws the same numbers in every step: it is its own from then on, which
its real draws answer, until the path ends. A whole program is run once, and the seed that it begins with is its user's: it
is left out and reported. Beginning one stream twice is refused, for its draws would be those again.
"""
from typing import NamedTuple

from . import lab

is_whole = False  # whether what runs is a whole program
own = {}  # by id: generators that draw their own stream until the path ends
drawn = {}  # by id: how often a generator has been answered on this path
fresh = {}  # by id: generators that this path has made
made = {}  # by id: seed sequences that this path has made
_sequences = {}  # by id: seed sequences of fresh entropy that this path has made, and where the first generator of each began
_saved = {}  # by id: the states that were asked for, and how often it had been answered then
_kept = {}  # by id: the state in which the path found a generator, and how to put it back there
_begun = {}  # by id of a generator: the stream that it draws from, as it was begun
_drawn_of = {}  # by kind and seed: how the stream was begun that has been drawn from
_reported = set()
report = None  # told of each seed once: its text, and its place


def begin():
    """A path begins."""
    end()
    drawn.clear()
    _saved.clear()
    fresh.clear()
    made.clear()
    _sequences.clear()
    _begun.clear()
    _drawn_of.clear()


def end():
    """Puts the generators back that the path has seeded."""
    while _kept:
        _kept.popitem()[1][1]()
    own.clear()


def keep(generator, kind, plain):
    """How to put a generator back that was there before the path: gives its plain state, and what puts it back.

    Returns None for one that this path has made. kind: its own class, whose get_state and set_state are the real ones.
    """
    if id(generator) in fresh:
        return None

    def kept():
        state = kind.get_state(generator)
        return plain(state), lambda: kind.set_state(generator, state)

    return kept


def give(generator, kind, seed, text, keep=None):
    """A step seeds a generator; whether it is to be seeded.

    `kind` and `seed` tell the streams apart; keep() gives the state of a generator that outlives the path, and what puts it
    back there.
    """
    _say(text)
    if not is_whole:
        _make_own(generator, keep)
        return True
    begun = _Begun((kind, repr(seed)), text, lab.address(), generator)
    if begun.stream in _drawn_of:
        _refuse_twice(begun)
    _begun[id(generator)] = begun
    drawn.pop(id(generator), None)
    return False


class _Begun(NamedTuple):
    """A stream as a generator has begun it."""

    stream: tuple
    text: str
    place: str
    generator: object  # kept, so that no other takes its id


def _refuse_twice(begun):
    raise lab.Refused(f"{begun.text} at {begun.place} begins the stream again that was begun at {_drawn_of[begun.stream].place}: its "
                      "draws are those again, and not independent of them (tempera.check)")


def count(generator):
    """A generator with this id is answered. @raise lab.Refused if another one has drawn from the same stream"""
    drawn[generator] = drawn.get(generator, 0) + 1
    begun = _begun.get(generator)
    if begun is not None and _drawn_of.setdefault(begun.stream, begun) is not begun:
        _refuse_twice(begun)


def by_chance(sequence):
    """A step has made a seed sequence of fresh entropy: what one generator draws of it is chance."""
    _sequences[id(sequence)] = sequence, ""


def is_by_chance(sequence):
    return id(sequence) in _sequences


def use(sequence):
    """A generator begins with such a sequence; a second one would draw what the first draws."""
    _, place = _sequences[id(sequence)]
    if place:
        raise lab.Refused(f"the generator at {lab.address()} begins with the SeedSequence of the one at {place}: its draws are those "
                          "again, and not independent of them; give each a child of the sequence's spawn() (tempera.check)")
    _sequences[id(sequence)] = sequence, lab.address()


def save(generator, state):
    """A step asks for the state of a generator, and gets this one."""
    _saved.setdefault(id(generator), []).append((state, drawn.get(id(generator), 0)))
    return state


def _drawn_since(generator, state):
    """True if a generator has been answered since the step asked for a state: all are equal, so a copy may be any of them."""
    saved = _saved.get(id(generator), [])
    counts = [count for given, count in saved if given is state] or [count for _, count in saved] or [0]
    return drawn.get(id(generator), 0) > min(counts)


def put(generator, given, state, now, text, keep=None):
    """A step puts a generator into a state that it gives; whether it is to be put there.

    `state` is the given one in numbers, and `now` the one that it is in.
    """
    if state != _kept.get(id(generator), (now,))[0]:
        if id(generator) not in own:
            _say(text)
            _make_own(generator, keep)
        return True
    if not is_whole and id(generator) not in _saved:  # a state of before the step, where every step begins again
        if id(generator) not in own:
            _say(text)
            _make_own(generator, keep)
        return True
    if id(generator) in own:
        if id(generator) in _kept:
            del own[id(generator)]  # back from its own stream
        return True
    if _drawn_since(generator, given):
        raise lab.Refused(f"{text} at {lab.address()} puts back a generator that has drawn since: its draws would be those "
                          "again (tempera.check)")
    return False


def forget(generator):
    """A step seeds a generator by chance."""
    own.pop(id(generator), None)
    _begun.pop(id(generator), None)


def _make_own(generator, keep):
    if keep is not None and id(generator) not in _kept:
        _kept[id(generator)] = keep()
    own[id(generator)] = generator


def _say(text):
    told = text, lab.address()
    if report is not None and told not in _reported:
        _reported.add(told)
        report(*told)


def short(value):
    text = " ".join(repr(value).split())  # numpy's are of several lines
    return text if len(text) < 40 else text[:37] + "..."
