"""Every argument of the package with values that it cannot have: what comes back is an answer or one line of our own.

The calls are listed with arguments that work; each argument of each is then replaced by every value of WRONG. KINDS says which of
these an argument may have. Any other raises BadInput in one line, and so does one that it may have where the call has no answer.
"""
import asyncio
import inspect
import math
from fractions import Fraction

import numpy as np
import pytest
from conftest import PROMPT, WORKED_SUM

import tempera
from tempera import check, diagnostics, errors, exact, law, partition, ray, tempering


class Shy:
    """An object without a repr."""

    def __repr__(self):
        raise RuntimeError("no repr")


class Wordy:
    def __repr__(self):
        return "two\nlines " * 1000


WRONG = [
    None, True, False, -1, 0, 1, 2**31, 2**32, 2**63, 2**64, 10**30, 10**400, 10**5000, -(10**5000), 1.5, -0.5, 1e300, 5e-324, math.nan, math.inf,
    -math.inf, 1j, "", "x", "1", "nan", "1e999999999", "\ud800", "a\0b", "x" * 300, "x" * 100_000, b"", b"x", bytearray(b"x"), [], [-1], [2**32], [2**64], [True],
    [1.5], [math.nan], [10**400], [10**5000], ["\ud800"], ["a\0b"], [b"x"], [None], [[]], [1, "a"], [Shy()], ("x",), range(3), set(), {1, 2}, {"a"}, {},
    {"role": "user"}, {"a": 1}, object(), Shy(), Wordy(), print, np.float32(1), np.int64(-1), np.int64(1), np.bool_(True), np.array(1.5), np.array([1.5, math.nan]),
    np.array(["a"]), np.array([[1, 2], [3, 4]]), np.array([], float), np.array([1j]), np.zeros((2, 2, 2)), np.datetime64("2026-01-01"),
]  # fmt: skip
SHORT = {"powers": [1, 2], "horizon": 3, "block": 3, "rounds": 1, "seed": 1, "samples": 1}
FOUR_STATE = WORKED_SUM.removesuffix("worked_sum") + "four_state.json"


def steps_once(session, **wishes):
    request = session.submit(PROMPT, **{**SHORT, **wishes})
    session.step()
    session.cancel(request)


def sampled(model, **wishes):
    """The first pass: a request that is taken may be long."""
    with tempera.Session(model) as session:
        steps_once(session, **wishes)


def laid_out(model, **layout):
    with tempera.Session(model, **layout) as session:
        steps_once(session)


def stays(case, state, lottery):
    return list(state)


def drawing(draw):
    """A step that takes a decision first."""

    def step(case, state, lottery):
        draw(lottery)
        return list(state)

    return step


def chatty():
    return tempera.Model.from_callable(lambda rows: np.zeros((len(rows), 3)), 3, chat=lambda messages, **arguments: [0])


MODEL = exact.FiniteModel.open(FOUR_STATE)
DRAWS = [[0.1, 0.2, 0.5, 0.3], [0.2, 0.1, 0.4, 0.9]]
CHAINS = [[[-1.0, -2.0], [-1.5, -2.5]], [[-1.2, -2.0], [-1.0, -3.0]]]
ANSWER = {"id": "a", "answer": "x", "tokens": [1], "log_p0": -1.0}
ROUNDS = {name: column * 4 for name, column in (("stage", [1]), ("sample", [0]), ("log_p0", [[-1.0]]), ("lengths", [[2]]))} | {"round": [1, 2, 3, 4]}

