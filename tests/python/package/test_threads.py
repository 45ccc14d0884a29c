"""Threads that share a model. Those who compute with it at once crash, or change each other's answers: so each test is a process.

`test_threads.py NAME…` makes the named calls in one thread, then in many at once, and says which of them came out otherwise.
"""
import asyncio
import dataclasses
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import PPT, PROMPT, WORKED_SUM

import tempera
from tempera import tempering
from tempera.model import draw_into
from tempera.native import native

PROMPTS = [PROMPT, "9+9+9?"]
LADDER = {"first": 1, "last": 4, "replicas": 3, "horizon": 28, "rounds": 3, "samples": 2, "pilots": 2}


def session(model, number):
    requests = tempera.Session(model, batch=3 + number)
    requests.submit(PROMPT, seed=number, **PPT)
    gone = requests.submit("1+2?", seed=9, samples=5, **PPT)
    events = []
    while requests.busy:
        events += requests.step()
        if len(events) > 5:
            requests.cancel(gone)
    return [event for event in events if event.request != gone]


def score(model, number):
    scores = model.score(model.encode("4+7?<11>9+9?"[: 6 + number]), powers=[1, 2, 4])
    return scores.log_p.tobytes(), scores.log_z.tobytes()


def run(model, number):
    with tempfile.TemporaryDirectory() as folder:
        return model.sample(PROMPTS, seed=number, out=pathlib.Path(folder) / "run", **PPT)


def from_callbacks(model, number):
    """What is called back between two passes may use the model itself."""
    heard = []
    found = tempering.ladder(model, PROMPTS, seed=number, progress=lambda _: heard.append(score(model, number)), **LADDER)
    with tempfile.TemporaryDirectory() as folder:
        wishes = {"seed": number, "samples": 2, **PPT}
        draw_into(model, PROMPTS, f"{folder}/run", lambda: heard.append(model.sample("1+2?", seed=number, **PPT)), **wishes)
    return dataclasses.astuple(found), heard


def together(model, number):
    async def both():
        return await asyncio.gather(*(model.sample_async(PROMPT, seed=number + more, **PPT) for more in (0, 1)))

    return asyncio.run(both())


CALLS = {
    "sample": lambda model, number: model.sample(PROMPT, seed=number, samples=2, **PPT),
    "leave": lambda model, number: next(model.iterate(PROMPTS, seed=number, samples=1, batch=3, **PPT)),
    "session": session,
    "score": score,
    "run": run,
    "from_callbacks": from_callbacks,
    "together": together,
}


@pytest.mark.parametrize("names", [["sample"], list(CALLS)], ids=["the same call", "all calls"])
def test_threads_may_share_a_model(names):
    done = subprocess.run([sys.executable, "-X", "faulthandler", __file__, *names], capture_output=True, text=True, timeout=1200)
    assert (done.returncode, done.stdout) == (0, "the bits of one thread\n"), done.stderr[-3000:]


def waits_for_its_turn(model, call):
    """Whether a call asks for a turn while another thread has it, as in a pass, and is not done before that is over."""
    native().wait_for_turns()
    try:
        asked = model._opened.turns_asked
        thread = threading.Thread(target=call)
        thread.start()
        while thread.is_alive() and model._opened.turns_asked == asked:
            time.sleep(0.001)
        waits = model._opened.turns_asked > asked
    finally:
        native().forked(False)
    thread.join()
    return waits


def test_what_has_caches_of_a_model_waits_for_its_pass(model):
    """Each call that would seldom meet a pass by chance."""
    held, kept = tempera.Session(model), []
    request = held.submit(PROMPT, seed=2, **PPT)
    sessions = [held]
    del held
    calls = {
        "begin": lambda: kept.append(tempera.Session(model)),
        "step": lambda: sessions[0].step(),
        "score": lambda: score(model, 1),
        "cancel": lambda: sessions[0].cancel(request),
        "drop": sessions.pop,
    }
    assert [name for name, call in calls.items() if not waits_for_its_turn(model, call)] == []


def make(names):
    model = tempera.Model.open(WORKED_SUM)
    calls = [(name, number) for number in range(3) for name in names]
    expected = [CALLS[name](model, number) for name, number in calls]
    # Further models come and go meanwhile.
    with ThreadPoolExecutor(6) as pool:
        others = [pool.submit(lambda: tempera.Model.open(WORKED_SUM).sample("1+2?", seed=1, **PPT)) for _ in range(3)]
        found = [(call, pool.submit(CALLS[call[0]], model, call[1]), wanted)
                 for _ in range(max(2, 12 // len(names))) for call, wanted in zip(calls, expected, strict=True)]  # fmt: skip
        differing = [call for call, answer, wanted in found if answer.result() != wanted]
        assert len({repr(other.result()) for other in others}) == 1
    print("other bits of", *differing) if differing else print("the bits of one thread")


if __name__ == "__main__":
    make(sys.argv[1:])
