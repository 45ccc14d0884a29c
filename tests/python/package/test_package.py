"""Drawing answers with the installed package, against the command."""
import asyncio
import importlib.util
import inspect
import json
import os
import signal
import subprocess
import sys
import threading
import types

import numpy as np
import pytest
from conftest import FLAGS, PPT, PROMPT, TEMPERA, TREE, WORKED_SUM, a_program, command

import tempera
import tempera.session
from tempera.native import native


def test_the_same_seed_has_the_bits_of_the_command(model):
    printed = json.loads(command("sample", PROMPT, "--model", WORKED_SUM, *FLAGS, "--samples", "5", "--seed", "7", "--json"))
    answers = model.sample(PROMPT, samples=5, seed=7, **PPT)
    assert [list(a.tokens) for a in answers] == [a["tokens"] for a in printed["answers"]]
    assert [a.log_p0 for a in answers] == [a["log_p0"] for a in printed["answers"]]
    assert [a.sample for a in answers] == [0, 1, 2, 3, 4]
    assert len({a.text for a in answers}) > 1


def test_a_list_of_prompts_is_a_file_with_their_numbers(model, tmp_path):
    prompts = ["1+2?", "9+9+9?", "3+4+5+6?"]
    file = tmp_path / "prompts.jsonl"
    file.write_text("".join(json.dumps({"id": str(i), "prompt": p}) + "\n" for i, p in enumerate(prompts)))
    lines = command("sample", "--prompts", str(file), "--model", WORKED_SUM, *FLAGS, "--samples", "2", "--seed", "3")
    expected = [json.loads(line) for line in lines.splitlines()]
    answers = model.sample(prompts, samples=2, seed=3, **PPT)
    assert [(str(a.prompt), a.sample, a.log_p0) for a in answers] == [(e["id"], e["sample"], e["log_p0"]) for e in expected]


def test_answers_come_one_by_one_and_a_loop_may_be_left(model):
    seen = 0
    for answer in model.iterate(PROMPT, samples=50, seed=1, **PPT):
        seen += 1
        if seen == 3:
            break
    assert seen == 3
    tokens = model.encode(PROMPT)
    assert model.sample(tokens, seed=7, **PPT)[0] == model.sample(PROMPT, seed=7, **PPT)[0]


def test_layout_changes_no_bit(model):
    alone = model.sample(PROMPT, samples=6, seed=2, **PPT)
    tempera.set_threads(1)
    assert model.sample(PROMPT, samples=6, seed=2, batch=3, under_way=2, prefetch=2, **PPT) == alone
    tempera.set_threads(None)


# Every option of `tempera sample` that says what is drawn, and its name here.
OPTIONS = [
    ({"sampler": "power-smc", "powers": [4], "particles": 5, "horizon": 28, "block": 4},
     ["--sampler", "power-smc", "--powers", "4", "--particles", "5", "--horizon", "28", "--block", "4"]),
    ({"sampler": "ramped-smc", "powers": [1, 2, 4], "particles": 2, "horizon": 28, "block": 4},
     ["--sampler", "ramped-smc", "--powers", "1,2,4", "--particles", "2", "--horizon", "28", "--block", "4"]),
    ({"temperature": 0.25, "horizon": 28}, ["--sampler", "low-temperature", "--powers", "4", "--horizon", "28"]),
    ({"sampler": "best-of-n", "particles": 3, "horizon": 28}, ["--sampler", "best-of-n", "--particles", "3", "--horizon", "28"]),
    ({"powers": [1, 2, 4], "horizon": 12, "block": 6, "rounds": [1, 2], "local_moves": [2, 1], "sweeps": [1, 2],
      "schedule": "deo", "restart_weights": [3, 1, 2], "output_rung": 2, "early_rejection": True},
     ["--powers", "1,2,4", "--horizon", "12", "--block", "6", "--rounds", "1,2", "--local-moves", "2,1", "--sweeps", "1,2",
      "--schedule", "deo", "--restart-weights", "3,1,2", "--output-rung", "2", "--early-rejection"]),
    ({"powers": [1, 4], "horizon": 12, "block": 12, "rounds": 3, "local_moves": 0},
     ["--powers", "1,4", "--horizon", "12", "--block", "12", "--rounds", "3", "--local-moves", "0"]),
    ({"powers": [2], "horizon": 12, "restart_range": "record"}, ["--powers", "2", "--horizon", "12", "--restart-range", "record"]),
]


