"""Every limit of the graders and of the sandbox: the last value that is taken, and the first that is not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tempera.errors import BadInput
from tempera.eval.given_answers import GivenAnswers
from tempera.eval.graders.numbers import LONGEST, number_of
from tempera.eval.graders.numeric import _said_number
from tempera.eval.graders.prm800k_rules import may_be_evaluated
from tempera.eval.graders.said import ANSWER, marked, said
from tempera.eval.samplers import Settings
from tempera.eval.sampling import Asked, Drawn, Figures, Prompt
from tempera.eval.sandbox import Limits, run_python


@pytest.mark.parametrize(
    "most, takes",
    [
        (LONGEST, lambda n: number_of("7" * n) is not None),
        # Two digits, so many times over.
        (LONGEST // 2, lambda n: number_of(f"10^{{{n}}}") == 10**n),
        (LONGEST // 2, lambda n: number_of(f"10^{{-{n}}}") is not None),
        (2, lambda n: may_be_evaluated("+".join("xyzw"[:n]))),
        (6, lambda n: _said_number("word " * n + "5", has_words=True) == "5"),
        (0, lambda n: _said_number("word " * n + "5", has_words=False) == "5"),
        (100, lambda n: len(list(said("The answer is 1.\n" * n, ANSWER))) == n),
        (100, lambda n: len(marked("#### 1\n" * n)) == n),
        (400, lambda n: [one[:2] for one in said("The answer is " + "7" * n, ANSWER)] == [("is", "7" * n)]),
        (1000, lambda n: run_python(f"print('a' * {n - 1})", limits=Limits(output=1000)).status == "finished"),
    ],
)
def test_the_last_that_is_taken_and_the_first_that_is_not(most: int, takes: Callable[[int], bool]) -> None:
    assert takes(most)
    assert not takes(most + 1)


def given(folder: Path, record: dict[str, object]) -> list[tuple[int | None, bool]]:
    file = folder / "answers.jsonl"
    file.write_text(json.dumps({"id": "a", "answer": "1", **record}) + "\n")
    (folder / "run").mkdir(exist_ok=True)
    answers = GivenAnswers(file)
    answers.draw([Prompt("a", "")], Asked(Settings("given", "given", (1.0,), None, None, 1), 0, None), folder / "run", lambda _: None)
    return [(one.tokens, one.terminated) for one in answers.records(folder / "run")]


def test_what_an_answer_from_a_file_may_say_of_itself(tmp_path: Path) -> None:
    # One that says nothing has ended, and its tokens are not known.
    assert given(tmp_path, {}) == [(None, True)]
    assert given(tmp_path, {"terminated": None, "tokens": None}) == [(None, True)]
    assert given(tmp_path, {"terminated": False, "tokens": 1}) == [(1, False)]
    for tokens in (0, -1, 1.0, True):
        with pytest.raises(BadInput, match='"tokens" is not a whole number above 0'):
            given(tmp_path, {"tokens": tokens})
    for ended in (0, "true"):
        with pytest.raises(BadInput, match='"terminated" is not true or false'):
            given(tmp_path, {"terminated": ended})


def test_answers_of_a_file_are_those_of_the_problems_in_their_order(tmp_path: Path) -> None:
    """Whatever the order of the file, which may have more; each with what it says of itself."""
    records = [{"id": f"p{n}", "answer": f"of {n}", "log_p0": -1.5 * n, "tokens": n, "terminated": n % 2 == 0, "confidence": -0.25 * n} for n in range(1, 5)]
    file, run = tmp_path / "answers.jsonl", tmp_path / "run"
    run.mkdir()
    asked = Asked(Settings("given", "given", (1.0,), None, None, 1), 0, None)
    file.write_text("".join(json.dumps(record) + "\n" for record in reversed(records)))
    answers = GivenAnswers(file)
    answers.draw([Prompt(f"p{n}", "") for n in (2, 1, 4)], asked, run, lambda _: None)
    assert answers.records(run) == [Drawn(f"p{n}", 0, f"of {n}", -1.5 * n, n, n % 2 == 0, -0.25 * n) for n in (2, 1, 4)]
    assert answers.done(run) == 0 and answers.figures(run) == Figures({}, {}, {})
    for prompts, more, said in (
        (("p1", "p9"), {}, 'answers.jsonl: there is no answer to "p9"'),
        (("p1",), {"id": "p3", "answer": ""}, 'answers.jsonl, line 5: the id "p3" is there twice'),
        (("p1",), {"id": "q", "answer": "", "confidence": True}, 'line 5: the field "confidence" is not a number'),
        (("p1",), {"id": "q", "answer": "", "log_p0": False}, 'line 5: the field "log_p0" is not a number'),
        (("p1",), {"id": "q", "answer": "", "token": 1}, 'line 5: the field "token" has no meaning here; give id, answer, log_p0, tokens, confidence, terminated'),
        (("p1",), {"id": "q"}, 'line 5: the field "answer" is missing'),
    ):
        file.write_text("".join(json.dumps(record) + "\n" for record in [*records, *([more] if more else [])]))
        with pytest.raises(BadInput, match=said):
            answers.draw([Prompt(name, "") for name in prompts], asked, run, lambda _: None)
    with pytest.raises(BadInput, match="run: has no answers yet; name their file with --answers"):
        GivenAnswers().draw([], asked, run, lambda _: None)
