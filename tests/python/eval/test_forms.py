"""Forms of answers, and every rule of the graders that read them: each is there for a form."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest
from forms import FILE, Form, forms, misjudged
from pairs import PAIRS, misjudged_pair
from rules import left_out, without_parts

FORMS = forms()
READERS = {
    "boxed": ("number", "letter"), "fences": ("program", "function"), "letter": ("letter",), "numbers": ("number", "integer"), "numeric": ("number",),
    "plain_text": ("number", "letter"), "program_text": ("program", "function"), "said": ("number", "letter"), "units": ("number",),
}  # fmt: skip
MODULES = {name: importlib.import_module(f"tempera.eval.graders.{name}") for name in (*READERS, "hendrycks_rules", "prm800k_rules")}


def test_answers_are_judged_in_every_form() -> None:
    """At least 99.5 % right, and nothing wrong that is judged right."""
    assert len(FORMS) > 4000 and all(sum(form.grader == grader for form in FORMS) > 30 for grader in ("number", "integer", "letter", "program", "function"))
    wrong = list(misjudged(FORMS))
    assert [form for form in wrong if not form.is_right] == []
    assert len(wrong) <= 0.005 * len(FORMS), wrong
    assert wrong == []  # at the time of writing


def test_the_forms_are_those_that_the_script_writes() -> None:
    before = FILE.read_bytes()
    subprocess.run([sys.executable, FILE.with_name("make_forms.py")], check=True, stdout=subprocess.DEVNULL)
    assert FILE.read_bytes() == before


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
                yield f"{module.__name__}.{name}: {what}"
        finally:
            for holder in holders:
                setattr(holder, name, whole)


@pytest.mark.parametrize("name", READERS)
def test_every_rule_changes_a_form(name: str) -> None:
    of = [form for form in FORMS if form.grader in READERS[name]]

    def is_misjudged(form: Form) -> bool:
        try:
            return form.verdict() != form.is_right
        except Exception:  # without a rule another may meet what it cannot read
            return True

    assert list(_unneeded(MODULES[name], of, is_misjudged, lambda form: form.text)) == []


@pytest.mark.parametrize("name", ["hendrycks_rules", "prm800k_rules"])
def test_every_rule_changes_a_pair(name: str) -> None:
    assert [pair for pair in PAIRS if misjudged_pair(pair)] == []
    assert list(_unneeded(MODULES[name], PAIRS, misjudged_pair, lambda pair: pair[0])) == []


def test_no_rule_is_hidden_in_a_function() -> None:
    """Expressions of the graders stand at their module's level, where they are left out one by one."""
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