@pytest.mark.parametrize(("wishes", "flags"), OPTIONS)
def test_every_option_means_what_it_means_to_the_command(model, wishes, flags):
    printed = json.loads(command("sample", PROMPT, "--model", WORKED_SUM, *flags, "--samples", "2", "--seed", "3", "--json"))
    answers = model.sample(PROMPT, samples=2, seed=3, **wishes)
    assert [(list(a.tokens), a.log_p0) for a in answers] == [(a["tokens"], a["log_p0"]) for a in printed["answers"]]


def test_a_stop_string_ends_an_answer_before_it(model):
    whole = model.sample(PROMPT, seed=5, **PPT)[0]
    cut = model.sample(PROMPT, seed=5, stop="=", **PPT)[0]
    assert cut.text == whole.text.partition("=")[0] and cut.finish_reason == "stop" and len(cut.tokens) < len(whole.tokens)
    assert cut.records[-1].text == cut.text


def test_an_answer_has_the_record_of_every_rung(model):
    answer = model.sample(PROMPT, seed=5, confidence=True, **PPT)[0]
    assert [record.log_p0 for record in answer.records] == list(answer.log_p0_of_rungs)
    assert answer.records[-1].tokens == answer.tokens and answer.records[-1].text == answer.text
    for rung, record in enumerate(answer.records, 1):
        alone = model.sample(PROMPT, seed=5, output_rung=rung, **PPT)[0]
        assert (alone.tokens, alone.text, alone.log_p0) == (record.tokens, record.text, record.log_p0)
        assert record.confidence < 0 and record.terminated == (record.tokens[-1] in model.terminal)
    assert model.sample(PROMPT, seed=5, **PPT)[0].records[0].confidence is None


def test_prompts_may_have_ids(model):
    named = model.sample([PROMPT, "1+2?"], ids=["x", "y"], seed=3, **PPT)
    assert named[1] != model.sample([PROMPT, "1+2?"], seed=3, **PPT)[1]
    assert named[1].log_p0 == model.sample(["1+2?"], ids=["y"], seed=3, **PPT)[0].log_p0
    with pytest.raises(tempera.BadInput, match="ids"):
        model.sample([PROMPT, "1+2?"], ids=["x", "x"], **PPT)


def test_figures_of_an_answer(model):
    answer = model.sample(PROMPT, seed=5, **PPT)[0]
    assert len(answer.log_p0_of_rungs) == 4 and answer.log_p0_of_rungs[-1] == answer.log_p0
    assert len(answer.local_moves) == 4 and len(answer.swaps) == 3
    assert all(0 <= a.accepted <= a.proposed for a in answer.local_moves + answer.swaps)
    assert answer.swaps[0].proposed == 7 * 3  # seven stages of three sweeps
    assert answer.finish_reason == "terminal" and answer.tokens[-1] in model.terminal
    assert answer.decode_tokens > len(answer.tokens)


def test_scores_are_those_of_the_command(model):
    tokens = model.encode("4+7?<11")
    printed = json.loads(command("score", "--model", WORKED_SUM, "--tokens", ",".join(map(str, tokens)),
                                 "--powers", "1,2,4", "--json"))
    scores = model.score(tokens, [1, 2, 4])
    assert scores.log_p.dtype == np.float64 and scores.log_p.tolist() == printed["log_p"]
    assert scores.log_z.shape == (len(tokens) - 1, 3) and scores.log_z.tolist() == printed["log_z"]


def test_scores_are_not_copied(model):
    scores = model.score(model.encode("4+7?<11"), [1, 2])
    for array in (scores.log_p, scores.log_z):
        shared = np.from_dlpack(array)
        assert shared.ctypes.data == array.ctypes.data
        assert not array.flags.owndata  # the vector that was computed into owns the memory