# Each takes an open model, a finite model, and the arguments that are named beside it.
CALLS = {
    "open": (lambda m, f, **given: tempera.Model.open(**given),
             {"name_or_path": WORKED_SUM, "arithmetic": "float32", "device": "host", "rope_factors": None}),
    "encode": (lambda m, f, text: m.encode(text), {"text": PROMPT}),
    "decode": (lambda m, f, tokens: m.decode(tokens), {"tokens": [1, 2]}),
    "score": (lambda m, f, tokens, powers: m.score(tokens, powers), {"tokens": [1, 2, 3], "powers": [1, 2]}),
    "prompts": (lambda m, f, prompts, ids: m.sample(prompts, ids=ids, **SHORT), {"prompts": [PROMPT, [1, 2]], "ids": ["a", "b"]}),
    "message": (lambda m, f, role, content: chatty().sample([{"role": role, "content": content}], **SHORT), {"role": "user", "content": "x"}),
    "layout": (lambda m, f, **layout: laid_out(m, **layout), {"batch": 4, "under_way": 2, "cache_memory": 0}),
    "session": (lambda m, f, model: tempera.Session(model), {"model": None}),
    "submit": (lambda m, f, prompt, **given: tempera.Session(m).submit(prompt, **given, **SHORT),
               {"prompt": PROMPT, "id": "a", "thinking": None}),
    "cancel": (lambda m, f, request: tempera.Session(m).cancel(request), {"request": 0}),
    "folder": (lambda m, f, **given: m.sample(PROMPT, **given, **SHORT), {"out": None, "resume": False, "checkpoint_seconds": None}),
    "kept": (lambda m, f, **given: m.sample(PROMPT, out="kept", resume=True, **given, **SHORT), {"checkpoint_seconds": 1}),
    "set_threads": (lambda m, f, threads: tempera.set_threads(threads), {"threads": None}),
    "download": (lambda m, f, download: tempera.Model.open(WORKED_SUM, download=download), {"download": False}),
    "from_callable": (lambda m, f, **given: tempera.Model.from_callable(**given),
                      {"next_logits": lambda rows: np.zeros((len(rows), 3), np.float32), "vocabulary": ["a", "b", "e"], "terminal": ["e"], "encode": None,
                       "decode": None, "chat": None, "positions": 0, "arithmetic": "none", "name": "own", "digest": None}),
    "conversation": (lambda m, f, **given: chatty().sample([{"role": "user", "content": "x"}], **given, **SHORT),
                     {"chat_template_kwargs": {"a": 1}, "thinking": None}),
    "geometric": (lambda m, f, **given: tempering.geometric(**given), {"first": 1, "last": 4, "replicas": 3}),
    "arithmetic": (lambda m, f, **given: tempering.arithmetic(**given), {"first": 1, "last": 4, "replicas": 3}),
    "ladder": (lambda m, f, **given: tempering.ladder(m, **given),
               {"prompts": [PROMPT], "first": 1, "last": 4, "replicas": 2, "horizon": 3, "block": 3, "rounds": 2, "samples": 1, "seed": 1,
                "pilots": 1, "thinking": None, "chat_template_kwargs": None, "ids": ["a"], "cache_memory": 0, "progress": None}),
    "ladder of": (lambda m, f, model: tempering.ladder(model, PROMPT, first=1, last=4, replicas=2), {"model": None}),
    "run folder": (lambda m, f, folder: tempera.RunFolder(folder), {"folder": "nowhere"}),
    "finite model": (lambda m, f, **given: exact.FiniteModel(**given),
                     {"vocabulary": ["a", "e"], "terminal": ["e"], "next": {"": {"a": 1}}, "default": {"e": 1}, "name": "m"}),
    "finite file": (lambda m, f, file: exact.FiniteModel.open(file), {"file": FOUR_STATE}),
    "finite text": (lambda m, f, **given: exact.FiniteModel.parse(**given), {"text": "{}", "name": "m"}),
    "next": (lambda m, f, prefix: f.next(prefix), {"prefix": [0]}),
    "records": (lambda m, f, horizon: f.records(horizon), {"horizon": 2}),
    "base_law": (lambda m, f, horizon: f.base_law(horizon), {"horizon": 2}),
    "power_law": (lambda m, f, **given: f.power_law(**given), {"horizon": 2, "power": 2}),
    "local_chain": (lambda m, f, **given: f.local_chain(**given),
                    {"horizon": 2, "power": 2, "kernel": "fixed", "restart": None, "restart_range": "horizon", "start": "a a", "steps": 1}),
    "joint_chain": (lambda m, f, **given: f.joint_chain(**given),
                    {"horizon": 2, "powers": [1, 2], "schedule": "adj", "restart": None, "restart_range": "horizon", "start": None, "steps": 1}),
    "mixing": (lambda m, f, **given: f.mixing(**given),
               {"horizon": 2, "powers": [1, 2], "within": "1/4", "gap": True, "cuts": False, "schedule": "adj", "restart": None,
                "restart_range": "horizon"}),
    "round_trips": (lambda m, f, **given: f.round_trips(**given), {"horizon": 2, "powers": [1, 2], "rounds": 2, "schedule": "adj"}),
    "law": (lambda m, f, **given: law.compiled(f, **given), {"horizon": 2, "powers": [1, 2]}),
    "local_move": (lambda m, f, **given: law.local_move(**{"model": f, **given}), {"horizon": 2, "power": 2}),
    "law of": (lambda m, f, model: law.local_move(model, 2, 2), {"model": MODEL}),
    "chosen law": (lambda m, f, **given: law.compiled(f, 2, [2], **given), {"schedule": "adj", "restart": None, "restart_range": "horizon"}),
    "fraction": (lambda m, f, number: exact.fraction(number), {"number": 1}),
    "Law": (lambda m, f, **given: exact.Law(**given), {"states": ["a", "b"], "probabilities": ["1/2", "1/2"]}),
    "Matrix": (lambda m, f, **given: exact.Matrix(**given), {"states": ["a"], "rows": [[1]]}),
    "row": (lambda m, f, state: exact.Matrix(["a"], [[1]]).row(state), {"state": "a"}),
    "entry": (lambda m, f, pair: exact.Matrix(["a"], [[1]])[pair], {"pair": ("a", "a")}),
    "total_variation": (lambda m, f, **given: exact.total_variation(**given), {"first": {"a": 1}, "second": {"a": 1}}),
    "judge": (lambda m, f, **given: check.judge(stays, f, **given), {"horizon": 2, "powers": [2], "within": 0}),
    "shrink": (lambda m, f, **given: check.shrink(stays, f, **given), {"horizon": 2, "powers": [2], "within": 0}),
    "fault": (lambda m, f, **given: check.fault(stays, f, **given), {"horizon": 2, "powers": [2], "within": 0}),
    "judge of": (lambda m, f, **given: check.judge(**{"step": stays, "model": f, **given}), {"step": stays, "model": MODEL}),
    "shrink of": (lambda m, f, **given: check.shrink(**{"step": stays, "model": f, **given}), {"step": stays, "model": MODEL}),
    "fault of": (lambda m, f, **given: check.fault(**{"step": stays, "model": f, **given}), {"step": stays, "model": MODEL}),
    "law of a step": (lambda m, f, step: check.law(step), {"step": None}),
    "draw": (lambda m, f, weights: check.judge(drawing(lambda lottery: lottery.draw(weights)), f), {"weights": [1, "1/2"]}),
    "happens": (lambda m, f, probability: check.judge(drawing(lambda lottery: lottery.happens(probability)), f), {"probability": 1}),
    "merge": (lambda m, f, key: check.judge(drawing(lambda lottery: lottery.merge(key)), f), {"key": "a"}),
    "state": (lambda m, f, state: check.judge(lambda case, before, lottery: state, f), {"state": [[0, 0]]}),
    "record": (lambda m, f, record: check.judge(lambda case, before, lottery: [record], f), {"record": [0, 0]}),
    "check.model": (lambda m, f, **given: check.model(m, **given), {"prompts": None, "length": 4, "rows": 2, "seed": 0, "within": None}),
    "check.model of": (lambda m, f, judged: check.model(judged), {"judged": None}),
    "ess": (lambda m, f, **given: diagnostics.ess(**given), {"draws": DRAWS, "kind": "bulk"}),
    "r_hat": (lambda m, f, draws: diagnostics.r_hat(draws), {"draws": DRAWS}),
    "mcse": (lambda m, f, draws: diagnostics.mcse(draws), {"draws": DRAWS}),
    "autocorrelation": (lambda m, f, draws: diagnostics.autocorrelation(draws), {"draws": DRAWS}),
    "tv_at_least": (lambda m, f, **given: diagnostics.tv_at_least(**given), {"run": [1, 2], "exact": [1, 3], "confidence": 0.9}),
    "rank_test": (lambda m, f, **given: diagnostics.rank_test(**given), {"run": [1, 2], "exact": [1, 3], "permutations": 3, "seed": 0}),
    "against": (lambda m, f, **given: diagnostics.against(**given), {"run": [ANSWER], "exact": [ANSWER], "confidence": 0.9}),
    "an answer": (lambda m, f, **given: diagnostics.against([{**ANSWER, **given}], [ANSWER]), dict(ANSWER)),
    "diagnose": (lambda m, f, events: diagnostics.diagnose(events), {"events": ROUNDS}),
    "rejection_share": (lambda m, f, **given: partition.rejection_share(**given), {"kept": 2, "proposals": 4, "confidence": 0.9}),
    "minorization": (lambda m, f, **given: partition.minorization(**given), {"log_z": -1, "horizon": 4, "moves": 3}),
    "stepping_stones": (lambda m, f, **given: partition.stepping_stones(**given), {"log_p0": CHAINS, "powers": [1, 2]}),
    "thermodynamic": (lambda m, f, **given: partition.thermodynamic(**given), {"log_p0": CHAINS, "powers": [1, 2]}),
    "of_ladder": (lambda m, f, **given: partition.of_ladder(**given), {"id": "a", "log_p0": CHAINS, "powers": [1, 2], "confidence": 0.9}),
    "of_particles": (lambda m, f, **given: partition.of_particles(**given), {"id": "a", "power": 2, "log_estimates": [-3.5, -2.0], "confidence": 0.9}),
    "of_rejection": (lambda m, f, **given: partition.of_rejection(**given), {"id": "a", "power": 2, "events": [(3, True)], "confidence": 0.9}),
    "read_prompts": (lambda m, f, prompts: ray.read_prompts(prompts), {"prompts": [{"id": "a", "prompt": "x"}]}),
    "blocks": (lambda m, f, **given: next(ray.iterate(**{"prompts": [{"id": "a", "prompt": "x"}], "flags": ["--no-model"], **given})),
               {"prompts": None, "flags": None, "devices": 0, "block": 0, "gpus": -1, "cpus": -1, "command": ""}),
    "lines": (lambda m, f, out: ray.sample([{"id": "a", "prompt": "x"}], ["--no-model"], out=out), {"out": None}),
}  # fmt: skip
# Calls without arguments that work: they need a package that is not installed here, or run for ever.
REFUSED = {"session", "ladder of", "run folder", "finite text", "law of a step", "check.model of", "blocks", "lines", "state"}
# Numbers that these may have, though the call then takes long.
LARGE = {"steps", "rounds", "samples", "pilots", "horizon", "block", "power", "powers", "replicas", "first", "last", "permutations"}
ASKED = [name for name in inspect.signature(tempera.Model.iterate).parameters
         if name not in ("self", "prompts", "ids", "batch", "under_way", "cache_memory", "thinking", "chat_template_kwargs", "progress")]  # fmt: skip


