"""Models that a callable computes: the bits of our own models at the same logits, and what a callable may do wrong."""
import dataclasses
import gc
import json
import math
import pickle
import sys
import threading
import weakref
from fractions import Fraction

import numpy as np
import pytest
from conftest import PPT, PROMPT, TREE, command
from test_fork import in_child

import tempera
from tempera import check, errors, tempering
from tempera.called import CalledText, NamedTokens, write_rows

CHAIN = {"powers": [4], "horizon": 28, "block": 4, "rounds": 3}
SAMPLERS = {
    "ppt": PPT,
    "ppt, early": {**PPT, "early_rejection": True, "prefetch": 2, "confidence": True},
    "standard": {"sampler": "standard", "horizon": 28, "stop": ["="]},
    "low-temperature": {"sampler": "low-temperature", "powers": [2], "horizon": 28},
    "power-sampling": {"sampler": "power-sampling", **CHAIN},
    "fixed-horizon": {"sampler": "fixed-horizon", **CHAIN},
    "power-smc": {"sampler": "power-smc", "powers": [2], "horizon": 28, "block": 4, "particles": 6},
    "best-of-n": {"sampler": "best-of-n", "powers": [1], "horizon": 28, "particles": 4},
    "uncoupled-ladder": {"sampler": "uncoupled-ladder", **PPT},
    "uncoupled-ladder-by-likelihood": {"sampler": "uncoupled-ladder-by-likelihood", **PPT},
}


def logits_of(model):
    """The logits of a model of our own, as a callable gives them: each prefix whole, in a cache of its own."""
    calls = type(model._opened)

    def next_logits(prefixes):
        return calls.next_logits(model._opened, [calls.empty_cache(model._opened) for _ in prefixes], prefixes)

    return next_logits


def called(model, next_logits=None, **more):
    return tempera.Model.from_callable(
        next_logits or logits_of(model), model.vocabulary_size, terminal=model.terminal, encode=model.encode, decode=model.decode, **more
    )


@pytest.fixture(scope="module")
def own(model):
    return called(model)


def uneven(prefixes):
    """Rows of eight logits that depend on the whole prefix."""
    rows = np.zeros((len(prefixes), 8), np.float32)
    for row, prefix in enumerate(prefixes):
        state = 7
        for token in prefix:
            state = (state * 31 + token + 1) % 10007
        rows[row] = [((state * (3 + token)) % 101) / 25 for token in range(8)]
    return rows


@pytest.mark.parametrize("name", SAMPLERS)
def test_every_sampler_has_the_bits_of_our_own_model(model, own, name):
    wishes = {"seed": 5, "samples": 3, "batch": 5, **SAMPLERS[name]}
    assert own.sample([PROMPT, "9+9+9?"], **wishes) == model.sample([PROMPT, "9+9+9?"], **wishes)


def test_scores_ladders_and_sessions_have_them_too(model, own):
    tokens = model.encode("4+7?<11")
    for mine, theirs in zip(dataclasses.astuple(own.score(tokens, [1, 2])), dataclasses.astuple(model.score(tokens, [1, 2])), strict=True):
        assert mine.tobytes() == theirs.tobytes()
    wishes = {"first": 1, "last": 4, "replicas": 3, "horizon": 28, "rounds": 3, "samples": 2, "pilots": 2, "seed": 1}
    assert tempering.ladder(own, [PROMPT], **wishes) == tempering.ladder(model, [PROMPT], **wishes)
    found = []
    for one in (own, model):
        session = tempera.Session(one, batch=3)
        session.submit(PROMPT, seed=2, sampler="standard", horizon=28)
        events = []
        while session.busy:
            events += session.step()
        found.append(events)
    assert found[0] == found[1]