def test_asyncio(model):
    async def both():
        beside = 0

        async def count():
            nonlocal beside
            while True:
                beside += 1
                await asyncio.sleep(0)

        counting = asyncio.create_task(count())
        answers = await model.sample_async(PROMPT, samples=3, seed=7, **PPT)
        counting.cancel()
        return answers, beside

    answers, beside = asyncio.run(both())
    assert answers == model.sample(PROMPT, samples=3, seed=7, **PPT)
    assert beside > 1


def test_a_cancelled_task_ends_the_work(model, monkeypatch):
    async def cancelled():
        task = asyncio.create_task(model.sample_async([PROMPT] * 50, samples=20, seed=7, **PPT))
        await has_stepped.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    steps, has_stepped = [], asyncio.Event()
    take = tempera.model._Sampling.take

    def counted(self):
        steps.append(self)
        has_stepped.set()
        return take(self)

    monkeypatch.setattr(tempera.model._Sampling, "take", counted)
    asyncio.run(cancelled())
    # The step that was under way as the task was cancelled brought nothing.
    assert len(steps) == 1
    assert len(model.sample([PROMPT] * 50, samples=20, seed=7, **PPT)) == 1000 and len(steps) > 10


def test_other_threads_run_meanwhile(model):
    counted, ends = 0, threading.Event()

    def count():
        nonlocal counted
        while not ends.is_set():
            counted += 1

    thread = threading.Thread(target=count)
    thread.start()
    # A step that held the GIL would let nothing else run in a call of the compiled half.
    session = tempera.Session(model)
    passed = 0
    for step in range(10_000):  # on a busy machine the other thread does not come to run in each of them
        if not session.busy:
            session.submit(PROMPT, samples=64, seed=step, **PPT)
        before = counted
        session._session.step()
        passed += counted > before
        if passed == 3:
            break
    ends.set()
    thread.join()
    assert passed == 3


def test_ctrl_c_ends_the_work():
    source = (
        "import sys, tempera\n"
        f"model = tempera.Model.open({WORKED_SUM!r})\n"
        "try:\n"
        "    print('begins', flush=True)\n"
        f"    model.sample({PROMPT!r}, samples=100000, powers=[1, 2, 4], horizon=28)\n"
        "except KeyboardInterrupt:\n"
        "    answer = model.sample('1+2?', horizon=8, powers=[1, 2])[0]\n"
        "    print('ended', len(answer.tokens))\n"
    )
    with a_program(source) as process:
        assert process.stdout.readline() == "begins\n"
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=600)
    assert said.startswith("ended ") and process.returncode == 0


def test_progress_is_shown_if_asked_for(model, capsys, monkeypatch):
    model.sample(PROMPT, samples=3, progress=True, **PPT)
    said = capsys.readouterr().err
    # check_wheel has no tqdm, check_wheels the real one.
    assert ("3/3" if importlib.util.find_spec("tqdm") else "3 of 3 answers") in said
    model.sample(PROMPT, samples=3, **PPT)
    assert capsys.readouterr().err == ""
    told = []

    class Bar:
        def __init__(self, total, unit):
            told.append((total, unit))

        def update(self, more):
            told.append(more)

        def close(self):
            told.append("closed")

    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(tqdm=Bar))
    for answer in model.iterate(PROMPT, samples=3, progress=True, **PPT):
        if len(told) == 3:
            break
    assert told == [(3, "answer"), 1, 1, "closed"]  # also of a loop that was left


@pytest.mark.parametrize("wishes, words", [
    ({"powers": [2, 1]}, "increasing"),
    ({"sampler": "pppt"}, "ppt"),
    ({"preset": "qwen3/math50"}, "qwen3/math500"),
    ({"horizon": 0}, "horizon"),
    ({"schedule": "odd"}, "schedule"),
    ({"temperature": 0.5, "powers": [1, 2]}, "temperature"),
    ({"seed": -1}, "seed"),
    ({"seed": 2**64}, "2^64"),
    ({"seed": True}, "seed"),
    ({"samples": 2.5}, "2.5"),
    ({"rounds": [1, -1]}, "rounds"),
    ({"powers": "1,2"}, "[1, 2, 4]"),
    ({"powers": [1, "a"]}, "'a' is not a number"),
    ({"stop": 3}, "stop"),
    ({"confidence": "yes"}, "neither True nor False"),
    ({"ids": 3}, "ids"),
    ({"batch": -1}, "batch"),
    ({"sampler": 3}, "sampler"),
])
def test_bad_input_is_one_line(model, wishes, words):
    with pytest.raises(tempera.BadInput) as error:
        model.sample(PROMPT, **wishes)
    assert words in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("prompt", [3, None, {"role": "user", "content": "1+2?"}, [PROMPT, 3], [1, "a"], b"1+2?",
                                    [{"role": "user"}], [{"role": "user", "content": 3}], [[1], [-1]]])
