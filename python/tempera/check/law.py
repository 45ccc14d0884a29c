"""The exact law of a step, within this process."""
from fractions import Fraction

from tempera.wishes import called

from . import early_names, guard, lab, seeding, walks
from .lazy import Undrawn


class Collected:
    """Adds up what a walk tells: the law of the ends."""

    def __init__(self):
        self._open = []  # of each decision on the path: its tickets' shares that are still to come
        self._share = [Fraction(1)]
        self._ends = [{}]  # of each merge on the path: its own law
        self._merged = {}
        self.paths = 0

    def fork(self, tickets, address="", is_dealt=False):
        total = sum(tickets)
        self._open.append([Fraction(t, total) for t in reversed(tickets) if t])
        self._next()

    def _next(self):
        self._share.append(self._share[len(self._open) - 1] * self._open[-1].pop())

    def merge(self, key):
        is_new = key not in self._merged
        self._add(("merged", key))
        if is_new:
            self._merged[key] = {}
            self._open.append(key)
            self._share.append(Fraction(1))
            self._ends.append(self._merged[key])
        else:
            self._done()
        return is_new

    def _add(self, to):
        law = self._ends[-1]
        law[to] = law.get(to, 0) + self._share[-1]

    def _done(self):
        """A subtree is whole: on to the next branch of the innermost decision that has one."""
        while self._open:
            self._share.pop()
            if not isinstance(self._open[-1], list):
                self._ends.pop()
            elif self._open[-1]:
                self._next()
                return
            self._open.pop()

    def end(self, value):
        self.paths += 1
        self._add(("end", value))
        self._done()

    def skip(self):
        self._done()

    def lost(self, error, place):
        raise RecursionError(f"{error}, at {place}") if isinstance(error, lab.Endless) else error

    def law(self):
        known = {}

        def of(edges):
            total = {}
            for (kind, value), share in edges.items():
                if kind == "merged" and value not in known:
                    known[value] = of(self._merged[value])
                for end, part in (known[value] if kind == "merged" else {value: 1}).items():
                    total[end] = total.get(end, 0) + share * part
            return total

        return of(self._ends[0])


def law(step, *arguments):
    """{what step(*arguments) returns: its exact probability}: every decision taken in turn. The values must have a hash.

    @raise lab.NotDeterministic if a second run has another law
    """
    called("step", step)
    early_names.install()
    seeding.is_whole, seeding.report = False, None
    walks.Trial().seconds(lambda: step(*arguments))  # libraries make names and caches in a first call, some by chance
    before = guard.states()
    laws = []
    for _ in range(2):
        collected = Collected()
        walks.Replay(collected, walks.Share(), every_path=True).run(lambda: _hashable(step(*arguments)))
        guard.check(before)
        laws.append(collected.law())
    if laws[0] != laws[1]:
        raise lab.NotDeterministic("run twice, its law is not the same")
    return laws[0]


def _hashable(value):
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Undrawn):
        raise lab.Refused("the step returns a uniform whose value is not drawn: return what it decides (tempera.check)")
    if isinstance(value, (list, tuple)):
        return tuple(_hashable(v) for v in value)
    return value
