"""Columns of every mixture of values, and the answers and figures of run folders that are written out."""
import itertools
import json
import random

import numpy as np
import pytest

import tempera
from tempera import diagnostics, partition
from tempera.run_folder import columns

VALUES = {"whole": 3, "real": 2.5, "truth": True, "text": "a", "none": None, "list": [1]}


def test_a_column_is_an_array_of_numbers_or_of_truths_else_a_list():
    for kinds in itertools.chain(itertools.product(VALUES, repeat=1), itertools.product(VALUES, repeat=2), itertools.product(VALUES, repeat=3)):
        values = [VALUES[kind] for kind in kinds]
        found = columns([{"n": value} for value in values])["n"]
        is_array = set(kinds) <= {"whole", "real"} or set(kinds) == {"truth"}
        assert isinstance(found, np.ndarray) == is_array, kinds
        assert list(found) == values


def test_what_a_record_lacks_is_none_wherever_it_is():
    for lacking in range(3):
        records = [{"n": number, "more": number} for number in range(3)]
        del records[lacking]["more"]
        found = columns(records)
        assert list(found["n"]) == [0, 1, 2]
        assert found["more"] == [None if number == lacking else number for number in range(3)]


def written(folder, name, records):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records))


def a_run(folder, chance, named):
    """A run of three rungs, two prompts (or one without a name) and up to three samples, whose events come mixed; the samples last first."""
    ids = ["b", "a"] if named else [None]
    keys = [(name, sample) for name in ids for sample in range(3)]
    config = {"sampler": "ppt", "powers": [1, 2, 4], "output_rung": 3, "horizon": 9, "seed": 1, "model_path": "m"}
    config |= {"prompts": [{"id": name, "prompt": "?"} for name in ids]} if named else {}
    events, samples = [], []
    for name, sample in keys:
        of = {**({"id": name} if named else {}), "sample": sample}
        for number in range(1, chance.randrange(2, 7)):
            events += [{"kind": "local_move", **of, "rung": rung, "tokens": chance.randrange(9), "accepted": chance.random() < 0.5,
                        **chance.choice([{}, {"proposed": False}, {"proposed": True}, {"proposals": chance.randrange(1, 9)}])} for rung in (1, 2, 3)]  # fmt: skip
            events += [{"kind": "swap", **of, "rung": rung, "accepted": chance.random() < 0.5} for rung in chance.sample((1, 2), chance.randrange(3))]
            events.append({"kind": "extension", **of, "rung": 1, "tokens": chance.randrange(9)})
            events.append({"kind": "round", **of, "stage": 0, "round": number, "log_p0": [-chance.random() for _ in range(3)], "lengths": [1, 2, 3]})
        ended = chance.choice([{"terminated": True}, {"terminated": True, "stopped": True}, {"terminated": False}, {"terminated": False, "stopped": True}])
        samples.append({**of, "tokens": [chance.randrange(9) for _ in range(chance.randrange(1, 9))], "answer": f"of {name} {sample}", "log_p0": -chance.random(), **ended})
    written(folder, "samples.jsonl", samples[::-1])
    groups = [[event for event in events if (event.get("id"), event["sample"]) == key] for key in keys]
    turns = [group for group in groups for _ in group]
    chance.shuffle(turns)
    events = [group.pop(0) for group in turns]  # those of each answer in their own order
    written(folder, "events.jsonl", events)
    (folder / "config.json").write_text(json.dumps(config))
    for name in ("summary", "speed"):
        (folder / f"{name}.json").write_text(json.dumps({"of": name}))
    return samples[::-1], events, ids