def test_what_is_no_prompt_is_one_line(model, prompt):
    with pytest.raises(tempera.BadInput, match="^prompt[^\n]*$"):
        model.sample(prompt, **PPT)


def test_numbers_of_numpy_and_single_powers_are_taken(model):
    alone = model.sample(PROMPT, seed=3, powers=[2], horizon=12)
    assert model.sample(PROMPT, seed=np.int64(3), powers=2, horizon=np.int32(12)) == alone
    assert model.sample(np.array(model.encode(PROMPT)), seed=3, powers=np.array([2.0]), horizon=12) == alone
    listed = model.sample([PROMPT, "1+2?"], seed=3, powers=[2], horizon=12)
    assert model.sample((prompt for prompt in [PROMPT, "1+2?"]), seed=3, powers=[2], horizon=12) == listed
    arrays = [np.array(model.encode(prompt)) for prompt in (PROMPT, "1+2?")]
    assert model.sample(arrays, seed=3, powers=[2], horizon=12) == listed
    assert model.decode(np.array(model.encode(PROMPT))) == PROMPT


def test_a_notebook_sees_the_names_of_all_arguments(model):
    for call in (model.sample, model.iterate, model.sample_async, model.iterate_async, tempera.Session.submit):
        names = inspect.signature(call).parameters
        assert {"powers", "seed", "stop"} <= set(names) and "wishes" not in names
        for name in set(names) - {"self", "prompts", "prompt", "out", "resume", "id", "checkpoint_seconds"}:
            assert name in tempera.Model.sample.__doc__, name
    assert "checkpoint_seconds" not in inspect.signature(model.iterate).parameters


def test_logits_that_are_no_numbers_are_a_model_error(model, spoilt_folder, tmp_path):
    spoilt = tempera.Model.open(spoilt_folder)
    asked = {
        "sample": lambda: spoilt.sample(PROMPT, **PPT),
        "iterate": lambda: list(spoilt.iterate(PROMPT, **PPT)),
        "asyncio": lambda: asyncio.run(spoilt.sample_async(PROMPT, **PPT)),
        "run folder": lambda: spoilt.sample(PROMPT, out=tmp_path / "run", **PPT),
        "ladder": lambda: tempera.tempering.ladder(spoilt, PROMPT, first=1, last=4, replicas=2, horizon=8),
    }
    for name, call in asked.items():
        with pytest.raises(tempera.ModelError, match="^[^\n]*NaN[^\n]*$"):
            call()
            pytest.fail(name)
    # In a session one request fails, and it says so; the others go on in their own sessions.
    session = tempera.Session(spoilt)
    session.submit(PROMPT, samples=2, **PPT)
    failed = []
    while session.busy:
        failed += [event for event in session.step() if isinstance(event, tempera.session.Failed)]
    assert len(failed) == 2 and all(isinstance(event.error, tempera.ModelError) and "NaN" in str(event.error) for event in failed)


def test_every_error_of_the_compiled_half_has_its_class():
    # Those that no machine of these tests can bring about are made by name.
    for name in ("BadInput", "ModelError", "DeviceError", "Bug"):
        error = getattr(tempera, name)("one line")
        assert isinstance(error, tempera.Error) and str(error) == "one line"
    assert issubclass(tempera.BadInput, ValueError) and issubclass(tempera.DeviceError, RuntimeError)


