"""The program's side of docs/howto/check_protocol.md: one JSON object a line."""
import gc
import inspect
import json
import os
import sys
import traceback
from fractions import Fraction

from . import early_names, guard, lab, seeding, snapshots, walks
from .finite_model import Model

_out = None  # the file descriptor that tempera reads


def keep_output() -> None:
    """Sends the program's output to stderr from now on, and not between the lines."""
    global _out
    if _out is None:
        _out = os.dup(1)
        os.set_inheritable(_out, False)
        os.dup2(2, 1)
        sys.stdout.flush()


class Lines:
    """The lines that a walk writes; a block at a time, and all of it before a process forks."""

    def __init__(self, read_answer):
        self._read_answer, self._lines, self._size, self._heads = read_answer, [], 0, {}

    def write(self, line):
        self._lines.append(line)
        self._size += len(line)
        if self._size > 1 << 15:
            self.flush()

    def flush(self):
        data = "".join(self._lines).encode()
        self._lines, self._size = [], 0
        while data:
            data = data[os.write(_out, data):]

    def fork(self, tickets, address="", is_dealt=False):
        head = self._heads.get(id(tickets))
        if head is None or head[0] is not tickets:
            numbers = [t if t < 2**64 else str(t) for t in tickets]
            head = self._heads[id(tickets)] = (tickets, json.dumps(numbers, separators=(",", ":")))
        self.write('{"fork":%s,"at":%s%s}\n' % (head[1], json.dumps(address), ',"dealt":true' if is_dealt else ""))

    def skip(self):
        self.write('{"skip":true}\n')

    def end(self, state):
        self.write('{"end":%s}\n' % json.dumps(state, separators=(",", ":")))

    def merge(self, key):
        self.write(json.dumps({"merge": key}) + "\n")
        self.flush()
        line = self._read_answer()
        if not line:
            os._exit(0)
        return json.loads(line)["new"]

    def merge_known(self, key, is_new):
        """merge() of a key that is not known elsewhere."""
        self.write('{"merge":"%s","is_new":%s}\n' % (key, "true" if is_new else "false"))

    def lost(self, error, place):
        """The path has no end."""
        _flush_output()
        self.write(json.dumps({"lost": _text_of(error), "at": place}) + "\n")

    def seed(self, text, place):
        self.write(json.dumps({"seed": text, "at": place}) + "\n")

    def error(self, error):
        _flush_output()
        kind = "not deterministic" if isinstance(error, lab.NotDeterministic) else "error"
        self.write(json.dumps({kind: str(error) if kind != "error" else _text_of(error), "at": lab.address()}) + "\n")
        self.flush()


def _flush_output():
    """Shows the program's output with its error."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            pass


def _text_of(error):
    if isinstance(error, lab.Endless):
        return str(error)
    return "".join(traceback.format_exception(type(error), error, error.__traceback__))


def record(tokens):
    """A record as whole numbers, from a list, an array or a tensor."""
    if hasattr(tokens, "tolist"):
        tokens = tokens.tolist()
    while isinstance(tokens, (list, tuple)) and len(tokens) == 1 and isinstance(tokens[0], (list, tuple)):
        tokens = tokens[0]  # a batch of one
    return [int(token) for token in tokens]


def state_of(value, rungs):
    """The result of a step as the protocol writes it: a record, or one for each power."""
    return [record(one) for one in value] if rungs > 1 else record(value)


def serve(step):
    """Runs step(model, state) for every state that tempera asks for, until it asks no more."""
    run(lambda model: lambda state: step(model, state))


class Reader:
    """Lines of standard input, with nothing read ahead that a fork would read twice."""

    def __init__(self):
        self.ahead = b""

    def read_answer(self):
        """A short line, and no byte after it: what follows the last answer of a tree is another process's to read."""
        return self.readline(block_bytes=1)

    def readline(self, block_bytes=1 << 16):
        while b"\n" not in self.ahead:
            block = os.read(0, block_bytes)
            if not block:
                return ""
            self.ahead += block
        line, self.ahead = self.ahead.split(b"\n", 1)
        return line.decode()


def run(prepare):
    """Speaks the protocol; prepare(model) gives the step from a state for a model, once it is known."""
    keep_output()
    source = Reader()
    lines = Lines(source.read_answer)
    try:
        _run(prepare, lines, source)
    except Exception as error:
        lines.error(error)
        raise SystemExit(1) from None


def _run(prepare, lines, source):
    """Each case in a process of its own, so that what a program keeps of one model is not there for the next."""
    early_names.install()
    may_fork = walks.may_fork()
    while True:
        line = source.readline()
        if not line:
            return
        lines.write('{"can":["share"%s]}\n' % (',"case"' if may_fork else ""))
        lines.flush()
        if not may_fork:
            return _serve_case(json.loads(line), prepare, lines, source)
        gc.freeze()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                _serve_case(json.loads(line), prepare, lines, source)
                code = 0
            except BaseException as error:
                lines.error(error)
            finally:
                walks.leave(code)
        if os.waitpid(child, 0)[1] != 0:
            raise SystemExit(1)
        source.ahead = b""
        lines.write('{"ready":true}\n')
        lines.flush()


def _serve_case(case, prepare, lines, source):
    model = Model(case)
    seeding.is_whole, seeding.report = bool(case.get("whole")), lines.seed
    snapshots.begin()
    walks.Replay.merges = walks.Replay.merges and snapshots.is_known()
    walks.cut = float(Fraction(case.get("cut", "0")))
    step = prepare(model)
    early_names.install()  # of what this has imported
    _compute_in_one_thread()
    rungs, kind = (1 if case.get("whole") else max(1, len(case["powers"]))), None
    while True:
        line = source.readline()
        asked = json.loads(line) if line else {"done": True}
        if "done" in asked:
            return
        state = asked["state"]

        def once():
            before = guard.states() if kind is walks.Forks else None
            end = state_of(step(_copied(state)), rungs)
            if before is not None:
                guard.check(before)
            return end

        before = guard.states()
        if kind is None:
            kind = walks.walk_for(once)
            early_names.install()
            _compute_in_one_thread()
        walks.Replay.begin(asked.get("pass"))
        kind(lines, walks.Share(*asked.get("share", (0, 1))), asked.get("every_path", False)).run(once)
        guard.check(before)
        lines.flush()


def _compute_in_one_thread():
    """Every core has a process of its own, and the numbers are few: torch's threads would wait for each other."""
    set_threads = getattr(sys.modules.get("torch"), "set_num_threads", None)
    if set_threads is not None:
        set_threads(1)


def _copied(state):
    return [list(one) if isinstance(one, list) else one for one in state]


def arguments_for(function, known):
    """The function's parameters, by their names; `known` gives what there is by name."""
    named = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if name in known:
            named[name] = known[name]
        elif parameter.default is parameter.empty:
            raise TypeError(f"{function.__name__} has a parameter {name!r}: give it a default or call it one of "
                            f"{', '.join(sorted(known))}")
    return named
