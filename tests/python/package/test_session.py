"""A session for those who serve."""
import threading
import types

import pytest
from conftest import PPT, PROMPT

import tempera
from tempera.session import Answered, RoundEnded, TextDrawn


def drain(session):
    events = []
    while session.busy:
        events += session.step()
    return events


def test_requests_come_and_go_and_change_no_answer(model):
    expected = {seed: model.sample(PROMPT, seed=seed, **PPT)[0] for seed in (1, 2, 3)}
    session = tempera.Session(model, batch=5)
    first = session.submit(PROMPT, seed=1, **PPT)
    for _ in range(10):
        session.step()
    gone = session.submit("1+2?", seed=9, samples=7, **PPT)
    second = session.submit(PROMPT, seed=2, **PPT)
    for _ in range(5):
        assert not any(event.request == gone for event in session.step() if isinstance(event, Answered))
    session.cancel(gone)
    third = session.submit(PROMPT, seed=3, **PPT)
    events = drain(session)
    answers = {event.request: event.answer for event in events if isinstance(event, Answered)}
    assert answers == {first: expected[1], second: expected[2], third: expected[3]}
    assert not any(event.request == gone for event in events)
    assert not session.busy and session.step() == []
    totals = session.totals()
    assert totals["batches"] > 0 and totals["decode_tokens"] > 0 and totals["forward_seconds"] > 0


def test_a_request_that_another_thread_cancels_in_a_step_ends_nothing_else(model):
    """News of a request may have been made before it was cancelled, and be taken after."""
    session = tempera.Session(model)
    gone, kept = session.submit(PROMPT, seed=1, samples=2, **PPT), session.submit(PROMPT, seed=2, **PPT)

    class Raw:
        """In the place of the compiled half: another thread cancels while it computes."""

        def step(self):
            session.cancel(gone)

        def cancel(self, request):
            pass

        def take_news(self):
            return [types.SimpleNamespace(kind="failure", request=request, sample=0, error="ModelError", text="a") for request in (gone, kept)]

    session._session = Raw()
    found = [event.request for event in session.step() if event.request != gone]
    assert found == [kept] and not session.busy and session._confidence == {}


def test_rounds_are_told_as_they_end(model):
    session = tempera.Session(model)
    session.submit(PROMPT, seed=1, **PPT)
    rounds = [event for event in drain(session) if isinstance(event, RoundEnded)]
    # Seven stages of a block extension and three rounds, four rungs each.
    assert len(rounds) == 7 * 4 and all(len(event.log_p0) == 4 for event in rounds)


def test_text_comes_as_it_is_drawn(model):
    session = tempera.Session(model)
    session.submit(PROMPT, sampler="standard", horizon=28, seed=4)
    events = drain(session)
    drawn = "".join(event.text for event in events if isinstance(event, TextDrawn))
    (answer,) = (event.answer for event in events if isinstance(event, Answered))
    assert drawn == answer.text == model.sample(PROMPT, sampler="standard", horizon=28, seed=4)[0].text


def test_threads_may_share_a_session(model):
    expected = [model.sample(PROMPT, seed=seed, **PPT)[0] for seed in range(8)]
    session = tempera.Session(model)
    found, lock, requests = {}, threading.Lock(), {}

    def serve(seeds):
        for seed in seeds:
            with lock:
                requests[session.submit(PROMPT, seed=seed, **PPT)] = seed
            session.totals()

    def step():
        while len(found) < 8:
            for event in session.step():
                if isinstance(event, Answered):
                    found[event.request] = event.answer

    threads = [threading.Thread(target=serve, args=(range(n, 8, 2),)) for n in (0, 1)] + [threading.Thread(target=step)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert [found[request] for request, _ in sorted(requests.items(), key=lambda pair: pair[1])] == expected


def test_bad_requests_are_refused_and_change_nothing(model):
    session = tempera.Session(model)
    with pytest.raises(TypeError, match="rounds"):
        session.submit(PROMPT, round=3)
    with pytest.raises(tempera.BadInput, match="role and content"):
        session.submit([{"role": "user"}])
    with pytest.raises(tempera.BadInput, match="increasing"):
        session.submit(PROMPT, powers=[2, 1])
    assert not session.busy
    session.submit(PROMPT, seed=1, **PPT)
    assert sum(isinstance(event, Answered) for event in drain(session)) == 1
