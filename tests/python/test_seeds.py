"""A generator that a step seeds draws its own stream; one that was seeded before is answered."""
import copy
import io
import itertools
import json
import os
import pathlib
import random
import subprocess
import sys
import threading
import uuid
from fractions import Fraction
from os import open as early_open

import numpy as np
import pytest
from laws import PACKAGE
from tempera.check import early_names, lab, law, merge, seeding, walks
from tempera.check.law import Collected

lasting, numpy_state, numpy_generator = random.Random(7), np.random.RandomState(7), np.random.default_rng(7)
lasting_state, numpy_bits, of_bits = lasting.getstate(), np.random.PCG64(7), np.random.default_rng(7)
bits_state = of_bits.bit_generator.state
lasting_sequence = np.random.SeedSequence(7)


class OwnBits(np.random.PCG64):
    """A kind of bits that was derived before numpy's had its stand-in."""


def put_bits(state):
    of_bits.bit_generator.state = state
QUARTER = {True: Fraction(1, 4), False: Fraction(3, 4)}


def seeded(draw, *seeds):
    def step():
        for seed in seeds:
            seed()
        return draw()

    return step


# From numpy 1.25 on.
SPAWNED_OF_A_SEED = [lambda: bool(np.random.default_rng(3).spawn(1)[0].random() < 0.5)]
SPAWNED = [lambda: bool(numpy_generator.spawn(1)[0].random() < 0.25)]


@pytest.mark.parametrize("step", [
    seeded(lambda: (random.random() < 0.5, random.randrange(3), random.choice("abc")), lambda: random.seed(0)),
    lambda: random.Random(0).random() < 0.5,
    lambda: random.Random(0).gauss(0, 1) < 0.5,
    seeded(lambda: lasting.random() < 0.5, lambda: lasting.seed(0)),
    seeded(lambda: random.random() < 0.5, lambda: random.setstate(random.Random(3).getstate())),
    seeded(lambda: (bool(np.random.rand() < 0.5), int(np.random.choice(3))), lambda: np.random.seed(0)),
    lambda: bool(np.random.default_rng(0).random() < 0.5),
    lambda: bool(np.random.RandomState(0).rand() < 0.5),
    lambda: bool(np.random.Generator(np.random.PCG64(0)).random() < 0.5),
    lambda: bool(np.random.default_rng(np.random.PCG64(0)).random() < 0.5),
    seeded(lambda: bool(numpy_state.rand() < 0.5), lambda: numpy_state.seed(0)),
    seeded(lambda: bool(np.random.rand() < 0.5), lambda: np.random.seed(seed=0)),
    seeded(lambda: lasting.random() < 0.5, lambda: lasting.setstate(lasting_state)),
    seeded(lambda: lasting.random() < 0.5, lambda: lasting.seed(0), lambda: lasting.setstate(lasting_state)),
    seeded(lambda: bool(of_bits.random() < 0.5), lambda: put_bits(bits_state)),
    seeded(lambda: bool(of_bits.random() < 0.5), lambda: put_bits(np.random.PCG64(3).state)),
    seeded(lambda: bool(of_bits.random() < 0.5), lambda: of_bits.bit_generator.__init__(3)),
    seeded(lambda: bool(numpy_state.rand() < 0.5), lambda: setattr(numpy_state._bit_generator, "state", np.random.MT19937(3).state)),
    lambda: bool(np.random.Generator(numpy_bits.jumped()).random() < 0.5),
    lambda: bool(np.random.Generator(copy.deepcopy(numpy_bits)).random() < 0.5),
    lambda: bool(np.random.Generator(np.random.Philox(key=3)).random() < 0.5),
    lambda: bool(np.random.Generator(np.random.Philox(key=[1, 2], counter=7)).random() < 0.5),
    lambda: bool(np.random.Generator(OwnBits(3)).random() < 0.5),
    lambda: bool(np.random.RandomState(OwnBits(3)).rand() < 0.5),
    lambda: bool(np.random.default_rng(OwnBits(3)).random() < 0.5),
    lambda: bool(np.random.default_rng(np.random.SeedSequence(3)).random() < 0.5),
    lambda: bool(np.random.default_rng(np.random.SeedSequence(3).spawn(1)[0]).random() < 0.5),
    lambda: bool(np.random.default_rng(lasting_sequence).random() < 0.5),
    lambda: bool(np.random.Generator(np.random.RandomState(4)._bit_generator).random() < 0.5),
    *(SPAWNED_OF_A_SEED if hasattr(np.random.Generator, "spawn") else ()),
])
def test_what_a_step_seeds_is_no_decision(step):
    before = random.getstate(), np.random.get_state()[1].tolist()
    assert list(law(step).values()) == [1]
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before


