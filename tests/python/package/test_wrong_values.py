"""Every argument of the package with values that it cannot have: what comes back is an answer or one line of our own.

The calls are listed with arguments that work; each argument of each is then replaced by every value of WRONG. A call may
take such a value where it means something. Otherwise it raises BadInput or TypeError in one line without a word of the
binding's, and never Bug.
"""
import asyncio
import inspect
import math

import numpy as np
import pytest
from conftest import PROMPT, WORKED_SUM

import tempera
from tempera import check, exact, law, tempering

WRONG = [
    None, True, -1, 0, 2**31, 2**32, 2**63, 2**64, 10**30, 10**400, 1.5, -0.5, math.nan, math.inf, "", "x", "\ud800", "a\0b", b"x",
    [], [-1], [2**32], [2**64], [math.nan], [10**400], ["\ud800"], [None], [[]], {}, {"role": "user"}, object(), np.array(1.5),
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


# Each takes an open model, a finite model, and the arguments that are named beside it.
CALLS = {
    "open": (lambda m, f, **given: tempera.Model.open(**given),
             {"name_or_path": WORKED_SUM, "arithmetic": "float32", "device": "host", "rope_factors": None}),
    "encode": (lambda m, f, text: m.encode(text), {"text": PROMPT}),
    "decode": (lambda m, f, tokens: m.decode(tokens), {"tokens": [1, 2]}),
    "score": (lambda m, f, tokens, powers: m.score(tokens, powers), {"tokens": [1, 2, 3], "powers": [1, 2]}),
    "prompts": (lambda m, f, prompts, ids: m.sample(prompts, ids=ids, **SHORT), {"prompts": [PROMPT, [1, 2]], "ids": ["a", "b"]}),
    "message": (lambda m, f, role, content: m.sample([{"role": role, "content": content}], **SHORT), {"role": "user", "content": "x"}),
    "layout": (lambda m, f, **layout: laid_out(m, **layout), {"batch": 4, "under_way": 2, "cache_memory": 0}),
    "session": (lambda m, f, model: tempera.Session(model), {"model": None}),
    "submit": (lambda m, f, prompt, **given: tempera.Session(m).submit(prompt, **given, **SHORT),
               {"prompt": PROMPT, "id": "a", "thinking": None}),
    "cancel": (lambda m, f, request: tempera.Session(m).cancel(request), {"request": 0}),
    "folder": (lambda m, f, **given: m.sample(PROMPT, **given, **SHORT), {"out": None, "resume": False}),
    "set_threads": (lambda m, f, threads: tempera.set_threads(threads), {"threads": None}),
    "geometric": (lambda m, f, **given: tempering.geometric(**given), {"first": 1, "last": 4, "replicas": 3}),
    "arithmetic": (lambda m, f, **given: tempering.arithmetic(**given), {"first": 1, "last": 4, "replicas": 3}),
    "ladder": (lambda m, f, **given: tempering.ladder(m, **given),
               {"prompts": [PROMPT], "first": 1, "last": 4, "replicas": 2, "horizon": 3, "block": 3, "rounds": 1, "samples": 1, "seed": 1,
                "pilots": 1, "thinking": None, "ids": ["a"], "cache_memory": 0}),
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
    "judge": (lambda m, f, **given: check.judge(stays, f, **given), {"horizon": 2, "powers": [2], "within": 0}),
    "shrink": (lambda m, f, **given: check.shrink(stays, f, **given), {"horizon": 2, "powers": [2], "within": 0}),
}  # fmt: skip
# Numbers that these may have, though the call then takes long.
LARGE = {"steps", "rounds", "samples", "pilots", "horizon", "block", "power", "powers", "replicas", "first", "last"}
ASKED = [name for name in inspect.signature(tempera.Model.iterate).parameters
         if name not in ("self", "prompts", "ids", "batch", "under_way", "cache_memory", "thinking", "progress")]  # fmt: skip


def raises_our_line(call):
    try:
        call()
    except (tempera.BadInput, tempera.ModelError, TypeError) as error:
        text = str(error)
        assert text and "\n" not in text and not text.startswith(":"), text
        for word in ("incompatible function arguments", "nanobind", "_tempera", "_exact", "std::", "unexpected keyword"):
            assert word not in text, text


@pytest.fixture(scope="module")
def finite():
    return exact.FiniteModel.open(FOUR_STATE)


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_value_is_one_line(model, finite, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a folder may be named "x"
    call, given = CALLS[name]
    for argument in given:
        for wrong in WRONG:
            if argument in LARGE and isinstance(wrong, int) and wrong > 4:
                continue
            raises_our_line(lambda argument=argument, wrong=wrong: call(model, finite, **{**given, argument: wrong}))
    tempera.set_threads(None)


@pytest.mark.parametrize("argument", ASKED)
def test_a_wrong_wish_is_one_line(model, argument):
    """Only the first pass is made: a request that is taken may be long."""
    for wrong in WRONG:
        raises_our_line(lambda wrong=wrong: sampled(model, **{argument: wrong}))


@pytest.mark.parametrize("argument", ["thinking", "progress"])
def test_a_wrong_truth_is_one_line(model, argument):
    for wrong in WRONG:
        raises_our_line(lambda wrong=wrong: model.sample(PROMPT, **SHORT, **{argument: wrong}))


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
        lambda: model.sample(PROMPT, out=""), lambda: tempera.RunFolder(""),
    ):  # fmt: skip
        with pytest.raises(tempera.BadInput, match="^[^\n]*$"):
            call()
