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


def news(kind, **more):
    given = dict(text="t", tokens=[1, 2], log_p0=-1.5, log_p0_of_records=[-1.0, -2.0], moves=[(4, 1), (0, 0)], swaps=[(3, 2)], decode_tokens=9, stopped=False, terminated=False)
    fields = {"round": dict(stage=2, round=3, log_p0=[-1.0, -2.0]), "text": dict(text="x"), "failure": dict(error="ModelError", text="why"),
              "answer": dict(answer=types.SimpleNamespace(**{**given, **more}), records=[types.SimpleNamespace(text="r", tokens=[3], log_p0=-3.0, terminated=True, confidence=-0.5)])}[kind]  # fmt: skip
    return types.SimpleNamespace(kind=kind, request=5, sample=1, **fields)


@pytest.mark.parametrize("stopped, terminated, reason", [(False, False, "horizon"), (False, True, "terminal"), (True, False, "stop"), (True, True, "stop")])
@pytest.mark.parametrize("confidence", [False, True])
def test_an_event_is_what_the_compiled_half_tells_field_by_field(model, stopped, terminated, reason, confidence):
    session = tempera.Session(model)
    session._confidence, session._left = {5: confidence}, {5: 3}
    told = [news("round"), news("text"), news("answer", stopped=stopped, terminated=terminated), news("failure")]
    session._session = types.SimpleNamespace(step=lambda: None, take_news=lambda: told, cancel=lambda request: None, totals=dict)
    ended, text, answered, failed = session.step()
    assert (ended.request, ended.sample, ended.stage, ended.round, ended.log_p0) == (5, 1, 2, 3, (-1.0, -2.0))
    assert (text.request, text.sample, text.text) == (5, 1, "x")
    assert (answered.request, answered.sample) == (failed.request, failed.sample) == (5, 1)
    assert type(failed.error) is tempera.ModelError and str(failed.error) == "why"
    one = answered.answer
    assert one == tempera.Answer("t", (1, 2), -1.5, (-1.0, -2.0), (tempera.model.Acceptance(4, 1), tempera.model.Acceptance(0, 0)), (tempera.model.Acceptance(3, 2),), 9, reason, 0, 1,
                                 (tempera.model.RungRecord("r", (3,), -3.0, True, -0.5 if confidence else None),))  # fmt: skip
    assert [acceptance.rate for acceptance in (*one.local_moves, *one.swaps)] == [0.25, 0.0, 2 / 3]
    assert session.busy and session._left == {5: 1}
    told[:] = [news("round"), news("answer")]
    session.step()
    assert not session.busy and session._confidence == {}


def test_a_block_cancels_what_is_still_to_come_and_an_end_counts_samples(model):
    with tempera.Session(model) as session:
        first = session.submit(PROMPT, samples=2, seed=1, **PPT)
        second = session.submit(PROMPT, id="a", seed=1, **PPT)
        assert session._left == {first: 2, second: 1} and session.busy
        session.cancel(second)
        assert session._left == {first: 2} and set(session._confidence) == {first}
    assert not session.busy and session.step() == []
    alone = tempera.Session(model)
    for id, expected in ((None, model.sample(PROMPT, seed=1, **PPT)), ("a", model.sample(PROMPT, ids=["a"], seed=1, **PPT))):
        alone.submit(PROMPT, id=id, seed=1, **PPT)
        assert [event.answer for event in drain(alone) if isinstance(event, Answered)] == expected
    assert model.sample(PROMPT, seed=1, **PPT) != model.sample(PROMPT, ids=["a"], seed=1, **PPT)