@pytest.mark.parametrize("step", [
    lambda: random.random() < 0.25,
    lambda: lasting.random() < 0.25,
    lambda: random.Random().random() < 0.25,
    seeded(lambda: random.random() < 0.25, lambda: random.seed(0), random.seed),
    seeded(lambda: random.random() < 0.25, lambda: random.Random(0).random()),
    seeded(lambda: bool(np.random.rand() < 0.25), lambda: random.seed(0)),
    lambda: bool(numpy_generator.random() < 0.25),
    lambda: bool(np.random.default_rng().random() < 0.25),
    lambda: bool(np.random.Generator(np.random.PCG64()).random() < 0.25),
    lambda: bool(np.random.RandomState().rand() < 0.25),
    *(SPAWNED if hasattr(np.random.Generator, "spawn") else ()),
    lambda: bool(np.random.default_rng(numpy_bits).random() < 0.25),
    seeded(lambda: bool(numpy_generator.random() < 0.25), lambda: numpy_bits.advance(1)),
    lambda: bool(np.random.Generator(np.random.Philox(counter=7)).random() < 0.25),
    lambda: random.SystemRandom(3).random() < 0.25,
    lambda: bool(np.random.default_rng(np.random.SeedSequence()).random() < 0.25),
    lambda: bool(np.random.Generator(np.random.PCG64(np.random.SeedSequence())).random() < 0.25),
    lambda: bool(np.random.RandomState(np.random.MT19937(np.random.SeedSequence())).rand() < 0.25),
    lambda: bool(np.random.default_rng(np.random.SeedSequence().spawn(2)[1]).random() < 0.25),
])
def test_what_a_step_does_not_seed_is_answered(step):
    assert law(step) == QUARTER


devices = os.open("/dev", os.O_RDONLY)
chance = open("/dev/urandom", "rb")


def opened_beside(name, flags=os.O_RDONLY):
    return os.read(os.open(name, flags, dir_fd=devices), 1)


@pytest.mark.parametrize("step, told", [
    (lambda: [np.random.default_rng(s).random() for s in [np.random.SeedSequence()] * 2], r"test_seeds.py:[0-9]+ begins with the SeedSequence of.*spawn\(\)"),
    (lambda: np.random.default_rng(np.random.SeedSequence().entropy), r"SeedSequence.entropy of fresh entropy, called at test_seeds.py:[0-9]+: give"),
    (lambda: np.random.SeedSequence().generate_state(4), r"SeedSequence.generate_state of fresh entropy, called at test_seeds.py:[0-9]+: give"),
    (lambda: os.urandom(8), "os.urandom, called at test_seeds.py:[0-9]+: ask random or secrets"),
    (lambda: os.getrandom(8), "os.getrandom, called at test_seeds.py:[0-9]+: ask random or secrets"),
    (lambda: open("/dev/urandom", "rb").read(1), "/dev/urandom, called at test_seeds.py:[0-9]+: ask random or secrets"),
    (lambda: pathlib.Path("/dev/random").open("rb"), "/dev/random, called at test_seeds.py:[0-9]+: ask random or secrets"),
    (lambda: os.open(b"/dev/../dev/urandom", os.O_RDONLY), "/dev/urandom, called at test_seeds.py:[0-9]+: ask random or secrets"),
    (lambda: io.FileIO(pathlib.Path("/dev/urandom")).read(1), "/dev/urandom, called at test_seeds.py:[0-9]+: ask random or secrets"),
    (lambda: open("/proc/self/root/dev/random", "rb").read(1), "/proc/self/root/dev/random, called at test_seeds.py:[0-9]+: ask"),
    (lambda: opened_beside("urandom"), "urandom, called at test_seeds.py:[0-9]+: ask random or secrets"),
    (lambda: open("any", "rb", opener=lambda _, flags: opened_beside(b"random", flags)), "random, called at test_seeds.py:[0-9]+: ask random or secrets"),
    (lambda: early_open("urandom", os.O_RDONLY, dir_fd=devices), "urandom, called at test_seeds.py:[0-9]+: ask random or secrets"),
    (lambda: open(os.dup(chance.fileno()), "rb").read(1), "/proc/self/fd/[0-9]+, called at test_seeds.py:[0-9]+: ask random or secrets"),
    (lambda: uuid.uuid1(), "uuid.uuid1, called at test_seeds.py:[0-9]+: ask random or secrets"),
])
def test_the_bytes_of_fresh_entropy_are_refused(step, told):
    with pytest.raises(lab.Refused, match=told):
        law(step)