def whole(value):
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and 0 <= value < 2**64


def real(value):
    return isinstance(value, (int, float, Fraction, np.floating, np.integer)) and not isinstance(value, bool) and value == value


def text(value):
    return isinstance(value, str) and "\ud800" not in value


def truth(value):
    return isinstance(value, np.bool_) or isinstance(value, (int, np.integer)) and value in (0, 1)


def rational(value):
    return real(value) and (isinstance(value, int) or math.isfinite(value)) or isinstance(value, str) and value in ("1", "1/2")


def fixed(value):
    """A few texts alone; WRONG has none of them."""
    return False


def nothing(value):
    return value is None


def function(value):
    return callable(value)


def listed(one):
    return lambda value: isinstance(value, (list, tuple, range)) and all(map(one, value)) or isinstance(value, np.ndarray) and value.ndim > 0 and all(map(one, value))


def either(*kinds):
    return lambda value: any(kind(value) for kind in kinds)


def mapping(of):
    return lambda value: isinstance(value, dict) and all(map(of, value.values()))


def numbers(value):
    """Real numbers in an array or lists in lists; truths count as 0 and 1."""
    if isinstance(value, (list, tuple, range)):
        return all(real(one) or isinstance(one, bool) or numbers(one) for one in value)
    return isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and bool(np.isfinite(value).all())


