"""Forms of answers, and every rule of the graders that read them: each is there for a form."""

from __future__ import annotations

import ast
import hashlib
import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest
from forms import MAKER, Form, forms, misjudged
from pairs import CASES, is_misjudged
from rules import left_out, without_parts

FORMS = forms()
READERS = {
    "boxed": ("number", "letter"), "fences": ("program", "function"), "letter": ("letter",), "numbers": ("number", "integer"), "numeric": ("number",),
    "plain_text": ("number", "letter"), "program_text": ("program", "function"), "said": ("number", "letter"), "units": ("number",),
}  # fmt: skip
MODULES = {name: importlib.import_module(f"tempera.eval.graders.{name}") for name in (*READERS, "hendrycks_rules", "prm800k_rules")}

# Rules that change nothing, and why they are there.
EQUIVALENT = {
    "program_text._MOST_CUTS": "it bounds the time that a text takes",
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
    assert (len(FORMS), digest) == (5617, "d71678f6d5fba7049ff84e895739f95c827abf215beff17fac881d4f4387bb14")


def _unneeded(module: ModuleType, of: list[Any], is_misjudged: Callable[[Any], bool], text_of: Callable[[Any], str]) -> Iterator[str]:
    """The rules of a module without which every case is judged as before."""
    for name, what, less in left_out(module):
        holders = [holder for holder in MODULES.values() if vars(holder).get(name) is vars(module)[name]]
        whole = vars(module)[name]
        # First those that hold what is left out.
        hint = re.sub(r"[\\?*+(){}\[\]|^$']", "", what.partition(" of ")[0]).strip().lower()
        first = [case for case in of if hint in text_of(case).lower()] if hint else []
        try:
            for holder in holders:
                setattr(holder, name, less)
            if not any(map(is_misjudged, first)) and not any(map(is_misjudged, of)):
                rule = f"{module.__name__.rpartition('.')[2]}.{name}: {what}"
                if not any(rule.startswith(known) for known in EQUIVALENT):
                    yield rule
        finally:
            for holder in holders:
                setattr(holder, name, whole)


@pytest.mark.parametrize("name", READERS)
def test_every_rule_changes_a_form(name: str) -> None:
    of = [form for form in FORMS if form.grader in READERS[name]]

    def is_form_misjudged(form: Form) -> bool:
        try:
            return form.verdict() != form.is_right
        except Exception:  # without a rule another may meet what it cannot read
            return True

    assert list(_unneeded(MODULES[name], of, is_form_misjudged, lambda form: form.text)) == []


@pytest.mark.parametrize("name", ["hendrycks_rules", "prm800k_rules"])
def test_every_rule_of_the_published_grader_changes_an_answer(name: str) -> None:
    assert [case for case in CASES if is_misjudged(case)] == []
    assert list(_unneeded(MODULES[name], CASES, is_misjudged, lambda case: str(case[1]))) == []


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
