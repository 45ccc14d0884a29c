"""Processes that are forked from one that samples: the child has the models of its parent, and none of its threads."""
import os
import pickle
import select
import signal
import subprocess
import sys
import threading

import pytest
from conftest import PPT, PROMPT, WORKED_SUM

import tempera


def in_child(work):
    """What `work()` returns in a forked process, or the exception that it raises there."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            found = work()
        except BaseException as error:  # noqa: BLE001 (the parent looks at it)
            found = error
        with os.fdopen(writes, "wb") as file:
            pickle.dump(found, file)
        os._exit(0)
    os.close(writes)
    if not select.select([reads], [], [], 300)[0]:  # a child that hangs would never end the test
        os.kill(child, signal.SIGKILL)
    with os.fdopen(reads, "rb") as file:
        packed = file.read()
    os.waitpid(child, 0)
    assert packed, "the child hangs"
    return pickle.loads(packed)


def test_a_fork_in_any_pass_of_other_threads_samples_the_same_bits(model):
    expected = model.sample(PROMPT, seed=7, **PPT)
    ends, in_use = threading.Event(), tempera.Session(model)
    in_use.submit(PROMPT, samples=1 << 10, seed=1, rounds=1 << 20, **{name: value for name, value in PPT.items() if name != "rounds"})

    def step():
        while not ends.is_set():
            in_use.step()

    def sample():
        while not ends.is_set():
            model.sample("1+2?", seed=3, samples=8, **PPT)

    threads = [threading.Thread(target=work) for work in (step, sample, sample)]
    for thread in threads:
        thread.start()
    refused = 0
    try:
        for _ in range(12):
            assert in_child(lambda: model.sample(PROMPT, seed=7, **PPT)) == expected
            # The session was in a call of a thread that the child does not have, unless the fork came between two calls.
            found = in_child(lambda: in_use.totals()["batches"])
            refused += isinstance(found, tempera.BadInput)
            assert isinstance(found, (tempera.BadInput, float, int)), found
            assert model.sample(PROMPT, seed=7, **PPT) == expected
    finally:
        ends.set()
        for thread in threads:
            thread.join()
    assert refused


def test_a_fork_while_nothing_runs_keeps_sessions(model):
    session = tempera.Session(model)
    session.submit(PROMPT, seed=7, **PPT)
    session.step()

    def rest():
        events = []
        while session.busy:
            events += session.step()
        return [event.answer for event in events if isinstance(event, tempera.session.Answered)]

    assert in_child(rest) == rest() == model.sample(PROMPT, seed=7, **PPT)
    assert in_child(lambda: in_child(lambda: model.sample(PROMPT, seed=7, **PPT))) == model.sample(PROMPT, seed=7, **PPT)


def test_a_model_is_pickled_by_its_name(model, monkeypatch, tmp_path):
    packed = pickle.dumps(model)
    assert len(packed) < 1000
    monkeypatch.chdir(tmp_path)
    again = pickle.loads(packed)
    assert (again.arithmetic, again.vocabulary_size) == (model.arithmetic, model.vocabulary_size)
    assert again.sample(PROMPT, seed=7, **PPT) == model.sample(PROMPT, seed=7, **PPT)
    monkeypatch.chdir(WORKED_SUM)
    near = pickle.dumps(tempera.Model.open("."))
    monkeypatch.chdir(tmp_path)
    assert pickle.loads(near).terminal == model.terminal


def test_a_session_is_a_context(model):
    with tempera.Session(model) as session:
        session.submit(PROMPT, samples=50, seed=1, **PPT)
        session.step()
        assert session.busy
    assert not session.busy and session.step() == []


def test_max_tokens_is_the_horizon(model):
    assert model.sample(PROMPT, seed=1, powers=[2], max_tokens=6) == model.sample(PROMPT, seed=1, powers=[2], horizon=6)
    assert model.sample(PROMPT, seed=1, powers=[2], max_tokens=6, horizon=6) == model.sample(PROMPT, seed=1, powers=[2], horizon=6)
    with pytest.raises(tempera.BadInput, match="max_tokens"):
        model.sample(PROMPT, powers=[2], max_tokens=6, horizon=7)


def test_the_version_is_the_tree_s(monkeypatch):
    from conftest import TEMPERA, command

    assert command("--version").split()[1] == tempera.__version__ and TEMPERA


@pytest.mark.parametrize("first", ["tempera.__version__", "tempera.partition.rejection_share(1, 2)", "None"])
def test_forks_are_told_whatever_was_asked_first(first):
    """The version loads the extension too; a fork in a pass would hang the child if nothing were registered then."""
    program = f"import os, tempera.native; {first}; told = []; os.register_at_fork = lambda **calls: told.append(sorted(calls)); "
    told = subprocess.run([sys.executable, "-c", program + "tempera.native.native(); tempera.native.native(); print(len(told))"],
                          capture_output=True, text=True, check=True).stdout  # fmt: skip
    assert told == ("0\n" if "partition" in first else "1\n")
