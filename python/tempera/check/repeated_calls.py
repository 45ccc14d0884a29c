"""Calls that were made before: a library's function with the same input, and with the same draws within it.

A path is followed by running the program again from its beginning, and so most calls of a slow function are calls that
were made before. Such a call is answered by what was returned then, once it has been run twice and returned the same. Its
draws are drawn as ever: the tree of decisions is the same.
"""
from . import lab

_TIMES = 2  # that each is run
_MOST_INPUTS = 10_000


class _Point:
    """After an input and some draws: the next decision, or what is returned."""

    __slots__ = ("tickets", "winners", "after", "value", "times")

    def __init__(self):
        self.tickets, self.winners, self.after, self.value, self.times = None, None, {}, None, 0


class RepeatedCalls:
    """The calls of one function, which must depend on its input and its draws alone.

    copy(value) gives a value that the program may change; is_same(a, b) compares two values.
    """

    def __init__(self, copy, is_same):
        self._copy, self._is_same, self._of_input = copy, is_same, {}

    def call(self, key, run):
        """The result of run(), whose input is identified by `key`."""
        if len(self._of_input) > _MOST_INPUTS:
            self._of_input.clear()
        first = point = self._of_input.setdefault(key, _Point())
        drawn = []
        while point is not None and point.tickets is not None:
            drawn.append(lab.walk.choose(point.tickets, point.winners))
            point = point.after.get(drawn[-1])
        if point is not None and point.times >= _TIMES:
            return self._copy(point.value)
        recorder = _Recorder(lab.walk, first, drawn)
        lab.walk = recorder
        try:
            value = run()
        finally:
            lab.walk = recorder.outer
        lab.raise_refused()  # an answer that is kept would not be refused again
        if recorder.has_merged:
            del self._of_input[key]  # what it returns is not all that it does
            return value
        end = recorder.point
        if end.times and not self._is_same(end.value, value) or end.tickets is not None or recorder.left:
            raise lab.NotDeterministic(f"after the same draws the call at {lab.address()} returns something else")
        end.value, end.times = self._copy(value), end.times + 1
        return value


class _Recorder:
    """The walk while a call runs: first what has been drawn for it already, then what the outer walk draws."""

    def __init__(self, outer, point, drawn):
        self.outer, self.point, self.left, self.has_merged = outer, point, list(reversed(drawn)), False

    def choose(self, tickets, winners):
        point = self.point
        if point.tickets is None and not point.times:
            point.tickets, point.winners = tickets, winners
        elif point.tickets != tickets:
            raise lab.NotDeterministic(f"after the same draws the tickets at {lab.address()} are not the same")
        winner = self.left.pop() if self.left else self.outer.choose(tickets, winners)
        self.point = point.after.setdefault(winner, _Point())
        return winner

    def merge(self, key):
        self.has_merged = True
        self.outer.merge(key)