@pytest.mark.parametrize("named", [False, True])
def test_answers_have_the_counts_of_their_own_events(tmp_path, named):
    """Prompts of several samples each, against a search through the lines for every figure."""
    for turn in range(10):
        chance = random.Random(turn)
        samples, events, ids = a_run(tmp_path / f"{turn}", chance, named)
        run = tempera.RunFolder(tmp_path / f"{turn}")
        assert (run.summary, run.speed) == ({"of": "summary"}, {"of": "speed"})
        found = run.answers()
        assert [answer.text for answer in found] == [sample["answer"] for sample in samples]
        for answer, sample in zip(found, samples):
            own = [event for event in events if event.get("id") == sample.get("id") and event["sample"] == sample["sample"]]
            assert answer.tokens == tuple(sample["tokens"]) and answer.log_p0 == sample["log_p0"]
            assert (answer.prompt, answer.sample) == (ids.index(sample.get("id")), sample["sample"])
            assert answer.finish_reason == ("stop" if sample.get("stopped") else "terminal" if sample["terminated"] else "horizon")
            assert answer.log_p0_of_rungs == tuple([event["log_p0"] for event in own if event["kind"] == "round"][-1])
            assert answer.decode_tokens == sum(event.get("tokens", 0) for event in own)
            for kind, told, rungs in (("local_move", answer.local_moves, 3), ("swap", answer.swaps, 2)):
                of_rung = [[event for event in own if event["kind"] == kind and event["rung"] == rung] for rung in range(1, rungs + 1)]
                proposed = [sum(event.get("proposals", 1) for event in of if event.get("proposed") is not False) for of in of_rung]
                assert [one.proposed for one in told] == proposed and [one.accepted for one in told] == [sum(event["accepted"] for event in of) for of in of_rung]
        for kind in ("local_move", "swap", "extension", "round"):
            of_kind = [event for event in events if event["kind"] == kind]
            columns_of = run.events(kind)
            assert set(columns_of) == {name for event in of_kind for name in event} - {"kind"}
            assert all(list(values) == [event.get(name) for event in of_kind] for name, values in columns_of.items())


def test_a_run_is_judged_at_the_confidence_that_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr(diagnostics, "rank_test", lambda *_: 1.0)  # which takes long, and has no confidence
    chance = random.Random(3)
    samples, _, _ = a_run(tmp_path / "run", chance, True)
    run = tempera.RunFolder(tmp_path / "run")
    exact = {"sampler": "exact-rejection", "powers": [4], "output_rung": 1, "horizon": 9, "seed": 2, "model_path": "m"}
    draws = [{**sample, "answer": f"{sample['answer']}.", "log_p0": -7.0, "tokens": [1] * 40} for sample in samples for _ in range(60)]
    written(tmp_path / "exact", "samples.jsonl", draws)
    (tmp_path / "exact/config.json").write_text(json.dumps(exact))
    written(tmp_path / "run", "samples.jsonl", samples * 60)
    of_exact = tempera.RunFolder(tmp_path / "exact")
    assert [row.tv_at_least for row in run.against_exact(of_exact, 0.6)] == [row.tv_at_least for row in diagnostics.against(samples * 60, draws, 0.6)]
    assert len({run.against_exact(of_exact, confidence)[0].tv_at_least for confidence in (0.6, 0.95)}) == 2
    for key, value in (("model_path", "another"), ("horizon", 8)):
        (tmp_path / "exact/config.json").write_text(json.dumps({**exact, key: value}))
        with pytest.raises(tempera.BadInput, match=f"has the {key.partition('_')[0]} {value}, and .* {run.config[key]}; draw both alike"):
            run.against_exact(of_exact)
    rounds = [{"kind": "round", "id": "a", "sample": sample, "stage": 0, "round": number, "log_p0": [-chance.random() for _ in range(3)], "lengths": [1, 2, 3]}
              for sample in range(4) for number in range(1, 6)]  # fmt: skip
    written(tmp_path / "run", "events.jsonl", rounds)
    for confidence in (0.6, 0.95):
        assert run.log_partition(confidence) == partition.of_run(run.config, run.events, confidence)
    assert run.log_partition() == run.log_partition(0.95) != run.log_partition(0.6)