@pytest.mark.parametrize("name", ["four_tokens.json", "zero_probabilities.json"])
def test_a_finite_model_has_the_answers_of_the_command(name):
    """Its rows by fractions, against the command's own table."""
    path = TREE / "toy_models" / name
    finite = tempera.exact.FiniteModel.open(path)

    def next_logits(prefixes):
        laws = [finite.next(prefix) for prefix in prefixes]
        return [[math.log(law[token]) if law[token] else -math.inf for token in finite.vocabulary] for law in laws]

    model = tempera.Model.from_callable(next_logits, finite.vocabulary, terminal=finite.terminal)
    answers = model.sample([[]], powers=[1, 2], horizon=3, rounds=4, samples=8, seed=2)
    told = command("sample", "", "--model", path, "--powers", "1,2", "--horizon", 3, "--rounds", 4, "--samples", 8, "--seed", 2, "--json")
    theirs = json.loads(told)["answers"]
    assert [answer.log_p0 for answer in answers] == [one["log_p0"] for one in theirs]
    assert [list(answer.tokens) for answer in answers] == [one["tokens"] for one in theirs]


GIVEN = {
    "NumPy": lambda rows: rows,
    "float64": lambda rows: rows.astype(np.float64),
    "lists": lambda rows: rows.tolist(),
    "rows": lambda rows: list(rows),
    "not contiguous": lambda rows: np.asfortranarray(rows),
    "dlpack": lambda rows: type("Tensor", (), {"__dlpack__": lambda _, **more: rows.__dlpack__(**more), "__dlpack_device__": lambda _: rows.__dlpack_device__()})(),
}  # fmt: skip


@pytest.mark.parametrize("name", GIVEN)
def test_rows_come_as_any_array(name):
    plain = tempera.Model.from_callable(uneven, 8, terminal=7)
    other = tempera.Model.from_callable(lambda prefixes: GIVEN[name](uneven(prefixes)), 8, terminal=7)
    wishes = {"powers": [1, 2], "horizon": 6, "rounds": 2, "samples": 2, "seed": 1}
    assert other.sample([1, 2], **wishes) == plain.sample([1, 2], **wishes)