def test_other_errors(model, tmp_path):
    with pytest.raises(TypeError, match="powers"):
        model.sample(PROMPT, power=[1, 2])
    with pytest.raises(tempera.BadInput, match="does not exist"):
        tempera.Model.open(str(tmp_path / "none"))
    with pytest.raises(tempera.BadInput, match="encode"):
        model.score(PROMPT)
    with pytest.raises(tempera.BadInput, match="threads"):
        tempera.set_threads(-1)
    with pytest.raises(tempera.BadInput, match="vocabulary"):
        model.decode([10 ** 6])
    with pytest.raises(tempera.BadInput, match="arithmetic"):
        tempera.Model.open(WORKED_SUM, arithmetic="float33")
    with pytest.raises(tempera.BadInput, match="rope_factors"):
        tempera.Model.open(WORKED_SUM, rope_factors="middle")
    with pytest.raises(tempera.BadInput):
        model.sample("ü")
    for device in ("tpu", "cuda:", "cuda:-1", "cuda1"):
        with pytest.raises(tempera.BadInput, match=f"device: '{device}' is not known"):
            tempera.Model.open(WORKED_SUM, device=device)


@pytest.mark.parametrize("asked", ["__version__", "exact", "law", "Model.open('.')", "set_threads(1)"])
def test_a_source_tree_in_the_way_of_the_package_is_named(asked):
    folder = TREE / "python"
    done = subprocess.run([sys.executable, "-c", f"import tempera; tempera.{asked}"], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(folder)})  # fmt: skip
    assert done.returncode == 1
    said = done.stderr.splitlines()[-1]
    assert said.startswith(f"ImportError: tempera: the package in {folder} has no compiled half _")
    assert said.endswith(f"; run pip install . in its source tree, and leave {folder} out of PYTHONPATH")


@pytest.mark.parametrize("device", ["cuda", "cuda:1"])
def test_a_device_that_is_not_there_is_a_device_error(device):
    # Of a package without the kernels, and of the compiled half itself; tests/python/check_cuda has a wheel with them.
    with pytest.raises(tempera.DeviceError) as error:
        tempera.Model.open(WORKED_SUM, device=device)
    assert str(error.value).startswith(f"device {device}: this package was built without kernels for CUDA; ")
    with pytest.raises(tempera.DeviceError) as error:
        native().OpenedModel.open(WORKED_SUM, None, device, None)
    assert str(error.value).startswith(f"device {device}: this build has no CUDA; ") and "\n" not in str(error.value)


@pytest.mark.parametrize("device, module", [(None, "_tempera"), ("host", "_tempera"), ("cuda", "_tempera_cuda"), ("cuda:0", "_tempera_cuda"), ("cuda:123456789", "_tempera_cuda"),
                                            *((wrong, None) for wrong in ("cuda:", "cuda:-1", "cuda:1234567890", "hosts", "xcuda", "CUDA", "cuda:1 ", "cuda\n", "", b"host", 0, True))])  # fmt: skip
def test_a_device_has_its_half(monkeypatch, device, module):
    monkeypatch.setattr("tempera.native._module", lambda name: name)
    if module is not None:
        assert native(device) == module
    else:
        with pytest.raises(tempera.BadInput, match="^device: .* is not known; give"):
            native(device)


def test_an_extension_is_told_of_forks_and_templates_once(monkeypatch):
    import tempera.native as loading

    told, registered = [], []
    half = types.SimpleNamespace(use_template_engine=lambda *given: told.append(given), wait_for_turns=lambda: told.append("wait"), forked=lambda is_child: told.append(is_child))
    monkeypatch.setattr(loading, "_ready", {})
    monkeypatch.setattr(loading, "compiled_half", lambda name: half)
    monkeypatch.setattr(os, "register_at_fork", lambda **calls: registered.append(calls))
    assert loading._module("_tempera") is loading._module("_tempera") is half
    assert len(told) == len(registered) == 1 and told[0][0] is loading._rendered
    told.clear()
    for name in ("before", "after_in_parent", "after_in_child"):
        registered[0][name]()
    assert told == ["wait", False, True]