def test_a_link_to_a_device_of_chance_is_refused_by_its_own_name(tmp_path):
    link = tmp_path / "link"
    link.symlink_to("/dev/urandom")
    with pytest.raises(lab.Refused, match=f"{link}, called at test_seeds.py:[0-9]+: ask"):
        law(lambda: link.open("rb").read(1))


def test_other_files_are_read_in_a_step(tmp_path):
    assert law(lambda: open("/dev/null", "rb").read(1) == b"" and random.random() < 0.25) == QUARTER
    for missing in (tmp_path / "missing", "\0"):
        with pytest.raises((FileNotFoundError, ValueError)):
            law(lambda: open(missing, "rb"))
    assert len(open("/dev/urandom", "rb").read(1)) == 1


def a_byte():
    return open("/dev/urandom", "rb").read(1)[0]


def caught(ask):
    try:
        return ask()
    except Exception:
        return 0


def threaded(ask):
    got = [0]
    thread = threading.Thread(target=lambda: got.append(caught(ask)))
    thread.start()
    thread.join()
    return got[-1]


def caught_before(end):
    caught(a_byte)
    return end()


def without_end():
    while random.random() < 0.5:
        pass


@pytest.mark.parametrize("step", [
    lambda: caught(a_byte),
    lambda: threaded(a_byte),
    lambda: caught(lambda: os.urandom(1)[0]),
    lambda: threaded(lambda: os.urandom(1)[0]),
    lambda: caught(lambda: random.random() ** 2),
    lambda: random.random() < 0.5 and caught(a_byte),
    lambda: random.random() < 0.5 or caught(a_byte),  # on a path that is not the trial's
    lambda: caught_before(lambda: [][0]),
    lambda: caught_before(sys.exit),
    lambda: caught_before(without_end),
    lambda: random.random() < 0.5 or caught_before(without_end),
    lambda: (random.random() < 0.5 or caught(a_byte), merge("here")),  # the second path ends where it merges
])
def test_a_refusal_that_the_step_catches_ends_the_judgement(step):
    with pytest.raises(lab.Refused, match="called at test_seeds.py:[0-9]+: ask random or secrets|a power of a uniform at test_seeds.py"):
        law(step)


def test_the_first_refusal_of_a_path_is_told():
    asked = {"os.urandom": lambda: os.urandom(1), "a power of a uniform": lambda: random.random() ** 2, "uuid.uuid1": uuid.uuid1}
    for names in itertools.permutations(asked, 2):
        with pytest.raises(lab.Refused, match=names[0]):
            law(lambda: [caught(asked[name]) for name in names])


def test_a_refusal_is_of_its_own_path():
    with pytest.raises(lab.Refused):
        law(lambda: caught(a_byte))
    lab.Refused("made outside a step")
    assert law(lambda: random.random() < 0.25) == QUARTER


def test_a_seed_is_told_in_one_line():
    told = seeding.short(np.random.SeedSequence(1))
    assert "entropy=1" in told and "\n" not in told