# The values that an argument may have, by its name, or by the call's and its name where the calls differ. The compiled half may
# still refuse one.
KINDS = {
    **dict.fromkeys(("horizon", "steps", "batch", "under_way", "cache_memory", "threads", "request", "replicas", "positions", "length", "rows", "seed",
                     "permutations", "kept", "proposals", "moves", "samples", "block", "particles", "most_tokens", "max_tokens", "output_rung", "prefetch",
                     "pilots"), whole),
    **dict.fromkeys(("rounds", "local_moves", "sweeps"), either(whole, listed(whole))),
    **dict.fromkeys(("repetition_penalty", "frequency_penalty", "presence_penalty", "min_p", "top_p"), real),
    "min_tokens": whole, "top_k": lambda value: whole(value) or isinstance(value, (int, np.integer)) and value == -1, "ignore_eos": truth,
    **dict.fromkeys(("power", "within", "number", "probability"), rational),
    **dict.fromkeys(("powers", "restart", "weights", "probabilities"), listed(rational)),
    **dict.fromkeys(("first", "last", "log_z", "temperature", "confidence", "gpus", "cpus", "log_p0"), real),
    **dict.fromkeys(("text", "name", "id", "content", "role", "key", "digest", "name_or_path", "folder", "file", "out", "start", "command", "answer",
                     "preset", "sampler"), text),
    **dict.fromkeys(("arithmetic", "device", "rope_factors", "kernel", "schedule", "restart_range", "kind", "state", "pair", "model", "judged"), fixed),
    **dict.fromkeys(("tokens", "prefix", "record", "restart_weights"), listed(whole)),
    **dict.fromkeys(("draws", "run", "exact"), numbers),
    **dict.fromkeys(("thinking", "download", "resume", "early_rejection", "auditable", "gap", "cuts"), truth),
    **dict.fromkeys(("step", "next_logits", "encode", "decode", "chat", ), function),
    "progress": truth, "ladder.progress": function, "folder.checkpoint_seconds": fixed,
    "kept.checkpoint_seconds": lambda value: real(value) and 0 <= value <= 10**6,
    "prompt": either(text, listed(whole)), "prompts": either(text, listed(whole), listed(text), listed(listed(whole))), "ids": listed(either(text, whole)),
    "vocabulary": either(whole, listed(text)), "terminal": either(whole, listed(either(text, whole)), lambda value: isinstance(value, set)),
    "next": mapping(mapping(rational)), "default": mapping(rational), "states": listed(text), "chat_template_kwargs": mapping(either(text, whole)),
    "stop": either(text, listed(text)), "events": lambda value: value == {}, "flags": listed(text), "devices": either(nothing, whole),
    "from_callable.arithmetic": text, "Matrix.rows": numbers, "check.model.prompts": listed(listed(whole)), "check.model.within": real,
    "check.model of.judged": fixed, "state.state": listed(listed(whole)), "submit.powers": either(real, listed(real)), "score.powers": either(real, listed(real)),
    "total_variation.first": mapping(rational), "total_variation.second": mapping(rational), "against.run": lambda value: len(value) == 0,
    "finite model.terminal": listed(text), "read_prompts.prompts": text, "blocks.prompts": text, "ask.powers": either(real, listed(real)),
    "ask.confidence": truth, "stepping_stones.log_p0": numbers, "thermodynamic.log_p0": numbers, "of_ladder.log_p0": numbers, "of_rejection.events": listed(fixed),
    "of_particles.log_estimates": numbers,
    "finite text.name": text, "row.state": text, "law.powers": listed(real), "ladder.rounds": whole,
}  # fmt: skip
# None is an argument that is left out.
LEFT_OUT = {"arithmetic", "device", "rope_factors", "thinking", "chat_template_kwargs", "ids", "restart", "start", "default", "threads", "digest", "encode",
            "decode", "chat", "id", "out", "batch", "under_way", "cache_memory", "progress", "terminal", "ladder.horizon", "ladder.block", "ladder.rounds",
            "ladder.samples", "ladder.seed", "ladder.pilots", "mixing.within", "check.model.prompts", "check.model.within", "score.powers", "blocks.devices", "blocks.command",
            "lines.out", "checkpoint_seconds", *(f"ask.{name}" for name in ASKED)}  # fmt: skip