def test_a_progress_line_counts_up_and_ends(capsys):
    line = tempera.model._Line(3)
    line.close()
    assert capsys.readouterr().err == ""
    line.update(1)
    line.update(2)
    line.close()
    assert capsys.readouterr().err == "\r1 of 3 answers\r3 of 3 answers\n"


def test_a_call_draws_for_each_prompt_under_its_id(tmp_path):
    wished = tempera.model._Wished
    for prompts, wishes, ids, total in (("a", {}, [None], 1), ([[1]], {}, [None], 1), (["a", "b"], {"samples": 3}, ["0", "1"], 6), (["a", "b"], {"ids": [3, "x"]}, ["3", "x"], 2), ("a", {"ids": ["y"]}, ["y"], 1),
                                        ([], {}, [], 0), (iter(["a", "b"]), {}, ["0", "1"], 2)):  # fmt: skip
        found = wished("sample", prompts, wishes)
        assert (found.ids, found.total, len(found.prompts)) == (ids, total, len(ids))
    for ids in (["x"], ["x", "x"], ["x", "y", "z"], [1, "1"], []):
        with pytest.raises(tempera.BadInput, match="^ids: are not one for each prompt, all different"):
            wished("sample", ["a", "b"], {"ids": ids})
    for shown in (True, False):
        assert wished("sample", "a", {"progress": shown}).is_shown is shown
    assert wished("sample", "a", {"batch": 3, "checkpoint_seconds": 2}, ("checkpoint_seconds",)).layout == {"batch": 3, "checkpoint_seconds": 2.0}
    with pytest.raises(TypeError, match="sample\\(\\) has no argument 'checkpoint_seconds'"):
        wished("sample", "a", {"checkpoint_seconds": 2})


def test_a_wish_about_a_folder_needs_a_folder(model, tmp_path):
    resumes = tempera.model._resumes
    for given in (False, True, 0, 1):
        assert resumes("x", given, None) is bool(given) and resumes("x", given, 3) is bool(given)
    assert resumes(None, False, None) is False
    for wrong, name in (((None, True, None), "resume"), ((None, 1, None), "resume"), ((None, False, 0), "checkpoint_seconds"), ((None, False, 3), "checkpoint_seconds")):
        with pytest.raises(tempera.BadInput, match=f"^{name}: has no effect without out"):
            resumes(*wrong)
    with pytest.raises(tempera.BadInput, match="^prompts: are none"):
        model.sample([], out=tmp_path / "none", **PPT)
    assert model.sample([], **PPT) == [] and not (tmp_path / "none").exists()
    (answer,) = model.sample("1+2?", out=tmp_path / "run", seed=1, **PPT)
    with pytest.raises(tempera.BadInput, match="run: exists already"):
        model.sample("1+2?", out=tmp_path / "run", seed=1, **PPT)
    assert model.sample("1+2?", out=tmp_path / "run", resume=True, seed=1, **PPT) == [answer]
    (tmp_path / "empty").mkdir()
    assert model.sample("1+2?", out=tmp_path / "empty", seed=1, **PPT) == [answer]


def test_a_pickle_opens_the_same_files_wherever_it_is_opened(model, tmp_path, monkeypatch):
    opened, (where, arithmetic, device, factors) = model.__reduce__()
    assert opened is tempera.model._opened_again and (where, arithmetic, device, factors) == (WORKED_SUM, "float32", None, None)
    heard = []
    monkeypatch.setattr(tempera.Model, "open", lambda name, **more: heard.append((name, more)))
    opened("x", "a", "cuda:1", "long")
    assert heard == [("x", {"arithmetic": "a", "device": "cuda:1", "rope_factors": "long"})]
    monkeypatch.chdir(tmp_path)
    os.symlink(WORKED_SUM, tmp_path / "here")
    for name, revision, expected in (("here", None, str(tmp_path / "here")), ("none/such", None, "none/such"), ("a/b", "123", "a/b@123"), ("a/b@main", "123", "a/b@123")):
        one = tempera.Model.__new__(tempera.Model)
        one._opened, one._rows, one._device, one._rope_factors, one.name, one.revision = types.SimpleNamespace(arithmetic="bits"), None, "host", "short", name, revision
        assert one.__reduce__()[1] == (expected, "bits", "host", "short")