def test_the_children_of_a_sequence_from_before_the_step_are_others_in_each_step():
    law(lambda: 0)  # numpy has its stand-ins from now on
    sequence = np.random.SeedSequence(7)
    assert law(lambda: bool(np.random.default_rng(sequence.spawn(1)[0]).random() < 0.25)) == QUARTER
    assert list(law(lambda: bool(np.random.default_rng(sequence).random() < 0.25)).values()) == [1]


def test_a_state_that_is_put_back_ends_the_stream_of_a_seed():
    def step():
        before = random.getstate()
        random.seed(0)
        first = random.random() < 0.5
        random.setstate(before)
        return first, random.random() < 0.25

    assert sorted(law(step).values()) == [Fraction(1, 4), Fraction(3, 4)]


def test_bits_that_are_put_back_end_the_stream_of_a_seed():
    def step():
        before = of_bits.bit_generator.state
        put_bits(np.random.PCG64(3).state)
        first = bool(of_bits.random() < 0.5)
        put_bits(before)
        return first, bool(of_bits.random() < 0.25)

    assert sorted(law(step).values()) == [Fraction(1, 4), Fraction(3, 4)]


def test_bits_from_before_a_draw_are_not_put_back():
    def step():
        before = of_bits.bit_generator.state
        first = bool(of_bits.random() < 0.5)
        put_bits(before)
        return first, bool(of_bits.random() < 0.5)

    with pytest.raises(lab.Refused, match="numpy.random.PCG64.state at test_seeds.py:[0-9]+ puts back a generator that has drawn since"):
        law(step)


def test_a_state_from_before_a_draw_is_not_put_back():
    def step():
        before = random.getstate()
        first = random.random() < 0.5
        random.setstate(before)
        return first, random.random() < 0.5

    with pytest.raises(lab.Refused, match="test_seeds.py:[0-9]+ puts back a generator that has drawn since"):
        law(step)


def spoken(source, case, states):
    """The lines of a program that is asked for these states."""
    lines = [json.dumps(case)] + [json.dumps(state) for state in states]
    result = subprocess.run([sys.executable, "-c", source], input="".join(line + "\n" for line in lines), text=True,
                            capture_output=True, env={**os.environ, "PYTHONPATH": PACKAGE, "TEMPERA_CHECK": "1"})
    return [json.loads(line) for line in result.stdout.splitlines()]


CASE = {"horizon": 1, "powers": ["2"], "tempera": 1, "terminal": [1], "vocabulary": ["a", "e"], "rows": [],
        "default": ["1/2", "1/2"]}
ONCE = "import random, tempera.check\ndef step(model, state):\n    {}\ntempera.check.serve(step)"


def test_a_seed_is_reported_with_its_line_and_by_a_whole_program_left_out():
    source = ONCE.format("random.seed(5); return [random.randrange(2)]")
    of_kernel = spoken(source, CASE, [{"state": [0]}])
    assert [line["seed"] for line in of_kernel if "seed" in line] == ["random.seed(5)"]
    assert not any("fork" in line for line in of_kernel)
    whole = spoken(source, {**CASE, "whole": True}, [{"state": []}])
    assert [line["at"] for line in whole if "seed" in line] == ["<string>:3"]
    assert [line["fork"] for line in whole if "fork" in line] == [[1, 1]]


@pytest.mark.parametrize("before, whole", [("", False), ("", True), ("time.sleep(0.02); ", True)])  # a slow step forks
def test_a_refusal_that_a_program_catches_ends_it(before, whole):
    lines = spoken(f"""import os, random, tempera.check, time
def step(model, state):
    {before}first = random.randrange(2)
    try:
        return [os.urandom(1)[0] % 2 if first else 0]
    except Exception:
        return [0]
tempera.check.serve(step)""", {**CASE, "whole": whole}, [{"state": [] if whole else [0]}])
    (error,) = [line["error"] for line in lines if "error" in line]
    assert error.endswith("no stand-in for os.urandom, called at <string>:5: ask random or secrets for what its bytes decide\n")
    assert "another exception" not in error


