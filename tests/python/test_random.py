"""Every source of chance of Python's random is answered with its law, or refused by name."""
import bisect
import contextlib
import functools
import itertools
import json
import math
import os
import random
import secrets
import signal
import subprocess
import sys
import threading
import uuid
from fractions import Fraction
from random import random as early_random

import pytest
from laws import EIGHTHS, PACKAGE, check_law, check_refused, small
from tempera.check import lab, law, merge, of_random

own = random.Random(7)


class Holder:
    drawn_by = random.random

    def __init__(self, source=random.random):
        self.source = source


holder = Holder()
HALF = {False: Fraction(1, 2), True: Fraction(1, 2)}


@pytest.mark.parametrize("step", [
    lambda: small(random.random()),
    lambda: small(early_random()),
    lambda: small(holder.source()),
    lambda: small(Holder().source()),
    lambda: small(own.random()),
    lambda: small(random.SystemRandom().random()),
    lambda: small(1 - random.random()),
    lambda: small((random.random() + 1) / 2 * 2 - 1),
    lambda: min(2, int(random.random() * 8)),
    lambda: min(2, math.floor(random.uniform(0, 8))),
    lambda: bisect.bisect([1, 2, 8], random.random() * 8),
    lambda: random.choices([0, 1, 2], weights=[1, 1, 6])[0],
    lambda: random.choices([0, 1, 2], cum_weights=[1, 2, 8])[0],
    lambda: random.choice([0, 1, 2, 2, 2, 2, 2, 2]),
    lambda: secrets.choice([0, 1, 2, 2, 2, 2, 2, 2]),
    lambda: min(2, secrets.randbelow(8)),
    lambda: min(2, random.randint(0, 7)),
    lambda: min(2, random.getrandbits(3)),
    lambda: min(2, random.randrange(4, 20, 2) // 2 - 2),
    lambda: min(2, random.sample(range(8), 2)[1]),
])
def test_each_way_of_drawing_has_its_law(step):
    check_law(step, EIGHTHS)


def equally_likely(values):
    values = list(values)
    return {value: Fraction(values.count(value), len(values)) for value in values}


def shuffled(owner, items):
    owner.shuffle(items)
    return tuple(items)


@pytest.mark.parametrize("owner", [random, own, random.SystemRandom()], ids=["the module", "an instance", "the system's"])
def test_each_way_of_drawing_has_its_law_wherever_it_begins_and_however_many_it_draws(owner):
    three = [4, 5, 5]
    pairs = [(a, b) for a in "ab" for b in "ab"]
    laws = {
        "choices": (lambda: tuple(owner.choices(three, k=2)), [(a, b) for a in three for b in three]),
        "choices, weighted": (lambda: tuple(owner.choices("ab", [3, 1], k=2)), [(a, b) for a in "aaab" for b in "aaab"]),
        "choices, cumulated": (lambda: tuple(owner.choices("ab", cum_weights=[3, 4], k=2)), [(a, b) for a in "aaab" for b in "aaab"]),
        "no choices": (lambda: tuple(owner.choices("ab", k=0)), [()]),
        "sample": (lambda: tuple(owner.sample(three, 2)), itertools.permutations(three, 2)),
        "sample of all": (lambda: tuple(owner.sample(three, 3)), itertools.permutations(three)),
        "sample, counted": (lambda: tuple(owner.sample("ab", 2, counts=[2, 3])), itertools.permutations("aabbb", 2)),
        "randint": (lambda: owner.randint(-2, 1), range(-2, 2)),
        "randrange": (lambda: owner.randrange(3), range(3)),
        "randrange from": (lambda: owner.randrange(-3, 2), range(-3, 2)),
        "randrange down": (lambda: owner.randrange(5, -1, -2), range(5, -1, -2)),
        "uniform": (lambda: math.floor(owner.uniform(-1, 2)), range(-1, 2)),
        "uniform down": (lambda: math.floor(owner.uniform(7, 3)), range(3, 7)),
        "getrandbits": (lambda: owner.getrandbits(2), range(4)),
        "choice": (lambda: owner.choice(pairs), pairs),
        "shuffle": (lambda: shuffled(owner, [1, 2, 3]), itertools.permutations([1, 2, 3])),
        "shuffle of four": (lambda: shuffled(owner, [1, 1, 2, 3]), itertools.permutations([1, 1, 2, 3])),
        "shuffle of one": (lambda: shuffled(owner, [1]), [(1,)]),
        "expovariate": (lambda: owner.expovariate(3) < math.log(4) / 3, [True, True, True, False]),
        "random": (lambda: (owner.random() < 0.5, owner.random() < 0.25), [(a, b) for a in (True, False) for b in (True, False, False, False)]),
    }
    for name, (step, outcomes) in laws.items():
        found, expected = law(step), equally_likely(outcomes)
        if name == "expovariate":
            found = {end: share.limit_denominator(10**9) for end, share in found.items()}
        assert found == expected, name
    assert three == [4, 5, 5] and law(lambda: secrets.randbits(2)) == equally_likely(range(4))
    for wrong in (lambda: owner.choices([1, 2], [1], k=1), lambda: owner.sample([1, 2], 3), lambda: owner.sample([1, 2], -1), lambda: owner.randrange(0), lambda: owner.choice([])):
        with pytest.raises((ValueError, IndexError)):
            law(wrong)


def test_what_is_merged_is_equal_by_its_repr():
    def step(keys):
        first = random.randrange(len(keys))
        merge(keys[first])
        return first

    for keys in ([1, "1"], ["a", b"a"], [1, 1.0], [(1,), [1]], ["", None]):
        assert law(lambda: step(keys)) == {0: Fraction(1, 2), 1: Fraction(1, 2)}
    assert law(lambda: step(["a", "a", "b"])) == {0: Fraction(2, 3), 2: Fraction(1, 3)}


def test_the_same_decisions_must_lead_to_the_same_merges():
    runs = []

    def step():
        runs.append(0)
        merge(len(runs) // 3)
        return random.randrange(3)

    with pytest.raises(lab.NotDeterministic, match="after the same draws it merges at"):
        law(step)


def test_sixteen_bits_are_the_most_at_once(monkeypatch):
    class Last:
        def choose(self, tickets, winners):
            assert tickets == [1] * len(tickets)
            return winners[-1]

    monkeypatch.setattr(lab, "walk", Last())
    assert of_random.bits(16) == 2**16 - 1
    with pytest.raises(lab.Refused, match="17 random bits"):
        of_random.bits(17)


@pytest.mark.parametrize("step, name", [
    (lambda: random.gauss(0, 1), "random.gauss"),
    (lambda: own.gauss(0, 1), "random.Random.gauss"),
    (lambda: random.betavariate(1, 2), "random.betavariate"),
    (lambda: random.getrandbits(64), "64 random bits"),
    (lambda: random.randbytes(4), "random.randbytes"),
    (lambda: uuid.uuid4(), "os.urandom"),
    (lambda: os.urandom(1), "test_random.py:.*|os.urandom"),
    (lambda: [convert(random.random()) for convert in (float,)], r"float\(\) at test_random.py:\d+"),
    (lambda: 0 if random.random() else 1, "compare it"),
    (lambda: random.random() < random.random(), "two uniforms"),
    (lambda: random.random(), "not drawn"),
    (lambda: 1 / random.random(), "a number divided by a uniform"),
])
def test_what_has_no_answer_is_refused_by_name(step, name):
    check_refused(step, name)


def test_a_name_that_nothing_finds_is_noticed_by_the_generator_that_moves():
    hidden = iter(functools.partial(next, iter(random.Random.__mro__[1].random.__get__(random._inst), 2.0)), 2.0)
    check_refused(lambda: next(hidden) < 0.5, "random has drawn without")


HIDING = """
import collections, functools, random
from random import random as early

class Slots:
    __slots__ = ("draw",)

class Class:
    draw = staticmethod(early)

def closure():
    from random import random as bound
    return lambda: (lambda: bound())()

def waiting():
    local = early
    while True:
        yield local()

own, slots, generator = random.Random(3), Slots(), waiting()
in_compiled_code = iter(random.Random(5).random, 2.0)
slots.draw = early
next(generator)
in_closure, in_partial, bound, in_tuple, in_key, in_set = (
    closure(), functools.partial(early), own.random, (1, (early, 2)), {(1, 2): [early]}, {early})
named, queue = collections.namedtuple("Named", "draw")(early), collections.deque([early])
import tempera.check
from fractions import Fraction
for draw in (lambda: in_closure(), lambda: in_partial(), lambda: bound(), lambda: in_tuple[1][0](), lambda: in_key[1, 2][0](),
             lambda: next(iter(in_set))(), lambda: named.draw(), lambda: queue[0](), lambda: slots.draw(),
             lambda: Class.draw(), lambda: own.random()):
    assert tempera.check.law(lambda: draw() < 0.25) == {True: Fraction(1, 4), False: Fraction(3, 4)}
for hidden, name, place in ((generator, "random has drawn without", "a local variable of waiting, "),
                            (in_compiled_code, "a generator of random has drawn without", "__main__.in_compiled_code")):
    try:
        tempera.check.law(lambda: next(hidden) < 0.25)
        raise SystemExit(name + " being refused")
    except TypeError as error:
        assert name in str(error) and place in str(error), error
assert all(0 <= draw() < 1 for draw in (in_closure, in_partial, bound, in_tuple[1][0], slots.draw, own.random))
"""


def test_a_name_that_is_hidden_well_is_found_and_answered():
    subprocess.run([sys.executable, "-c", HIDING], check=True, env=dict(os.environ, PYTHONPATH=PACKAGE))


def test_logarithms_and_exponentials_are_split_where_they_are_compared():
    check_law(lambda: math.log(random.random()) < math.log(0.5), HALF)
    check_law(lambda: -math.log(random.random()) > -math.log(0.5), HALF)
    check_law(lambda: random.expovariate(2.0) > -math.log(0.5) / 2, HALF)
    check_law(lambda: max([("a", -math.log(random.random()) / 3), ("b", -math.log(random.random()))],
                          key=lambda pair: pair[1])[0], {"a": Fraction(1, 4), "b": Fraction(3, 4)}, 1e-15)


def test_uniforms_that_are_drawn_early_are_split_where_they_are_compared_late():
    """Each by itself, and further within what it is known to be in; those that nobody compares cost no path."""

    def step():
        early = [random.random() for _ in range(200)]
        first, second = early[7], early[150]
        if first < 0.75:
            return "low", math.floor(first * 4), second < 0.5
        return "high", math.floor(first * 8), first < 0.8125

    expected = {("low", k, is_low): Fraction(1, 8) for k in range(3) for is_low in (False, True)}
    expected.update({("high", 6, True): Fraction(1, 16), ("high", 6, False): Fraction(1, 16), ("high", 7, False): Fraction(1, 8)})
    for _ in range(2):  # the second time every split is known
        check_law(step, expected)


def test_outside_a_step_chance_is_pythons_own():
    random.seed(1)
    first = random.random()
    law(lambda: random.random() < 0.5)
    random.seed(1)
    assert random.random() == first
    assert isinstance(secrets.token_bytes(4), bytes)


def test_the_same_decisions_must_lead_to_the_same_tickets():
    calls = []

    def step():
        calls.append(1)
        return random.randrange(1 + len(calls)) + random.randrange(2)

    with pytest.raises(Exception, match="after the same draws the tickets"):
        law(step)


def test_a_path_without_end_is_refused():
    def step():
        while random.random() < 0.5:
            pass

    with pytest.raises(RecursionError, match="draws without end"):
        law(step)


def test_equal_states_are_followed_once():
    """A walk of 30 steps has 2^30 paths and 31 states at its end: merged, it takes a moment and keeps its law."""

    def step(merges):
        at = 0
        for t in range(30 if merges else 8):
            at += random.randrange(2)
            if merges:
                merge((t, at))
        return at

    assert law(lambda: step(True)) == {k: Fraction(math.comb(30, k), 2**30) for k in range(31)}
    assert law(lambda: step(False)) == {k: Fraction(math.comb(8, k), 2**8) for k in range(9)}


@pytest.mark.parametrize("order", ["import tempera.check, random, secrets", "import random, secrets, tempera.check",
                                   "from random import random as r, SystemRandom; import tempera.check, random, secrets"])
def test_the_order_of_imports_does_not_matter(order):
    code = (f"{order}\nfrom fractions import Fraction\n"
            "assert tempera.check.law(lambda: random.random() < 0.25)[True] == Fraction(1, 4)\n"
            "assert tempera.check.law(lambda: secrets.randbelow(3))[2] == Fraction(1, 3)\n"
            "assert 0 <= random.SystemRandom().random() < 1 and len(secrets.token_hex(4)) == 8\n")
    subprocess.run([sys.executable, "-c", code], check=True, env=dict(os.environ, PYTHONPATH=PACKAGE))


def test_what_a_step_imports_is_answered_too(tmp_path):
    (tmp_path / "late_module.py").write_text("import random\nconstant = random.random()\nfrom random import randrange\n")
    code = ("import sys, tempera.check\nfrom fractions import Fraction\n"
            f"sys.path.insert(0, {str(tmp_path)!r})\n"
            "def step():\n    import late_module\n    return late_module.randrange(4)\n"
            "assert tempera.check.law(step)[3] == Fraction(1, 4)\n")
    subprocess.run([sys.executable, "-c", code], check=True, env=dict(os.environ, PYTHONPATH=PACKAGE))


def test_a_call_of_float_asks_for_no_value():
    """Programs write float(u) and max(u, tiny): neither is a decision, and float as a type stays what it is."""

    def step():
        value = float(random.random())
        assert isinstance(1.5, float) and float("2.5") == 2.5 and float(3) == 3.0 and type(float(3)) is float
        return math.log(max(value, sys.float_info.min)) < math.log(0.25)

    if sys.version_info < (3, 11):  # whose code does not say whether a name is called
        return check_refused(step, "float")
    assert law(step) == {True: Fraction(1, 4), False: Fraction(3, 4)}


def test_what_lies_below_the_grain_of_a_word_is_left_out():
    assert law(lambda: random.random() < 1e-300) == {False: 1}
    assert law(lambda: random.random() < 2.0**-100) == {True: Fraction(1, 2**100), False: 1 - Fraction(1, 2**100)}


def test_every_public_function_of_chance_is_answered_or_refused():
    """None of them may draw from Python's own generator, or from an instance's, within a step."""
    one, silent = random.Random(11), []
    for owner in (random, one):
        for name in dir(owner):
            function = getattr(owner, name)
            if name.startswith("_") or isinstance(function, type) or not callable(function) or name in (
                    "seed", "getstate", "setstate"):
                continue
            for arguments in ((), (1,), (2, 3), (2, 3, 2.5), ([1, 2],), ([1, 2], 1), ([1, 2], [1, 3])):
                before = random.getstate(), one.getstate()
                with contextlib.suppress(Exception):
                    law(lambda: (function(*arguments), 0)[1])
                if before != (random.getstate(), one.getstate()):
                    silent.append(name)
    assert silent == []


SERVED = """
import random, tempera.check
from tempera.check import walks
walks.walk_for = lambda step: walks.{kind}
{step}
tempera.check.serve(step)
"""
MERGING = """
def step(model, state):
    first = random.choices(range(40), weights=range(1, 41))[0]
    if first == 39:
        return [1]
    tempera.check.merge(first % 2)
    if random.random() < 0.25:
        return [0, 0]
    return [0, random.randrange(2)] if first % 2 else [0, 1]
"""
BRANCHING = """
def step(model, state):
    first = random.randrange(3)
    return [0, (random.randrange(21 + first) + random.randrange(2)) % 2]
"""
CASE = {"horizon": 2, "powers": ["2"], "vocabulary": ["a", "e"], "terminal": [1], "default": ["1/2", "1/2"]}


def started(kind, step):
    """A program that walks the step in one of the two ways, and what sends lines to it, at once."""
    program = subprocess.Popen([sys.executable, "-c", SERVED.format(kind=kind, step=step)], stdin=subprocess.PIPE,
                               env=dict(os.environ, PYTHONPATH=PACKAGE), stdout=subprocess.PIPE, text=True,
                               start_new_session=True)

    def send(*lines):
        program.stdin.write("".join(json.dumps(line) + "\n" for line in lines))
        program.stdin.flush()

    return program, send


def lines_of_walk(kind, share, step=MERGING):
    """What a program writes of a step, its merges answered as tempera does."""
    program, send = started(kind, step)
    with program:
        send(CASE)
        assert "can" in json.loads(program.stdout.readline())
        send({"state": [1], "share": share, "every_path": True})
        open_branches, known, lines = 1, set(), []
        while open_branches:
            line = json.loads(program.stdout.readline())
            lines.append(line)
            if "fork" in line:
                open_branches += sum(1 for ticket in line["fork"] if ticket) - 1
            elif "merge" in line:
                is_new = line["merge"] not in known
                known.add(line["merge"])
                send({"new": is_new})
                open_branches -= 0 if is_new else 1
            else:
                assert line.keys() & {"end", "skip"}, line
                open_branches -= 1
        send({"done": True})
        program.stdin.close()
        assert program.wait(30) == 0
    return lines


def test_a_step_that_forks_writes_what_one_writes_that_is_run_again():
    whole = {kind: lines_of_walk(kind, [0, 1]) for kind in ("Replay", "Forks")}
    assert whole["Forks"] == whole["Replay"]
    # The first way on from each of the two merges is walked, from the others nothing.
    assert sum("end" in line for line in whole["Forks"]) == 1 + 2 + 3
    assert sum("merge" in line for line in whole["Forks"]) == 39
    shared = [{kind: lines_of_walk(kind, [mine, 2]) for kind in ("Replay", "Forks")} for mine in range(2)]
    for part in shared:
        assert part["Forks"] == part["Replay"]
        assert sum("skip" in line for line in part["Forks"]) == 20


def test_of_processes_that_share_a_tree_some_may_fork_and_others_replay():
    """Each takes the same subtrees in both ways, also if several decisions are dealt: those after the first one."""
    shared = [{kind: lines_of_walk(kind, [mine, 2], BRANCHING) for kind in ("Replay", "Forks")} for mine in range(2)]
    for part in shared:
        assert part["Forks"] == part["Replay"]
        assert sum("dealt" in line for line in part["Forks"]) == 3
    ends = [sum("end" in line for line in part["Forks"]) for part in shared]
    assert sum(ends) == 2 * (21 + 22 + 23)
    assert abs(ends[0] - ends[1]) <= 3 * 2  # of each decision one branch, of two ends


def test_a_process_that_ends_at_a_merge_takes_no_line_of_the_next():
    """tempera sends the next state at once if the last path of a tree ends at a merge."""
    step = """
def step(model, state):
    tempera.check.merge(random.randrange(2) * 0)
    return [1]
"""
    program, send = started("Forks", step)
    with program:
        def received(count):
            return [next(iter(json.loads(program.stdout.readline()))) for _ in range(count)]

        send(CASE, {"state": [1]})
        assert received(3) == ["can", "fork", "merge"]
        send({"new": True})
        assert received(2) == ["end", "merge"]
        send({"new": False}, {"state": [1]})
        waiting = threading.Timer(20, os.killpg, (program.pid, signal.SIGKILL))
        waiting.start()
        next_lines = program.stdout.readline(), program.stdout.readline()
        waiting.cancel()
        if program.poll() is None:
            os.killpg(program.pid, signal.SIGKILL)
    assert "fork" in next_lines[0] and "merge" in next_lines[1], "the state was lost"


def run_alone(code):
    subprocess.run([sys.executable, "-c", code], check=True, timeout=600, env=dict(os.environ, PYTHONPATH=PACKAGE))


def test_the_thread_of_an_allocator_does_not_keep_a_process_from_forking():
    """pyarrow, which pandas brings, has one: each case of `tempera check` would start the program anew."""
    run_alone("""
import ctypes, threading
from tempera.check import walks
assert walks.may_fork()
for name, may in ((b"jemalloc_bg_thd", True), (b"worker", False)):
    is_named = threading.Event()
    def wait():
        ctypes.CDLL(None).prctl(15, name, 0, 0, 0)
        is_named.set()
        threading.Event().wait()
    threading.Thread(target=wait, daemon=True).start()
    is_named.wait()
    assert walks.may_fork() == may, name
""")


def test_early_names_are_looked_for_a_few_times_however_many_there_are():
    """With pandas and transformers imported, one look at everything that is held takes 0.1 seconds."""
    run_alone("""
import gc
from random import random as early
def holding(draw):
    return lambda: draw()
closures = [holding(early) for _ in range(300)]
defaults = [eval("lambda draw=early: draw()") for _ in range(300)]
classes = [type("Class", (), {"draw": staticmethod(early)}) for _ in range(300)]
looks = []
for name in ("get_referrers", "get_objects"):
    setattr(gc, name, lambda *held, own=getattr(gc, name): looks.append(1) or own(*held))
import tempera.check
from fractions import Fraction
assert tempera.check.law(lambda: closures[299]() < 0.25)[True] == Fraction(1, 4)
assert tempera.check.law(lambda: defaults[299]() < 0.25)[True] == Fraction(1, 4)
assert tempera.check.law(lambda: classes[299].draw() < 0.25)[True] == Fraction(1, 4)
assert len(looks) < 40, len(looks)
""")
