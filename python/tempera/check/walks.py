"""Walks the tree of a step's decisions, depth first, and tells `out` of it in the lines of docs/howto/check_protocol.md.

Replay runs the step again from its beginning for each path: cheap for a short step. Forks divides the process at each
decision, so that nothing is run twice: cheap for a long one.
"""
import contextlib
import gc
import os
import sys
import time

from . import lab, of_random, seeding, snapshots

most_decisions = 1000  # on one path
cut = 0.0  # the probability below which a path that draws on and on is left out
_DRAWS_BEFORE_CUT = 40


class Share:
    """Which subtrees of a walk are this process's: number `mine` of `of`, dealt if a path is wide enough.

    That depends on the path alone: of the processes that share a tree some may fork and others replay.
    """

    def __init__(self, mine=0, of=1):
        self.mine, self.of = mine, of

    def deals(self, before, branches):
        """True if branches are dealt at a decision: the first at which its path has branched often enough."""
        return before < 16 * self.of <= before * branches and self.of > 1

    def owner(self, owner, branches, branch):
        """Who would take a branch of a path that this owner would take."""
        return (owner * branches + branch) % self.of


class _Node:
    """A decision on the present path, or a merge, which has one way on."""

    __slots__ = ("tickets", "winners", "skipped", "at", "width", "owner", "key", "draws", "share", "is_automatic")

    def __init__(self, tickets, winners, width, owner, draws=0, share=1.0, key=None):
        self.tickets, self.winners, self.width, self.owner, self.key = tickets, winners, width, owner, key
        self.skipped, self.at = None, 0
        self.draws, self.share = draws, share  # before it, since the last merge
        self.is_automatic = False


@contextlib.contextmanager
def _path(walk):
    """Within, the step runs along a path of this walk.

    @raise lab.Refused whatever else has ended it, if anything was refused
    """
    seeding.begin()
    lab.refused, lab.walk = None, walk
    try:
        yield
    finally:
        sys.settrace(None)
        lab.walk = None
        seeding.end()
        lab.raise_refused()


class _Walk:
    def __init__(self, out, share):
        self.out, self.share = out, share

    def _open(self, tickets, winners, before, owner):
        """Writes a new decision; which of its branches another process takes."""
        is_dealt = self.share.deals(before, len(winners))
        self.out.fork(tickets, lab.address(), is_dealt)
        if not is_dealt:
            return None
        return [self.share.owner(owner, len(winners), i) != self.share.mine for i in range(len(winners))]

    def _leave_out_endless(self, draws, share):
        if draws >= most_decisions or draws >= _DRAWS_BEFORE_CUT and share < cut:
            raise lab.Endless(f"a path draws without end, {draws} times until it is cut off")

    def _run_path(self, step):
        error = None
        try:
            with _path(self):
                end = step()
        except lab.Abandoned:
            return
        except (lab.Refused, lab.NotDeterministic):
            raise
        except lab.Endless as endless:
            error = endless
        except (Exception, SystemExit) as raised:
            error = raised
        if error is None:
            self.out.end(end)
        else:
            self.out.lost(error, lab.place_of(error))


class Replay(_Walk):
    """Runs the step again and again, each time along the next path.

    Where a path comes to what the program held on another one, it is followed once.
    """

    merges = True  # whether what the program holds is looked at
    _seen, _pass = set(), None  # keys of this pass over the states
    _tried = _hits = 0

    def __init__(self, out, share, every_path=False):
        super().__init__(out, share)
        self._merges = Replay.merges and not every_path

    @staticmethod
    def begin(number):
        """A pass over the states begins if it has another number."""
        if number != Replay._pass:
            Replay._pass = number
            Replay._seen.clear()

    def _look_at_next_line(self):
        """Where the program's next line begins, what it holds is looked at."""
        if not (self._merges and Replay.merges) or seeding.own or not self._is_alone():
            return
        frame = sys._getframe(2)
        while frame is not None:
            if lab.whose(frame.f_code.co_filename) == "the program's":
                frame.f_trace = self._line
            frame = frame.f_back
        sys.settrace(self._enter)

    def _enter(self, frame, _event, _argument):
        return self._line if lab.whose(frame.f_code.co_filename) == "the program's" else None

    def _line(self, frame, event, _argument):
        if event != "line" or lab.walk is None:
            return self._line
        sys.settrace(None)
        if lab.walk is self and self._depth == len(self._path) and not self._path[-1].is_automatic:
            key = snapshots.key_at(frame)
            if key is not None:
                self._merge_at(key)
        return None

    def _is_alone(self):
        """True if no other path goes this way."""
        return self.share.of == 1 or any(node.skipped is not None for node in self._path)

    def _merge_at(self, key):
        node = _Node(None, (0,), *self._reached(), key=key)
        node.is_automatic = True
        self._depth += 1
        self._path.append(node)
        is_new = key not in Replay._seen
        Replay._seen.add(key)
        self.out.merge_known(key, is_new)
        Replay._tried += 1
        Replay._hits += not is_new
        if self.share.of == 1 and Replay._tried > 2000 and Replay._hits * 20 < Replay._tried:
            Replay.merges = False  # it is not worth its time
        if not is_new:
            raise lab.Abandoned

    def run(self, step):
        self._path = []
        while True:
            self._depth = 0
            self._run_path(step)
            if self._depth < len(self._path):
                raise lab.NotDeterministic("after the same draws it ended, and had drawn once more before")
            if not self._advance():
                return

    def choose(self, tickets, winners):
        self._depth += 1
        if self._depth <= len(self._path) and self._path[self._depth - 1].is_automatic:
            self._depth += 1
        if self._depth <= len(self._path):
            node = self._path[self._depth - 1]
            if node.tickets is not tickets and node.tickets != tickets:
                raise lab.NotDeterministic(f"after the same draws the tickets at {lab.address()} are "
                                           f"{_short(tickets)}, and were {_short(node.tickets)}")
            if self._depth == len(self._path):
                self._look_at_next_line()
            return node.winners[node.at]
        before, owner = self._reached()
        draws, share = self._drawn()
        self._leave_out_endless(draws, share)
        node = _Node(tickets, winners, before * len(winners), owner, draws, share)
        node.skipped = self._open(tickets, winners, before, owner)
        self._path.append(node)
        if not self._skip(node):
            raise lab.Abandoned
        self._look_at_next_line()
        return node.winners[node.at]

    def merge(self, key):
        self._depth += 1
        if self._depth <= len(self._path) and self._path[self._depth - 1].is_automatic:
            self._depth += 1
        if self._depth <= len(self._path):
            if self._path[self._depth - 1].key != key:
                raise lab.NotDeterministic(f"after the same draws it merges at {_short(key)}")
            return
        self._path.append(_Node(None, (0,), *self._reached(), key=key))
        if not self.out.merge(key):
            raise lab.Abandoned

    def _reached(self):
        """How often the present path has branched, and who would take it."""
        if not self._path:
            return 1, 0
        last = self._path[-1]
        return last.width, self.share.owner(last.owner, len(last.winners), last.at)

    def _drawn(self):
        """Draws since the last merge, and their probability."""
        if not self._path or self._path[-1].tickets is None:
            return 0, 1.0
        last = self._path[-1]
        return last.draws + 1, last.share * (last.tickets[last.winners[last.at]] / sum(last.tickets))

    def _skip(self, node):
        """Goes on to the next branch that this process takes; whether there is one."""
        while node.at < len(node.winners):
            if node.skipped is None or not node.skipped[node.at]:
                return True
            self.out.skip()
            node.at += 1
        return False

    def _advance(self):
        while self._path:
            last = self._path[-1]
            last.at += 1
            if self._skip(last):
                return True
            self._path.pop()
        return False