def test_the_command_refuses_a_program_that_catches_a_refusal(tmp_path):
    (tmp_path / "sampler.py").write_text("""import random
def step(model, state):
    try:
        chance = open("/dev/urandom", "rb").read(1)[0]
    except Exception:
        chance = 0
    if chance > 127:
        return [0] * len(state)
    tokens = []
    while not model.is_ended(tokens):
        row = model.probabilities(tokens)
        tokens += random.choices(range(len(row)), weights=row)
    return tokens
""")
    command = os.environ.get("TEMPERA", str(pathlib.Path(PACKAGE).parent / "build/release/tempera"))
    program = f"PYTHONPATH={PACKAGE} {sys.executable} -m tempera.check {tmp_path}/sampler.py:step"
    done = subprocess.run([command, "check", "--program", program, "--target", "power:1", "--within", "1e-9", "--processes", "1"],
                          capture_output=True, text=True)
    assert done.returncode == 2 and done.stdout == "", done.stdout
    assert "tempera.check has no stand-in for /dev/urandom, called at sampler.py:4" in done.stderr


@pytest.mark.parametrize("seeds, is_refused", [
    ("random.seed(5); random.randrange(2); random.seed(5)", True),
    ("random.Random(5).randrange(2); random.Random(5)", True),
    ("random.seed(5); random.seed(5)", False),
    ("random.Random(5).randrange(2); random.Random(6)", False),
])
def test_a_whole_program_does_not_begin_a_stream_twice(seeds, is_refused):
    lines = spoken(ONCE.format(seeds + "; return [random.randrange(2)]"), {**CASE, "whole": True}, [{"state": []}])
    errors = [line["error"] for line in lines if "error" in line]
    assert bool(errors) == is_refused
    assert all("begins the stream again that was begun at <string>:3" in error for error in errors)


def of_a_whole_program(step, monkeypatch, is_whole=True):
    """The law of a step that is walked as a whole program's: its seeds are its user's. Twice as fast as law(), which looks at all generators."""
    early_names.install()
    monkeypatch.setattr(seeding, "is_whole", is_whole)
    collected = Collected()
    walks.Replay(collected, walks.Share(), every_path=True).run(step)
    return collected.law()


@pytest.mark.parametrize("first", [["draw"], ["seed 5", "draw"], ["seed 5", "seed by chance", "draw"]], ids=["unseeded", "seeded", "by chance"])
def test_a_stream_is_begun_again_only_if_nothing_was_drawn_of_it(monkeypatch, first):
    """Every sequence of draws, seeds and new generators, against a list of the streams that were drawn from, on every path anew."""
    made = []
    acts = {
        "draw": lambda: random.randrange(2), "seed 5": lambda: random.seed(5), "seed 6": lambda: random.seed(6),
        "seed by chance": random.seed, "another": lambda: made.append(random.Random(5)), "draw of it": lambda: made[-1].randrange(2) if made else 0,
    }  # fmt: skip

    def run(names):
        made.clear()
        return tuple(drawn for name in names if (drawn := acts[name]()) is not None)

    for names in itertools.chain.from_iterable(itertools.product(acts, repeat=length) for length in range(1, 4)):
        names = [*first, *names]
        begun: dict = {}
        drawn_of: dict = {}
        draws, is_refused = 0, False
        for place, name in enumerate(names):
            who = "beside" if name in ("another", "draw of it") else "here"
            if name == "seed by chance":
                begun[who] = None
            elif not name.startswith("draw"):
                stream = 5 if name == "another" else int(name[-1])
                is_refused = is_refused or stream in drawn_of
                begun[who] = stream, place
            elif name == "draw" or who in begun:
                if begun.get(who):
                    is_refused = is_refused or drawn_of.setdefault(begun[who][0], begun[who]) != begun[who]
                draws += 1
        if is_refused:
            with pytest.raises(lab.Refused, match=r"random(.Random)?.seed\([56]\) at test_seeds.py:[0-9]+ begins the stream again that was begun at test_seeds.py:"):
                of_a_whole_program(lambda: run(names), monkeypatch)
        else:
            assert len(of_a_whole_program(lambda: run(names), monkeypatch)) == 2**draws, names