def may_have(call, argument, value):
    if value is None and (argument in LEFT_OUT or f"{call}.{argument}" in LEFT_OUT):
        return True
    try:
        return bool(KINDS.get(f"{call}.{argument}", KINDS.get(argument))(value))
    except (ArithmeticError, RuntimeError, TypeError, ValueError):
        return False


def raises_our_line(call, may=True):
    try:
        call()
    except (tempera.BadInput, tempera.ModelError, tempera.DeviceError) as error:
        line = str(error)
        assert line and "\n" not in line and not line.startswith(":") and len(line) < 1000, line
        for word in ("incompatible function arguments", "nanobind", "_tempera", "_exact", "std::", "unexpected keyword", "object is not", "__"):
            assert word not in line, line
    else:
        assert may, "taken in silence"


def faults(call, given, may):
    """The faults of each argument with each value of WRONG: may(argument, value) is True if it may have that."""
    found = []
    for argument in given:
        for value in WRONG:
            if argument in LARGE and isinstance(value, int) and value > 4:
                continue
            try:
                raises_our_line(lambda argument=argument, value=value: call(**{**given, argument: value}), may(argument, value))
            except Exception as error:
                found.append((argument, errors.shown(value)[:60], type(error).__name__, errors.shown(error)))
    return found


@pytest.fixture(scope="module")
def finite():
    return exact.FiniteModel.open(FOUR_STATE)


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_value_is_one_line(model, finite, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a folder may be named "x"
    call, given = CALLS[name]
    if name not in REFUSED:
        call(model, finite, **given)
    assert faults(lambda **values: call(model, finite, **values), given, lambda argument, value: may_have(name, argument, value)) == []
    tempera.set_threads(None)


@pytest.mark.parametrize("argument", ASKED)
def test_a_wrong_wish_is_one_line(model, argument):
    """Only the first pass is made: a request that is taken may be long."""
    assert faults(lambda **wishes: sampled(model, **wishes), {argument: None}, lambda _, value: may_have("ask", argument, value)) == []


@pytest.mark.parametrize("argument", ["thinking", "progress"])
def test_a_wrong_wish_of_a_whole_call_is_one_line(model, argument):
    asked = lambda **wishes: model.sample(PROMPT, **SHORT, **wishes)  # noqa: E731
    assert faults(asked, {argument: None}, lambda _, value: may_have("sample", argument, value)) == []


def test_calls_of_asyncio_refuse_as_the_others_do(model):
    for argument, wrong in (("prompts", [2**32]), ("prompts", "\ud800"), ("batch", 0), ("seed", 2**64)):
        values = {"prompts": PROMPT, **SHORT, argument: wrong}
        with pytest.raises(tempera.BadInput):
            asyncio.run(model.sample_async(values.pop("prompts"), **values))


def test_the_named_cases(model):
    for call in (
        lambda: model.sample([2**32]), lambda: model.decode([2**32]), lambda: model.score([1, 2**32]), lambda: model.encode("\ud800"),
        lambda: model.sample("\ud800"), lambda: model.sample(PROMPT, batch=0), lambda: model.sample(PROMPT, under_way=0),
        lambda: tempera.Session(model, batch=0), lambda: tempera.Session(None), lambda: tempera.Session(model).cancel(None),
        lambda: tempera.Model.open(b"x"), lambda: tempering.ladder(model, [], first=1, last=4, replicas=2),
        lambda: model.sample(PROMPT, max_tokens=3, horizon=4), lambda: tempera.set_threads(0),
        lambda: model.sample(PROMPT, out=""), lambda: tempera.RunFolder(""), lambda: tempera.Model.open(WORKED_SUM + "\0x"),
        lambda: exact.FiniteModel.open(FOUR_STATE + "\0x"), lambda: exact.fraction("1e5000"), lambda: exact.fraction("1e-5000"),
        lambda: diagnostics.ess(["1", "2", "3", "4"]), lambda: diagnostics.ess(np.array([1j, 2, 3, 4])),
        lambda: diagnostics.diagnose({"round": [1], "sample": [0], "log_p0": [[-1.0]], "lengths": [[2]]}),
        lambda: tempering.ladder(model, PROMPT, first=1, last=4, replicas=2, samples=0),
    ):  # fmt: skip
        with pytest.raises(tempera.BadInput, match="^[^\n]*$"):
            call()