class Forks(_Walk):
    """Divides the process at each decision: a child for each branch, one after the other."""

    def __init__(self, out, share, every_path=False):
        super().__init__(out, share)

    def run(self, step):
        self._width, self._owner, self._draws, self._likelihood = 1, 0, 0, 1.0
        if self._divide():
            return
        code = 1
        try:
            self._run_path(step)
            self.out.flush()
            code = 0
        except BaseException as error:  # also what a program raises to end itself
            self.out.error(error)
        finally:
            leave(code)

    def choose(self, tickets, winners):
        self._leave_out_endless(self._draws, self._likelihood)
        self._draws += 1
        before, total = self._likelihood, sum(tickets)
        owner = self._owner
        skipped = self._open(tickets, winners, self._width, owner)
        self._width *= len(winners)
        mine = [i for i in range(len(winners)) if skipped is None or not skipped[i]]
        for i, winner in enumerate(winners):
            self._owner = self.share.owner(owner, len(winners), i)
            self._likelihood = before * (tickets[winner] / total)
            if skipped is not None and skipped[i]:
                self.out.skip()
            elif i == mine[-1] and i + 1 == len(winners):
                return winner  # the last branch is this process's own
            elif not self._divide():
                return winner
        self.out.flush()
        leave(0)

    def merge(self, key):
        self._draws, self._likelihood = 0, 1.0
        if not self.out.merge(key):
            raise lab.Abandoned

    def _divide(self):
        """True in the parent, once the child has ended."""
        self.out.flush()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        state = of_random.states()
        child = os.fork()
        if child == 0:
            of_random.restore(state)  # Python seeds random anew in a child: the step has not drawn that
            return False
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status != 0:
            # The child has said why, unless a signal ended it.
            if status < 0:
                self.out.error(RuntimeError(f"a forked process of the program is killed by signal {-status}"))
            leave(1)
        return True


class Trial:
    """One path, the first winner everywhere: how long does a path take, and may the process fork then?"""

    def choose(self, tickets, winners):
        self._left -= 1
        if self._left < 0:
            raise lab.Endless
        return winners[0]

    def merge(self, key):
        pass

    def seconds(self, step):
        self._left = most_decisions
        begin = time.perf_counter()
        try:
            with _path(self):
                step()
        except lab.Refused:
            raise
        except (lab.Endless, SystemExit, Exception):
            pass  # the walk says so
        return time.perf_counter() - begin


def may_fork():
    """True if the process is of one thread, so that it can be divided safely.

    jemalloc, which pyarrow brings, stops its own thread while a process forks: that one is no hindrance.
    """
    others = 0
    for task in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{task}/comm") as name:
                others += name.read().strip() != "jemalloc_bg_thd"
        except OSError:
            pass  # it has ended
    return others <= 1


def walk_for(step):
    """Replay or Forks, whichever is cheaper for this step."""
    trial = Trial()
    for _ in range(2):
        trial.seconds(step)  # the first call pays for what is made once, the second for calls that are run twice
    seconds = trial.seconds(step)
    if seconds < 0.001 or not may_fork():
        return Replay
    gc.collect()
    gc.freeze()
    begin = time.perf_counter()
    for _ in range(3):
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
    # About half of a path's decisions are after a decision on average.
    return Forks if seconds > 2 * (time.perf_counter() - begin) / 3 else Replay


def leave(code):
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            pass
    os._exit(code)


def _short(value):
    text = str(value)
    return text if len(text) < 60 else text[:57] + "..."
