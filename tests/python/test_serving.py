"""A program's side of docs/howto/check_protocol.md: what it hears of a case, and the lines that it writes, against laws written out."""
import inspect
import json
import math
import os
import random
import subprocess
import sys
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from laws import PACKAGE

from tempera.check import lab, serving, snapshots, walks
from tempera.check.finite_model import Model

CASE = {"horizon": 2, "powers": ["2"], "vocabulary": ["a", "b", "e"], "terminal": [2], "default": ["1/2", "1/4", "1/4"]}
PROGRAM = """
import os, random, signal, sys, time, tempera.check
from tempera.check import walks
{}
tempera.check.serve(step)
"""


class Program:
    """A program of its own that hears of cases, one after the other."""

    def __init__(self, body, kind=None):
        source = PROGRAM.format((f"walks.walk_for = lambda step: walks.{kind}\n" if kind else "") + body)
        self.process = subprocess.Popen([sys.executable, "-c", source], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env={**os.environ, "PYTHONPATH": PACKAGE, "TEMPERA_CHECK": "1"})  # fmt: skip

    def asked(self, case, *states):
        """The lines of a case up to its end; merges are answered as tempera does."""
        self.process.stdin.write("".join(json.dumps(line) + "\n" for line in (case, *states, {"done": True})))
        self.process.stdin.flush()
        lines = []
        while line := self.process.stdout.readline():
            lines.append(json.loads(line))
            if lines[-1].keys() & {"ready", "error", "not deterministic"}:
                break
        return lines

    def ended(self):
        out, errors = self.process.communicate(timeout=60)
        return self.process.returncode, out, errors


def law_of(lines):
    """{what a path came to: its probability}, of the lines of one tree without merges."""
    left, total = [Fraction(1)], {}
    for line in lines:
        share = left.pop()
        if "fork" in line:
            tickets = [int(ticket) for ticket in line["fork"]]
            left += [share * ticket / sum(tickets) for ticket in reversed(tickets) if ticket]
        else:
            end = json.dumps(line["end"]) if "end" in line else line["lost"].strip().splitlines()[-1]
            total[end] = total.get(end, 0) + share
    assert not left
    return total


