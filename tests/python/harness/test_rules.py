"""What a text says with doubt, on a condition or by another's mouth: it is judged right only if a rule of lm-evaluation-harness takes
it, too. The rules are those of the installed harness. `./test --all` runs this."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import lm_eval
import pytest
import yaml
from lm_eval.filters.extraction import MultiChoiceRegexFilter, RegexFilter
from tempera.eval.graders.letter import LetterGrader
from tempera.eval.graders.numeric import NumericGrader
from tempera.eval.graders.verdict import Grader
from tempera.eval.problem import Problem

KINDS = {"regex": RegexFilter, "multi_choice_regex": MultiChoiceRegexFilter}
BEFORE = ("", "Bob says ", "According to Bob, ", "Perhaps ", "I think ", "I am not sure, but ", "If x is even, ", "Unless it rains, ", "Suppose that ", "In the worst case ", "Another solver claims that ", "Let us guess: ")
STATED = ("the answer is {v}", "it is {v}", "x = {v}", "the answer would be {v}", "Answer: {v}", "the answer may be {v}", "we might get {v}", "the answer must be {v}")
AFTER = ("", " if x is even", " unless it rains", ", perhaps", ", or so Bob says", " at least", " in theory", " if x is even, and {w} if it is odd", ", perhaps {w}", " for the first, {w} for the second")  # fmt: skip


class _Loader(yaml.SafeLoader):
    """Reads a task without the functions that it names."""


_Loader.add_constructor("!function", lambda loader, node: None)


def rules(*files: str) -> list[Any]:
    tasks = [yaml.load((Path(lm_eval.__file__).parent / "tasks" / file).read_text(), _Loader) for file in files]  # noqa: S506
    steps = [filtered["filter"][0] for task in tasks for filtered in task["filter_list"]]
    return [KINDS[step["function"]](**{name: value for name, value in step.items() if name != "function"}) for step in steps]


def taken(rule: Any, texts: list[str]) -> list[str]:
    found = rule.apply([[text] for text in texts], [{"choices": ["tin", "lead", "zinc", "iron"]}] * len(texts))
    return [str(value).strip("()$,. ") for (value,) in found]


@pytest.mark.parametrize(
    "grader, values, files",
    [
        (NumericGrader(), ("57", "60"), ("gsm8k/gsm8k.yaml", "gsm8k/gsm8k-cot.yaml")),
        (LetterGrader(), ("(C)", "(D)"), ("gpqa/cot_zeroshot/_gpqa_cot_zeroshot_yaml", "mmlu_pro/_default_template_yaml")),
    ],
)
def test_what_is_doubted_counts_as_in_the_harness(grader: Grader, values: tuple[str, str], files: tuple[str, ...]) -> None:
    texts = ["We work step by step.\n" + "".join(parts).format(v=v, w=w) + "." for parts in product(BEFORE, STATED, AFTER) for v, w in (values, values[::-1])]
    by_harness = [set(of_text) for of_text in zip(*(taken(rule, texts) for rule in rules(*files)), strict=True)]
    counted = 0
    for (text, harness), value in product(zip(texts, by_harness, strict=True), [value.strip("()") for value in values]):
        problem = Problem("", {"problem": "How many?", "options": "tin, lead, zinc, iron"}, value)
        extracted = grader.extract(text, True, problem)
        if extracted is not None and grader.judge(extracted, problem).correct:
            counted += 1
            assert value in harness, text
    assert len(texts) == 1920 and counted > 600