WRONG = {
    "a row too few": (lambda rows: rows[1:], "gave an array of shape (0, 8)"),
    "another vocabulary": (lambda rows: rows[:, :7], "gave an array of shape (1, 7); give one of shape (1, 8)"),
    "a short row": (lambda rows: [row[:5] for row in rows], "row 0 has 5 numbers"),
    "texts": (lambda rows: [["a"] * 8 for _ in rows], "gave numbers of the type <U1"),
    "nothing": (lambda rows: None, "gave numbers of the type object"),
    "too large": (lambda rows: rows.astype(np.float64) * 1e300 + 1e300, "row 0: gave"),
    "too small": (lambda rows: np.where(np.arange(8) == 3, -1e300, rows.astype(np.float64)), "-1e+300 for token 3, which float32 does not hold"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_rows_are_refused_in_one_line(name):
    spoil, line = WRONG[name]
    model = tempera.Model.from_callable(lambda prefixes: spoil(uneven(prefixes)), 8)
    with pytest.raises(tempera.BadInput) as refused:
        model.sample([1, 2], powers=[1, 2], horizon=4, seed=1)
    assert line in str(refused.value) and "\n" not in str(refused.value) and str(refused.value).startswith("next_logits")


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_numbers_that_are_none_fail_their_own_sample_alone(number):
    def next_logits(prefixes):
        rows = uneven(prefixes)
        for row, prefix in zip(rows, prefixes, strict=True):
            if prefix[0] == 5:
                row[3] = number
        return rows

    model = tempera.Model.from_callable(next_logits, 8)
    session = tempera.Session(model)
    wrong, right = (session.submit([first, 2], powers=[1, 2], horizon=4, seed=1) for first in (5, 1))
    ended = {}
    while session.busy:
        for event in session.step():
            ended[event.request] = event
    assert isinstance(ended[wrong].error, tempera.ModelError) and "NaN or +infinity (row 0" in str(ended[wrong].error)
    alone = tempera.Model.from_callable(uneven, 8).sample([1, 2], powers=[1, 2], horizon=4, seed=1)
    assert [ended[right].answer] == alone


REFUSED = {
    "no callable": (lambda: tempera.Model.from_callable(3, 8), "next_logits: 3 is not callable"),
    "no tokens": (lambda: tempera.Model.from_callable(uneven, 0), "vocabulary: 0 is not"),
    "a vocabulary too large": (lambda: tempera.Model.from_callable(uneven, 2**18 + 1), "is not a whole number from 1 to"),
    "a name twice": (lambda: tempera.Model.from_callable(uneven, ["a", "a"]), "vocabulary: has a token twice"),
    "a terminal token beyond": (lambda: tempera.Model.from_callable(uneven, 8, terminal=8), "terminal: 8 is outside the vocabulary; use numbers below 8"),
    "no name": (lambda: tempera.Model.from_callable(uneven, ["a", "b"], terminal="c"), "terminal: 'c'"),
    "no text": (lambda: tempera.Model.from_callable(uneven, 8).sample("1 9", horizon=2), 'prompt: "9" is not a token of the model'),
    "no conversation": (lambda: tempera.Model.from_callable(uneven, 8).sample([{"role": "user", "content": "1"}], horizon=2), "the model has no conversations"),
    "an encoder beyond": (lambda: tempera.Model.from_callable(uneven, 8, encode=lambda _: [9]).sample("x", horizon=2), "encode: gave token 9, which is outside"),
    "a prompt beyond": (lambda: tempera.Model.from_callable(uneven, 8).sample([9], horizon=2), "9, is outside the vocabulary"),
    "no room": (lambda: tempera.Model.from_callable(uneven, 8, positions=4).sample([1, 2], horizon=3), "exceed the 4 positions"),
    "a pickle": (lambda: pickle.dumps(tempera.Model.from_callable(uneven, 8)), "cannot be pickled"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_is_refused(name):
    call, line = REFUSED[name]
    with pytest.raises(tempera.BadInput, match="^[^\n]*$") as refused:
        call()
    assert line in str(refused.value)


def test_conversations_and_texts_go_through_the_callables_given():
    heard = []

    def chat(messages, enable_thinking=None):
        heard.append((messages, enable_thinking))
        return [1, 2]

    model = tempera.Model.from_callable(uneven, 8, chat=chat, decode=lambda tokens: "".join("abcdefgh"[token] for token in tokens), encode=lambda text: ["abcdefgh".index(c) for c in text])
    messages = [{"role": "system", "content": "x"}, {"role": "user", "content": "y"}]
    wishes = {"powers": [1, 2], "horizon": 5, "seed": 3}
    as_tokens = model.sample([1, 2], **wishes)
    assert model.sample(messages, **wishes) == as_tokens == model.sample("bc", **wishes)
    assert model.sample(messages, thinking=True, **wishes) == as_tokens
    assert heard == [(messages, None), (messages, True)]
    (answer,) = model.sample("bc", sampler="standard", horizon=30, stop=["g"], seed=1)
    assert answer.finish_reason == "stop" and "g" not in answer.text and len(answer.text) + 1 == len(answer.tokens)


class Stopped(Exception):
    pass


def test_what_a_callable_raises_comes_out_as_itself_and_no_request_is_lost():
    calls = [0]

    def next_logits(prefixes):
        calls[0] += 1
        if calls[0] in (1, 2, 5, 9):
            raise Stopped(calls[0])
        return uneven(prefixes)

    model = tempera.Model.from_callable(next_logits, 8, terminal=7)
    session = tempera.Session(model)
    wishes = {"powers": [1, 2], "horizon": 6, "rounds": 2, "samples": 3, "seed": 4}
    session.submit([1, 2], **wishes)
    answers, raised = [], []
    while session.busy:
        try:
            answers += [event.answer for event in session.step() if hasattr(event, "answer")]
        except Stopped as error:
            raised.append(error.args[0])
    assert raised == [1, 2, 5, 9]
    expected = tempera.Model.from_callable(uneven, 8, terminal=7).sample([1, 2], **wishes)
    assert sorted(answers, key=lambda answer: answer.sample) == expected
    calls[0] = 0
    with pytest.raises(Stopped):
        model.sample([1, 2], **wishes)
    calls[0] = 4
    with pytest.raises(Stopped):
        model.score([1, 2, 3])
    calls[0] = 100
    assert model.sample([1, 2], **wishes) == expected


def test_ctrl_c_in_a_callable_is_a_keyboard_interrupt():
    def next_logits(prefixes):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tempera.Model.from_callable(next_logits, 8).sample([1], horizon=3)


def test_a_callable_that_calls_its_own_model_is_refused():
    model = None

    def next_logits(prefixes):
        try:
            model.score([1, 2])
        except tempera.BadInput as error:
            heard.append(str(error))
        if len(heard) == 1:
            # Sessions that end in a pass, as the collector of garbage may have it, are not in its way.
            tempera_session = tempera.Session(other)
            del tempera_session
            sessions.clear()
            gc.collect()
        return uneven(prefixes)

    heard, other = [], tempera.Model.from_callable(uneven, 8)
    model = tempera.Model.from_callable(next_logits, 8)
    sessions = [tempera.Session(model)]
    model.sample([1], horizon=3, powers=[1, 2], seed=1)
    assert heard and set(heard) == {"model: is called by what computes its logits; compute them without it, or with another model"}


def test_a_model_and_the_callable_that_holds_it_are_collected_together():
    class Holder:
        def __call__(self, prefixes):
            return uneven(prefixes)

    holder = Holder()
    holder.model = tempera.Model.from_callable(holder, 8)
    holder.model.sample([1], horizon=3)
    gone = weakref.ref(holder)
    del holder
    gc.collect()
    assert gone() is None


def test_threads_share_a_model_that_python_computes():
    model = tempera.Model.from_callable(uneven, 8, terminal=7)
    wishes = {"powers": [1, 2], "horizon": 6, "rounds": 2}
    expected = {seed: model.sample([1, 2], seed=seed, **wishes) for seed in range(4)}
    found = {}

    def work(seed):
        found[seed] = [model.sample([1, 2], seed=seed, **wishes) for _ in range(3)]

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {seed: [answer] * 3 for seed, answer in expected.items()}


def test_a_forked_process_has_the_model():
    model = tempera.Model.from_callable(uneven, 8, terminal=7)
    wishes = {"powers": [1, 2], "horizon": 6, "rounds": 2, "seed": 1}
    assert in_child(lambda: model.sample([1, 2], **wishes)) == model.sample([1, 2], **wishes)


def test_a_callable_may_fork():
    def next_logits(prefixes):
        if len(heard) < 2:
            heard.append(in_child(lambda: 3))
        return uneven(prefixes)

    heard, wishes = [], {"powers": [1, 2], "horizon": 6, "rounds": 2, "seed": 1}
    answers = tempera.Model.from_callable(next_logits, 8).sample([1, 2], **wishes)
    assert heard == [3, 3] and answers == tempera.Model.from_callable(uneven, 8).sample([1, 2], **wishes)


def test_a_run_is_resumed_by_a_callable_with_the_same_digest_alone(tmp_path):
    wishes = {"powers": [1, 2], "horizon": 6, "rounds": 3, "samples": 4, "seed": 1}

    def model(most=10**9, **more):
        calls = [0]

        def next_logits(prefixes):
            calls[0] += 1
            if calls[0] > most:
                raise Stopped
            return uneven(prefixes)

        return tempera.Model.from_callable(next_logits, 8, terminal=7, arithmetic="thirty lines of Python", **more)

    expected = [dataclasses.replace(one, records=()) for one in model().sample([1, 2], **wishes)]
    for given in ({}, {"digest": "a"}):
        folder = tmp_path / f"run{len(given)}"
        with pytest.raises(Stopped):
            model(12, **given).sample([1, 2], out=folder, under_way=1, checkpoint_seconds=0, **wishes)
        config = json.loads((folder / "config.json").read_text())
        assert (config["arithmetic"], config["model_digest"], config["model_path"]) == ("thirty lines of Python", given.get("digest"), "")
        before = {file.name: file.read_bytes() for file in folder.iterdir()}
        for wrong, line in (({}, "cannot be resumed"), ({"digest": "b"}, "model_digest"), *([({"digest": "a"}, "model_digest")] if not given else [])):
            with pytest.raises(tempera.BadInput) as refused:
                model(**wrong).sample([1, 2], out=folder, resume=True, **wishes)
            assert line in str(refused.value)
        assert {file.name: file.read_bytes() for file in folder.iterdir()} == before
        with pytest.raises(Exception) as refused:
            command("sample", "--resume", folder)
        assert "model of Python" in refused.value.stderr and refused.value.returncode == 2
    assert model(digest="a").sample([1, 2], out=folder, resume=True, **wishes) == expected
    assert tempera.RunFolder(folder).answers() == expected


def planted(kind):
    """Callables that do not keep what a sampler needs of a model."""
    seen = {}

    def next_logits(prefixes):
        rows = uneven(prefixes)
        if kind == "padding leaks":
            longest = max(map(len, prefixes))
            rows = uneven([[0] * (longest - len(prefix)) + prefix for prefix in prefixes])
        elif kind == "an order":
            rows = rows + np.arange(len(rows), dtype=np.float32)[:, None] * np.arange(8, dtype=np.float32)
        elif kind == "another number":
            for row, prefix in zip(rows, prefixes, strict=True):
                seen[tuple(prefix)] = seen.get(tuple(prefix), 0) + 1
                row[0] += seen[tuple(prefix)]
        elif kind == "NaN":
            rows[:, 3] = np.where(np.array([len(prefix) > 6 for prefix in prefixes]), np.nan, rows[:, 3])
        elif kind == "nothing allowed":
            rows[[len(prefix) > 6 for prefix in prefixes]] = -np.inf
        return rows

    return tempera.Model.from_callable(next_logits, 8, terminal=7)


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [("padding leaks", {"batch"}), ("an order", {"batch"}), ("another number", {"repeatability"}), ("NaN", {"numbers"}), ("nothing allowed", {"numbers"})],
)
def test_check_model_finds_planted_defects(kind, wrong):
    verdict = check.model(planted(kind))
    found = {finding.claim for finding in verdict.findings if not finding.sound}
    assert wrong <= found and not verdict.sound and not verdict.equal
    (claim,) = wrong
    assert verdict[claim].unequal > 0 and verdict[claim].worst and f"WRONG: {verdict[claim].worst}" in str(verdict)
    assert json.loads(json.dumps(verdict.to_json()))["sound"] is False


def test_check_model_gives_exact_deviations():
    """A row of a batch is off by its place times 2^-10: so the largest difference is known."""
    def next_logits(prefixes):
        rows = np.round(uneven(prefixes) * 16) / 16
        rows[:, 2] += np.arange(len(rows), dtype=np.float32) / 1024
        return rows

    verdict = check.model(tempera.Model.from_callable(next_logits, 8), rows=4)
    assert verdict["batch"].logit == float(Fraction(3, 1024)) and not verdict["batch"].sound
    assert verdict["split"].unequal == verdict["fork"].unequal == 0
    again = check.model(tempera.Model.from_callable(next_logits, 8), rows=4, within=3 / 1024)
    assert again.sound and not again.equal and "rounding" in str(again)


def test_check_model_passes_our_own_models(model, own):
    for one in (model, own):
        verdict = check.model(one)
        assert verdict.equal and verdict.sound and min(finding.rows for finding in verdict.findings) >= 4
    with pytest.raises(tempera.BadInput, match="is not a model"):
        check.model(3)
    with pytest.raises(errors.BadInput, match="fewer than two"):
        check.model(own, prompts=[[1]])


def test_a_number_of_a_prompt_has_digits_of_ascii_alone():
    """Each of the others that Python takes for digits is refused."""
    text = NamedTokens(None, 10)
    assert text.encode(" ".join(map(str, range(10)))) == list(range(10))
    others = [chr(code) for code in range(128, sys.maxunicode + 1) if chr(code).isdigit()]
    assert len(others) > 500
    for word in others:
        for written in (word, "1" + word):
            with pytest.raises(tempera.BadInput, match="is not a token of the model"):
                text.encode(written)


class Tensor:
    """As torch has them: numbers of 16 bits go through float, and those of a device through cpu."""

    def __init__(self, array, bits=32, is_detached=False, is_host=False):
        self.array, self.bits, self.is_detached, self.is_host = array, bits, is_detached, is_host

    def detach(self):
        return Tensor(self.array, self.bits, True, self.is_host)

    def is_floating_point(self):
        return self.array.dtype.kind == "f"

    def element_size(self):
        return self.bits // 8

    def float(self):
        return Tensor(self.array, 32, self.is_detached, self.is_host)

    def cpu(self):
        return Tensor(self.array, self.bits, self.is_detached, True)

    def numpy(self):
        assert self.is_detached and self.is_host and (self.bits >= 32 or not self.is_floating_point())
        return self.array

    def __len__(self):
        return len(self.array)


def written(given, rows=2, size=3):
    memory = bytearray(np.full(rows * size, 7, np.float32).tobytes())
    write_rows(given, rows, size, memoryview(memory))
    return np.frombuffer(memory, np.float32).reshape(rows, size).tolist()


ROWS = np.array([[0.5, -np.inf, 2], [3, 4, -5]])


@pytest.mark.parametrize("given", [
    ROWS, ROWS.tolist(), tuple(map(tuple, ROWS.tolist())), list(ROWS), ROWS.astype(np.float32), ROWS.astype(np.float16), Tensor(ROWS), Tensor(ROWS, 16), [Tensor(row, 16) for row in ROWS],
    [Tensor(ROWS[0]), ROWS[1]], ROWS.T.copy().T,
])  # fmt: skip
def test_what_is_written_is_what_was_given(given):
    assert written(given) == ROWS.tolist()


def test_whole_numbers_are_logits_too():
    for kind in (np.int8, np.uint16, np.int64):
        assert written(np.array([[1, 2, 3], [4, 5, 6]], kind)) == [[1, 2, 3], [4, 5, 6]]
    assert written(Tensor(np.array([[1, 2, 3], [4, 5, 6]], np.int8), 8)) == [[1, 2, 3], [4, 5, 6]]


@pytest.mark.parametrize("given, said", [
    (ROWS[:1], r"gave an array of shape \(1, 3\); give one of shape \(2, 3\)"), (ROWS[:, :2], r"shape \(2, 2\); give"), (ROWS[0], r"shape \(3,\); give"), (ROWS[None], r"shape \(1, 2, 3\)"),
    ([[1, 2], [3, 4]], r"shape \(2, 2\): row 0 has 2 numbers; give"), ([[1, 2, 3]] * 3, r"shape \(3, 3\); give"), ([[1, 2, 3], [1, 2]], "rows of different lengths: row 0 has 3 numbers; give as many"),
    (ROWS > 0, "numbers of the type bool"), (ROWS.astype(complex), "numbers of the type complex128"), (ROWS.astype(str), "numbers of the type <U"), (None, "numbers of the type object"),
    *((np.where(np.arange(6).reshape(2, 3) == place, sign * 1e39, 1.0), f"row {place // 3}: gave {'-' if sign < 0 else ''}1e.39 for token {place % 3}, which float32 does not hold")
      for place in range(6) for sign in (1, -1)),
])  # fmt: skip
def test_what_is_not_a_row_for_each_prefix_is_refused(given, said):
    with pytest.raises(errors.BadInput, match=f"^next_logits.*{said}"):
        written(given)


def test_tokens_that_end_an_answer_are_named_or_numbered():
    names = ["a", "b", "e", "f"]
    for given, expected in (((), ()), (None, ()), ("e", (2,)), (2, (2,)), (np.int64(3), (3,)), (["f", "e"], (2, 3)), (("e", 3, "e"), (2, 3)), ({"f", "a"}, (0, 3)), (frozenset([1]), (1,)),
                            ([np.int32(1)], (1,))):  # fmt: skip
        assert tempera.Model.from_callable(uneven, names, terminal=given).terminal == expected, given
        if not any(isinstance(one, str) for one in ([given] if isinstance(given, (str, int, np.integer)) else given or ())):
            assert tempera.Model.from_callable(uneven, 4, terminal=given).terminal == expected
    for wrong in ("g", ["a", "g"], 4, [4], -1, 1.5, [None], True, {"a": 1}):
        with pytest.raises(errors.BadInput, match="^terminal: "):
            tempera.Model.from_callable(uneven, names, terminal=wrong)
    for named in (names, tuple(names), np.array(names, object)):
        model = tempera.Model.from_callable(uneven, named)
        assert model.vocabulary_size == 4 and model.encode(" e a  f") == [2, 0, 3] and model.decode([3, 0]) == "f a" and model.encode("") == []
    numbered = tempera.Model.from_callable(uneven, np.int64(4))
    assert numbered.encode("3 0") == [3, 0] and numbered.decode([3, 0]) == "3 0"
    for text in ("4", "-1", "1.0", "x", "e"):
        with pytest.raises(errors.BadInput, match=f'^prompt: "{text}" is not a token of the model; use numbers below 4$'):
            numbered.encode(text)
    with pytest.raises(errors.BadInput, match='^prompt: "0" is not a token of the model; use the tokens of its vocabulary, separated by spaces$'):
        tempera.Model.from_callable(uneven, names).encode("a 0")


def test_texts_of_a_callable_are_texts_and_its_tokens_tokens():
    said = CalledText(lambda text: [len(text)], lambda tokens: "a\ud800b" if tokens == [1] else tokens, lambda turns, **more: [len(turns), len(more)], 8)
    assert said.encode("abc") == [3] and said.decode([1]) == "a?b" and said.encode_chat([("user", "x"), ("a", "y")], '{"b": 1}') == [2, 1]
    heard = []
    CalledText(None, None, lambda turns, **more: heard.append((turns, more)) or [], 8).encode_chat([("user", "x")], '{"enable_thinking": true}')
    assert heard == [([{"role": "user", "content": "x"}], {"enable_thinking": True})]
    for call, line in ((lambda: said.decode([2]), r"decode: gave \[2\], which is not a text"), (lambda: said.encode("x" * 8), "encode: gave token 8, which is outside the vocabulary; give tokens below 8"),
                       (lambda: said.encode_chat([("a", "b")] * 8, "{}"), "chat: gave token 8"), (lambda: CalledText(None, None, None, 8).encode_chat([], "{}"), "prompt: the model has no conversations")):  # fmt: skip
        with pytest.raises(errors.BadInput, match=f"^{line}"):
            call()
    assert said.encode("x" * 7) == [7]


async def coroutine(prefixes):
    return uneven(prefixes)


def test_a_coroutine_computes_no_logits():
    with pytest.raises(errors.BadInput, match="^next_logits: is a coroutine function"):
        tempera.Model.from_callable(coroutine, 8)
    for name in ("encode", "decode", "chat"):
        with pytest.raises(errors.BadInput, match=f"^{name}: 3 is not callable"):
            tempera.Model.from_callable(uneven, 8, **{name: 3})
    for digest in (None, "a"):
        assert bool(tempera.Model.from_callable(uneven, 8, digest=digest)._rows.unstable) == (digest is None)
    for size in (1, 2**18):
        assert tempera.Model.from_callable(uneven, size).vocabulary_size == size
