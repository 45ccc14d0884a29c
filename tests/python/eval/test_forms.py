"""Forms of answers, and every rule of the graders that read them: each is there for a form."""

from __future__ import annotations

import ast
import hashlib
import importlib
import inspect
import json
import re
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from forms import MAKER, Form, forms, misjudged
from pairs import CASES, is_misjudged
from rules import left_out, without_parts

FORMS = forms()
READERS = {
    "boxed": ("number", "letter"), "denied": ("number", "letter"), "fences": ("program", "function"), "letter": ("letter",), "numbers": ("number", "integer"), "numeric": ("number",),
    "plain_text": ("number", "letter"), "program_text": ("program", "function"), "said": ("number", "letter"), "units": ("number",),
}  # fmt: skip
# For each rule the place of a form that it changes: the search for all takes minutes. `python tests/python/eval/test_forms.py`
# writes it; a rule whose form is another by now is searched for.
HINTS = Path(__file__).parents[2] / "fixtures/graders/changed_forms.json"
MODULES = {name: importlib.import_module(f"tempera.eval.graders.{name}") for name in (*READERS, "hendrycks_rules", "prm800k_rules")}

# Rules that change nothing, and why they are there.
EQUIVALENT = {
    "program_text._MOST_CUTS": "it bounds the time that a text takes",
    "denied.NEAR": "it bounds the time that a text takes",
    "letter._ASKS_FOR_WRONG": "all forms have one question; test_graders has others",
    "prm800k_rules._REPLACED: ('\\\\%', '%')": "the published grader's; pylatexenc drops the sign as well",
    "prm800k_rules._SPACED_MINUS:  * of - *": "the published grader's; all spaces are left out afterwards",
    "prm800k_rules._FRACTION: 0* of": "the published grader's; Python reads no 02",
    "prm800k_rules._NOT_EVALUATED: { of": "the published grader's; no brace is left by then",
}


def test_answers_are_judged_in_every_form() -> None:
    """At least 99.5 % right, and nothing wrong that is judged right."""
    assert len(FORMS) > 5000 and all(sum(form.grader == grader for form in FORMS) > 30 for grader in ("number", "integer", "letter", "program", "function"))
    wrong = list(misjudged(FORMS))
    assert [form for form in wrong if not form.is_right] == []
    assert len(wrong) <= 0.005 * len(FORMS), wrong
    assert wrong == []  # at the time of writing


def test_the_forms_are_those_that_were_judged() -> None:
    """A form that is lost or changes shows here: compare the output of make_forms.py before and after."""
    digest = hashlib.sha256(MAKER["document"]().encode()).hexdigest()
    assert (len(FORMS), digest) == (7296, "52ed73d2cd7690406871341b2f513522baf3d1d92c990233765c2441a92b48fa")


def _changed(module: ModuleType, of: list[Any], is_misjudged: Callable[[Any], bool], text_of: Callable[[Any], str], hints: list[int]) -> Iterator[tuple[str, int | None]]:
    """Each rule of a module and the place of a case that is judged otherwise without it, or None; first `hints` are looked at, one a rule."""
    begin = 0
    rules = (rule for rule in left_out(module) if not any(_named(module, rule).startswith(known) for known in EQUIVALENT))
    for number, (name, what, less) in enumerate(rules):
        holders = [holder for holder in MODULES.values() if vars(holder).get(name) is vars(module)[name]]
        whole = vars(module)[name]
        # Then those that hold what is left out, and all from the last that changed: the next rule often changes one near it.
        text = re.sub(r"[\\?*+(){}\[\]|^$']", "", what.partition(" of ")[0]).strip().lower()
        holding = (place for place, case in enumerate(of) if text and text in text_of(case).lower())
        try:
            for holder in holders:
                setattr(holder, name, less)
            places = chain(hints[number : number + 1], holding, range(begin, len(of)), range(begin))
            place = next((place for place in places if place < len(of) and is_misjudged(of[place])), None)
        finally:
            for holder in holders:
                setattr(holder, name, whole)
        begin = place or 0
        yield _named(module, (name, what, less)), place


def _named(module: ModuleType, rule: tuple[str, str, Any]) -> str:
    return f"{module.__name__.rpartition('.')[2]}.{rule[0]}: {rule[1]}"


def _changed_forms(name: str, hints: list[int]) -> Iterator[tuple[str, int | None]]:
    of = [form for form in FORMS if form.grader in READERS[name]]

    def is_form_misjudged(form: Form) -> bool:
        try:
            return form.verdict() != form.is_right
        except Exception:  # without a rule another may meet what it cannot read
            return True

    return _changed(MODULES[name], of, is_form_misjudged, lambda form: form.text, hints)


@pytest.mark.parametrize("name", READERS)
def test_every_rule_changes_a_form(name: str) -> None:
    hints = json.loads(HINTS.read_text(encoding="utf-8"))[name]
    assert [rule for rule, place in _changed_forms(name, hints) if place is None] == []


@pytest.mark.parametrize("name", ["hendrycks_rules", "prm800k_rules"])
def test_every_rule_of_the_published_grader_changes_an_answer(name: str) -> None:
    assert [case for case in CASES if is_misjudged(case)] == []
    assert [rule for rule, place in _changed(MODULES[name], CASES, is_misjudged, lambda case: str(case[1]), []) if place is None] == []


def test_no_rule_is_hidden_in_a_function() -> None:
    """All expressions of the graders are data of their modules, which the tests above leave out one by one."""
    for module in MODULES.values():
        for function in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(function, ast.FunctionDef):
                for call in ast.walk(function):
                    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
                        assert call.func.value.id != "re" or any(isinstance(part, (ast.JoinedStr, ast.Name)) for part in call.args), ast.unparse(call)


def test_expressions_are_taken_apart() -> None:
    assert [less for _, less in without_parts(r"a(?:b|c)?[xy]{1,3}(?!d)")] == [
        "a(?:c)?[xy]{1,3}(?!d)", "a(?:b)?[xy]{1,3}(?!d)", "a(?:b|c)?[xy]{1,3}", "a[xy]{1,3}(?!d)",
        "a(?:b|c)?[y]{1,3}(?!d)", "a(?:b|c)?[x]{1,3}(?!d)", "a(?:b|c)?[xy]{1,2}(?!d)", "a(?:b|c)?[xy]{0,3}(?!d)",
    ]  # fmt: skip
    assert [less for _, less in without_parts(r"a|b")] == ["b", "a"]


if __name__ == "__main__":
    found = {name: [place for _, place in _changed_forms(name, [])] for name in READERS}
    HINTS.write_text(",\n".join(f"{'{' if n == 0 else ' '}{json.dumps(name)}: {json.dumps(places)}" for n, (name, places) in enumerate(found.items())) + "}\n", encoding="utf-8")
