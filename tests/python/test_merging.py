"""Paths that come to equal holdings are followed once, and nothing else is."""
import random
import sys
import types
from fractions import Fraction
from typing import Any, Callable, Optional, TypeVar, Union

import merged_steps
import pytest
from tempera.check import early_names, lab, law, snapshots, walks
from tempera.check.law import Collected

STEPS = merged_steps.__file__
T = TypeVar("T")
known = pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="frames are read on CPython 3.11 alone")


@pytest.fixture(autouse=True)
def only_the_steps_are_a_program(monkeypatch):
    """What the tests hold is not a part of a program, and chance is answered whichever test is the first."""
    early_names.install()
    monkeypatch.setattr(lab, "_files", {})
    monkeypatch.setattr(lab, "_whose", lambda file: "the program's" if file == STEPS else "ours")


class Merging(Collected):
    """As the command adds up the law of a program that says itself what is new."""

    def merge_known(self, key, is_new):
        assert self.merge(key) == is_new


def laws(step):
    """The law of a step with merges and without, and the paths of each."""
    every = law(step)
    snapshots.begin()
    merged = Merging()
    walks.Replay._seen.clear()
    walks.Replay._tried = walks.Replay._hits = 0
    walks.Replay.merges = True
    walks.Replay(merged, walks.Share()).run(step)
    return every, merged.law(), merged.paths


@known
@pytest.mark.parametrize("step, most", [(merged_steps.by_variables, 10), (merged_steps.by_iterators, 8), (merged_steps.by_objects, 12), (merged_steps.by_globals, 6),
                                        (merged_steps.by_numbers_not_drawn, 8)])
def test_the_law_is_the_same_on_fewer_paths(step, most):
    every, merged, paths = laws(step)
    assert merged == every
    assert paths <= most


@known
@pytest.mark.parametrize("step", [merged_steps.by_closure, merged_steps.on_the_stack, merged_steps.in_a_generator, merged_steps.by_default])
def test_what_is_held_elsewhere_is_told_apart(step):
    every, merged, _ = laws(lambda: merged_steps.as_tuple(step))
    assert merged == every


@known
def test_values_that_cannot_be_told_have_no_key():
    class Hiding:
        def __getstate__(self):
            return {}

    class Raising:
        def __reduce__(self):
            raise NotImplementedError

    def key(value):
        return merged_steps.key_of(value, snapshots.key_at)

    assert key([1]) == key([1]) != key([2])
    assert key(types.SimpleNamespace) is not None
    for value in (Hiding(), Raising(), random.SystemRandom(), (x for x in ()), open(__file__)):  # noqa: SIM115
        assert key([value]) is None
    # Annotations, which most programs hold in their globals, and what they name.
    marks = [Union, Any, Optional["X"], list[int], dict[str, int], Callable[[int], str], T, Union[int, str]]
    keys = [key(mark) for mark in marks]
    assert [(str(m), k) for m, k in zip(marks, keys) if k is None or k != key(m) or keys.count(k) > 1] == []
    assert key(types.SimpleNamespace(a=1)) == key(types.SimpleNamespace(a=1)) != key(types.SimpleNamespace(a=2))
    # One list twice, or two that are equal.
    one = [1]
    assert key([one, one]) != key([[1], [1]])


def test_a_path_that_draws_without_end_is_cut_off():
    lost = []

    class Losing(Collected):
        def lost(self, error, place):
            lost.append((str(error), place, self._share[-1]))
            self._done()

    def step():
        while random.random() < 0.5:
            pass
        return 0

    walks.cut = 2.0**-60
    try:
        walks.Replay(Losing(), walks.Share(), True).run(step)
    finally:
        walks.cut = 0.0
    assert len(lost) == 1 and "draws without end" in lost[0][0]
    assert lost[0][2] == Fraction(1, 2**61)


@pytest.mark.parametrize("step, error", [
    (merged_steps.failing, ValueError("the reason")), (merged_steps.leaving, SystemExit("the reason")),
])
def test_a_path_that_raises_is_lost_with_its_line(step, error):
    lost = []

    class Losing(Collected):
        def lost(self, error, place):
            lost.append((repr(error), place))
            self._done()

    place = step.__code__.co_firstlineno + 2
    walks.Replay(Losing(), walks.Share(), True).run(step)
    assert len(lost) == 1 and lost[0] == (repr(error), f"merged_steps.py:{place}")
    with pytest.raises(type(error), match="the reason"):
        law(step)


def test_a_law_is_taken_twice():
    runs = []

    def step():
        runs.append(0)
        return random.random() < 0.5 and len(runs) > 3

    with pytest.raises(lab.NotDeterministic, match="its law is not the same"):
        law(step)