def test_each_case_begins_anew_and_each_path_with_its_own_state():
    program = Program("""
def step(model, state):
    print("noise")
    os.write(1, b'{"end":[9]}\\n')
    for record in state:
        if isinstance(record, list):
            record.append(2)
    drawn = random.choices([0, 1], weights=[1, 3])[0]
    return [[*record, drawn] for record in state] if isinstance(state[0], list) else [*state, len(model.powers), drawn]
""")
    for case, state, end in (
        ({**CASE, "powers": ["1", "2"]}, [[0], [1, 0]], lambda drawn: [[0, 2, drawn], [1, 0, 2, drawn]]),
        ({**CASE, "powers": ["1", "2"], "whole": True}, [0], lambda drawn: [0, 2, drawn]),
        (CASE, [1, 0], lambda drawn: [1, 0, 1, drawn]),
        ({**CASE, "powers": []}, [1], lambda drawn: [1, 0, drawn]),
    ):
        first, *lines, last = program.asked(case, *[{"state": state, "every_path": True}] * 2)
        assert first == {"can": ["share", "case"]} and last == {"ready": True}
        expected = {json.dumps(end(drawn)): Fraction(1 + 2 * drawn, 4) for drawn in (0, 1)}
        assert law_of(lines[: len(lines) // 2]) == law_of(lines[len(lines) // 2 :]) == expected
    failed = program.asked({"horizon": 2})
    assert "KeyError" in failed[-1]["error"]
    code, rest, errors = program.ended()
    assert (code, rest) == (1, "") and "noise" in errors


def test_a_module_of_chance_that_a_step_imports_is_answered_and_has_not_drawn():
    program = Program("""
def step(model, state):
    import numpy
    return [int(numpy.random.rand() < 0.25)]
""")
    _, *lines, last = program.asked(CASE, {"state": [0], "every_path": True})
    assert last == {"ready": True} and law_of(lines) == {"[1]": Fraction(1, 4), "[0]": Fraction(3, 4)}


UNEVEN = """
walks.most_decisions = 41
def step(model, state):
    first = random.randrange(4)
    if first == 0:
        raise ValueError("the reason")
    if first == 1:
        while random.random() < 0.5:
            pass
        return [1]
    for _ in range(21):
        if random.choices([0, 1], weights=[3, 1])[0]:
            return [0]
    if first == 3:
        tempera.check.merge("here")
    for _ in range(21):
        if random.choices([0, 1], weights=[3, 1])[0]:
            return [2]
    return [0, 0]
"""


@pytest.mark.parametrize("kind", ["Replay", "Forks"])
def test_a_path_is_cut_off_where_forty_draws_since_the_last_merge_are_less_likely_than_the_cut(kind):
    case = {**CASE, "cut": "1/1024"}
    program = Program(UNEVEN, kind)
    program.process.stdin.write(json.dumps(case) + '\n{"state":[1],"every_path":true}\n')
    program.process.stdin.flush()
    assert "can" in json.loads(program.process.stdout.readline())
    left, total = [Fraction(1)], {}
    while left:
        line = json.loads(program.process.stdout.readline())
        share = left.pop()
        if "fork" in line:
            left += [share * ticket / sum(line["fork"]) for ticket in reversed(line["fork"])]
        elif "merge" in line:
            program.process.stdin.write('{"new":true}\n')
            program.process.stdin.flush()
            left.append(share)
        else:
            end = str(line["end"]) if "end" in line else line["lost"].strip().splitlines()[-1]
            total[end] = total.get(end, 0) + share
    program.process.stdin.write('{"done":true}\n')
    assert program.ended()[0] == 0
    quarter, going = Fraction(1, 4), Fraction(3, 4)
    endless = "a path draws without end, 40 times until it is cut off"
    # The first draw counts too: 39 more, and the fortieth is not made. After the merge twenty-one more are few.
    assert total == {
        "ValueError: the reason": quarter, "[1]": quarter * (1 - Fraction(1, 2**39)), "[0]": 2 * quarter * (1 - going**21),
        "[2]": quarter * going**21 * (1 - going**18) + quarter * going**21 * (1 - going**21),
        "[0, 0]": quarter * going**42, endless: quarter * Fraction(1, 2**39) + quarter * going**39,
    }  # fmt: skip


HIDDEN = """
hidden = iter(random.Random(5).random, 2.0)
def step(model, state):
    random.randrange(2)
    return [0] if next(hidden) < 0.5 else [1]
"""
KILLED = """
def step(model, state):
    if random.randrange(2) == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return [0]
"""


@pytest.mark.parametrize("kind, body, told", [
    ("Replay", HIDDEN, "a generator of random has drawn without tempera.check being asked"),
    ("Forks", HIDDEN, "a generator of random has drawn without tempera.check being asked"),
    ("Forks", KILLED, "killed by signal 9"),
])
def test_what_ends_the_judgement_is_told_once_and_the_program_fails(kind, body, told):
    program = Program(body, kind)
    lines = program.asked(CASE, {"state": [1]})
    assert told in lines[-1]["error"]
    code, rest, _ = program.ended()
    assert code == 1 and "ready" not in rest


def test_how_a_step_is_walked():
    def chosen(monkeypatch, seconds, may):
        monkeypatch.setattr(walks.Trial, "seconds", lambda self, step: seconds)
        monkeypatch.setattr(walks, "may_fork", lambda: may)
        return walks.walk_for(lambda: 0)

    with pytest.MonkeyPatch.context() as patch:
        assert chosen(patch, 1000.0, True) is walks.Forks
        assert chosen(patch, 1000.0, False) is walks.Replay
        assert chosen(patch, 0.0005, True) is walks.Replay


def test_a_pass_over_the_states_knows_no_key_of_the_one_before(monkeypatch):
    class News:
        """The merges of a walk."""

        def __init__(self):
            self.told = []

        def merge_known(self, key, is_new):
            self.told.append((key, is_new))

        def fork(self, *_):
            pass

        end = skip = fork

    def step():
        total = 0
        for _ in range(4):
            total += random.randrange(2)
        return total

    monkeypatch.setattr(lab, "_files", {})
    monkeypatch.setattr(lab, "_whose", lambda file: "the program's" if file == __file__ else "ours")
    monkeypatch.setattr(walks.Replay, "merges", True)
    if not snapshots.is_known():
        pytest.skip("frames are read on CPython 3.11 alone")
    serving.early_names.install()
    snapshots.begin()
    told = []
    for number in (-1, -1, -2):  # no other test's
        news = News()
        walks.Replay.begin(number)
        walks.Replay(news, walks.Share()).run(step)
        told.append(news.told)
    assert told[0] == told[2] and any(is_new for _, is_new in told[0]) and not all(is_new for _, is_new in told[0])
    assert told[1] and not any(is_new for _, is_new in told[1])
    alone = News()
    walks.Replay(alone, walks.Share(), every_path=True).run(step)
    assert not alone.told


def test_lines_come_whole_and_in_order_however_little_is_taken_at_once(monkeypatch):
    chance, taken, heard = random.Random(3), bytearray(), []

    def write(_, data):
        heard.append(len(data))
        taken.extend(data[: chance.randrange(1, 4000)])
        return len(taken) - sum(parts)

    parts = []

    def counted(descriptor, data):
        count = write(descriptor, data)
        parts.append(count)
        return count

    monkeypatch.setattr(serving, "os", SimpleNamespace(write=counted))
    lines = serving.Lines(lambda: '{"new":true}')
    written = []
    for number in range(300):
        lines.end(list(range(number)))
        written.append({"end": list(range(number))})
        lines.skip()
        lines.seed(f"s{number}", "a:1")
        written += [{"skip": True}, {"seed": f"s{number}", "at": "a:1"}]
        waiting = sum(map(len, lines._lines))
        assert waiting <= 1 << 15
    assert lines.merge("k") and lines._lines == []
    assert [json.loads(line) for line in taken.decode().splitlines()] == [*written, {"merge": "k"}]


def test_a_function_is_called_by_the_names_of_its_parameters():
    known = {"model": 1, "state": 2, "power": 3}

    def no_parameters(): ...
    def both(state, model): ...
    def with_default(model, state=5): ...
    def unknown_default(model, other=5): ...
    def several(model, *more, **named): ...
    def by_name(*, power, state=4): ...

    for function in (no_parameters, both, with_default, unknown_default, several, by_name):
        names = [name for name, one in inspect.signature(function).parameters.items() if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
        assert serving.arguments_for(function, known) == {name: known[name] for name in names if name in known}, function

    def unknown(model, other): ...

    with pytest.raises(TypeError, match="unknown has a parameter 'other': give it a default or call it one of model, power, state"):
        serving.arguments_for(unknown, known)


def test_rows_of_a_model_are_the_callers_own():
    model = Model({**CASE, "rows": [[[], ["1/3", "0", "2/3"]], [[0], ["1", "0", "0"]]]})
    rows = {(): ["1/3", "0", "2/3"], (0,): ["1", "0", "0"], (1,): ["1/2", "1/4", "1/4"], (1, 1, 1): ["1/2", "1/4", "1/4"]}
    for _ in range(3):
        for prefix, row in rows.items():
            row = [Fraction(p) for p in row]
            for given, expected in ((model.fractions, row), (model.probabilities, [float(p) for p in row]),
                                    (model.logits, [math.log(float(p)) if p else -math.inf for p in row])):  # fmt: skip
                found = given(list(prefix))
                assert found == expected
                found[0] = 7
    silent = Model({name: value for name, value in CASE.items() if name != "default"} | {"rows": [[[], ["1", "0", "0"]]]})
    for empty in (silent, Model({**CASE, "default": None, "rows": [[[], ["1", "0", "0"]]]}), Model({**CASE, "default": [], "rows": [[[], ["1", "0", "0"]]]})):
        assert empty.fractions([]) == [1, 0, 0]
        with pytest.raises(ValueError, match=r"no row for the prefix \[0\]"):
            empty.fractions([0])
    for horizon in (1, 2, 3):
        model = Model({**CASE, "horizon": horizon})
        for record in ([], [0], [2], [0, 1], [0, 2], [0, 1, 0], [1, 1, 1, 1]):
            assert model.is_ended(record) == (len(record) >= horizon or record[-1:] == [2])


NAMED = """
class Inside:
    @staticmethod
    def step(model, horizon, terminal, vocabulary, powers, power, state=5):
        return [model.horizon == horizon, terminal, vocabulary, powers, power, state]

def whole(power, *more, other=7):
    return [power, other]
"""


def test_a_function_is_found_by_file_or_module_and_told_what_its_parameters_name(tmp_path, monkeypatch):
    from tempera.check import __main__ as program

    (tmp_path / "named_for_tests.py").write_text(NAMED)
    prepared = []
    monkeypatch.setattr(serving, "run", prepared.append)
    monkeypatch.setattr(serving, "keep_output", lambda: None)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "path_hooks", [*sys.path_hooks])
    monkeypatch.chdir(tmp_path)
    try:
        for where in (str(tmp_path / "named_for_tests.py"), "named_for_tests.py", "named_for_tests"):
            sys.modules.pop("named_for_tests", None)
            for powers, first in ((["3", "1/2"], 3.0), ([], None)):
                model = Model({**CASE, "powers": powers, "horizon": 4})
                monkeypatch.setattr(sys, "argv", ["program", f"{where}:Inside.step"])
                program.main()
                assert sys.argv == ["program"]
                step = prepared.pop()(model)
                expected = [True, [2], ["a", "b", "e"], [3.0, 0.5] if powers else [], first]
                assert step([1]) == [*expected, [1]] and step([0, 1]) == [*expected, [0, 1]]
                monkeypatch.setattr(sys, "argv", ["program", f"{where}:whole"])
                program.main()
                assert prepared.pop()(model)([]) == [first, 7]
    finally:
        sys.modules.pop("named_for_tests", None)
    for wrong in (["program"], ["program", "a:b", "c"], ["program", "mine"]):
        monkeypatch.setattr(sys, "argv", wrong)
        with pytest.raises(SystemExit, match="^usage: python -m tempera.check FILE.py:FUNCTION or MODULE:FUNCTION$"):
            program.main()


def test_float_of_what_is_drawn_is_pythons_own():
    from tempera.check import called_float, uniform

    for value in (1, 2.5, "2.5", True, Fraction(1, 4), 10**300):
        assert called_float.number(value) == float(value) and type(called_float.number(value)) is float
    assert called_float.number() == 0.0
    for wrong in ("x", None, [1.0]):
        with pytest.raises((TypeError, ValueError)):
            called_float.number(wrong)
    u = uniform()
    one, two = (SimpleNamespace(_entries=np.array(entries, dtype=object), __float__=None) for entries in ([u], [u, u]))
    assert called_float.number(u) is u and called_float.number(one) is u
    with pytest.raises(TypeError):
        called_float.number(two)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python's code does not say before 3.11 whether a name is called")
def test_calls_of_float_alone_are_led_elsewhere():
    from tempera.check import called_float

    def calls(x):
        inner = [(lambda y: float(y))(one) for one in x]
        return float(x[0]), isinstance(x[0], float), inner, float, [float(one) for one in x], float.fromhex("0x1p1"), max(map(float, x))

    def without(x):
        return isinstance(x, float)

    heard = []
    led = calls.__code__.replace(co_code=calls.__code__.co_code)
    led = called_float.led_code(led)
    made = type(calls)(led, {"__builtins__": {**vars(__import__("builtins")), called_float.NAME: lambda x: heard.append(x) or -x}})
    assert made([1.0, 2.0]) == (-1.0, True, [-1.0, -2.0], float, [-1.0, -2.0], 2.0, 2.0) and heard == [1.0, 2.0, 1.0, 1.0, 2.0]
    assert called_float.led_code(without.__code__) is without.__code__


def test_a_line_is_the_innermost_of_the_program_or_of_what_is_outside(monkeypatch):
    owners = {"tempera": "ours", "library": "a library's", "program": "the program's"}
    for names in (["program"], ["library", "program"], ["tempera", "library", "program"], ["library"], ["tempera", "library"], ["program", "library", "program"], ["tempera"], ["library", "library"]):
        monkeypatch.setattr(lab, "_files", {})
        monkeypatch.setattr(lab, "_whose", lambda file: owners.get(file.partition("/")[0], "ours"))
        call = lab.address
        for depth, name in enumerate(names):  # the innermost first
            space = {"call": call}
            exec(compile("\n" * depth + "def outer(): return call()", f"{name}/{name}{depth}.py", "exec"), space)
            call = space["outer"]
        places = [f"{name}{depth}.py:{depth + 1}" for depth, name in enumerate(names)]
        programs = [place for place in places if place.startswith("program")]
        outside = [place for place in places if not place.startswith("tempera")]
        assert call() == ([*programs, *outside, ""][0]), names


def test_whose_a_file_is():
    folder = os.path.dirname(serving.__file__)
    for file, owner in ((f"{folder}/walks.py", "ours"), ("<frozen importlib._bootstrap>", "ours"), (json.__file__, "a library's"), ("/x/site-packages/numpy/core.py", "a library's"),
                        ("/x/dist-packages/a.py", "a library's"), ("/x/mine.py", "the program's"), ("<string>", "the program's"), (f"{folder}_mine/a.py", "the program's")):  # fmt: skip
        assert lab._whose(file) == owner, file