STATES = {
    "random": (lambda: random.randrange(2), random.getstate, random.setstate),
    "an instance": (lambda: lasting.randrange(2), lambda: lasting.getstate(), lambda state: lasting.setstate(state)),
    "numpy.random": (lambda: int(np.random.randint(2)), np.random.get_state, np.random.set_state),
    "RandomState": (lambda: int(numpy_state.randint(2)), lambda: numpy_state.get_state(legacy=False), lambda state: numpy_state.set_state(state)),
    "bits": (lambda: int(of_bits.integers(2)), lambda: of_bits.bit_generator.state, put_bits),
}


@pytest.mark.parametrize("name", STATES)
@pytest.mark.parametrize("is_whole", [False, True])
def test_a_state_is_put_back_only_if_nothing_was_drawn_since_it_was_asked_for(monkeypatch, name, is_whole):
    """Every sequence of draws and states, against a count of the draws; each state stands for its own moment, though all are equal."""
    draw, get, put = STATES[name]
    early_names.install()
    for acts in itertools.chain.from_iterable(itertools.product(("draw", "get", "put the first", "put the last"), repeat=length) for length in range(1, 6)):
        # A state is put back once, at the end: what it may be is the matter here.
        if acts[-1][:3] != "put" or any(act[:3] == "put" for act in acts[:-1]) or "get" not in acts or len(acts) == 5 and acts[0] != "draw":
            continue
        saved = [acts[:place].count("draw") for place, act in enumerate(acts) if act == "get"]
        kept = saved[0 if acts[-1] == "put the first" else -1]

        def step():
            states, drawn = [], []
            for act in acts:  # noqa: B023
                if act == "draw":
                    drawn.append(draw())
                elif act == "get":
                    states.append(get())
                else:
                    put(states[0 if act == "put the first" else -1])
            return (*drawn, draw())

        run = lambda: of_a_whole_program(step, monkeypatch, is_whole)  # noqa: B023, E731
        if acts.count("draw") > kept:
            with pytest.raises(lab.Refused, match="puts back a generator that has drawn since"):
                run()
        else:
            assert run() == {end: Fraction(1, 2 ** len(end)) for end in itertools.product(range(2), repeat=acts.count("draw") + 1)}, acts


def test_a_copy_of_a_state_is_taken_for_the_first_that_was_asked_for():
    def step(copied):
        states = [random.getstate()]
        random.randrange(2)
        states.append(random.getstate())
        random.setstate(copied(states[1]))
        return random.randrange(2)

    assert law(lambda: step(lambda state: state)) == {0: Fraction(1, 2), 1: Fraction(1, 2)}
    with pytest.raises(lab.Refused, match="has drawn since"):
        law(lambda: step(lambda state: (*state[:1], tuple(list(state[1])), *state[2:])))


def test_what_a_path_has_made_asked_for_and_drawn_counts_on_that_path_alone(monkeypatch):
    def once_saved():
        first = random.randrange(2)
        if first == 0:
            lasting.getstate()
        lasting.setstate(lasting_state)  # of before the step: its own stream, unless the step has asked for one that is equal
        return first, lasting.random() < 0.5

    assert sorted(law(once_saved).values()) == [Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)]

    def put_first():
        lasting.setstate(lasting_state)
        return lasting.randrange(2)

    assert of_a_whole_program(put_first, monkeypatch) == {0: Fraction(1, 2), 1: Fraction(1, 2)}
    monkeypatch.undo()
    for make, state, seed, draw in (
        (lambda: random.Random(3), lambda g: g.getstate(), lambda g: g.seed(4), lambda g: g.random() < 0.5),
        (lambda: np.random.RandomState(3), lambda g: g.get_state()[1].tolist(), lambda g: g.seed(4), lambda g: bool(g.rand() < 0.5)),
        (lambda: np.random.default_rng(3), lambda g: g.bit_generator.state, lambda g: g.bit_generator.__init__(4), lambda g: bool(g.random() < 0.5)),
    ):  # fmt: skip
        made = []
        law(lambda: made.append(make()) or 0)  # noqa: B023
        before = state(made[-1])
        assert list(law(lambda: (seed(made[-1]), draw(made[-1]))[1]).values()) == [1]  # noqa: B023
        assert state(made[-1]) == before


def test_nothing_of_a_path_is_left_in_the_next():
    law(seeded(lambda: 0, lambda: random.seed(0)))
    assert not seeding.own and not seeding._kept
