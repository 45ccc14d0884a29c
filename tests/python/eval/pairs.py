"""Answers for the published MATH grader, with the forms and verdicts that it gives: each rule of it changes one."""

from __future__ import annotations

import functools

from tempera.eval.graders import hendrycks_rules, prm800k_rules
from tempera.eval.graders.worker import sympy_difference_is_zero

# A text and what step 1 makes of it.
NORMAL = {
    "1\n2": "12", "1\\!2": "12", "a\\\\b": "a\\b", "\\tfrac{a}{bcd}": "\\frac{a}{bcd}", "\\dfrac{a}{bcd}": "\\frac{a}{bcd}", "\\left(a": "(a", "a\\right)": "a)", "18^{\\circ}": "18", "18^\\circ": "18",
    "\\$18": "18", "18\\text{ cm}": "18", "1\\text{ a}\\text{ b}": "1\\text{ a}\\text{ b}", "18\\%": "18", "a .5": "a0.5", "{.5}": "{0.5}", ".5": "\\frac{1}{2}", ".25": "0.25", "k = 5": "5", "k=5": "5", "xy=5": "5", "xyz=5": "xyz=5", "k=5=x": "k=5=x",
    "\\sqrt3": "\\sqrt{3}", "\\sqrt{3}": "\\sqrt{3}", "\\sqrt": "\\sqrt", "a b": "ab", "\\frac12": "\\frac{1}{2}", "\\frac1{72}": "\\frac{1}{72}", "\\frac123": "\\frac{1}{2}3", "\\frac": "\\frac", "\\frac1": "\\frac1", "0.5": "\\frac{1}{2}",
    "3/4": "\\frac{3}{4}", "3/4/5": "3/4/5", "x/4": "x/4", "03/4": "03/4", "\\text{abc}": "abc", "\\text{abc}x": "\\text{abc}x", "x\\text{abc}": "x\\text{abc}", "\\text{}": "\\text{}",
}  # fmt: skip
# A text and what step 2 makes of it.
PLAIN = {
    "a%": "a", "a\\%": "a", "a$": "a", "\\$a": "a", "1 or 2": "1,2", "1 and 2": "1,2", "5 million": "5*10^6", "5 billion": "5*10^9", "5 trillion": "5*10^12", "\\text{ab}": "ab", "x\\text{ab}": "xab", "a^\\circ": "a", "a^ \\circ": "a",
    "{a}": "a", "1,\\!234": "1234", "1,\\! 234": "1234", "5.00000001": "5", "5.0": "5", "inf": "inf", "3\\sqrt{13}": "3sqrt(13)", "\\pi": "pi", "\\infty": "inf", "a\\cup b": "aub", "a\\cdot b": "a*b", "a\\times b": "a*b", "\\tfrac{1}{2}": "1/2", "\\dfrac{1}{2}": "1/2", "1\\frac{1}{2}": "1+1/2",
    "- 5": "-5", "7 3/4": "7+3/4", "AB": "ab", "1,234": "1234", "1,234,567": "1234567", "x1,234": "x1,234", "1,234.0": "1234", "5": "5", "5 ^ 2 feet": "5^2",
}  # fmt: skip
for unit in "degree cm centimeter meter mile second minute hour day week month year foot feet inch yard".split():
    PLAIN |= {f"5 {unit}": "5"}
PLAIN |= {"5 inches": "5", "5 days": "5", "5 cm^2": "5", "5 cm ^2": "5", "5 cm^12": "5", "5 cmx": "5x"}
# Two answers, and whether they are equal.
PAIRS: list[tuple[str, str, bool]] = [
    ("k = 5", "5", True), ("0.5", "\\frac{1}{2}", True), ("18\\text{ cm}", "18", True), ("", "5", False), ("2/4", "1/2", False), ("-2/4", "-1/2", False), ("2x/4", "x/2", True), ("1/02", "2/4", False), ("10/20", "1/2", False), ("10/200", "1/20", False), ("5/10", "1/2", False), ("1/2.", "2/4", False), ("1./2", "2/4", False), ("0/5", "0/3", False),
    ("(1,2]", "(1,2)", False), ("[1,2)", "(1,2)", False), ("(1,2,3)", "(1,2)", False), ("(1,x+x)", "(1,2x)", True), ("(1,2)", "(2,1)", False), ("4.0", "4", True), ("4.5", "4", False), ("x+1", "1+x", True), ("a+b+c", "c+b+a", False), ("a+b", "b+a", True), ("a+c", "c+a", True), ("2^{3}", "8", False), ("x^(2)", "x*x", False),
    ("x^2", "x*x", True), ("x^10", "x^9*x", False), ("x^2^2", "x^4", False), ("sqrt(a)+b", "b+sqrt(a)", True), ("frac(a)+b", "b+frac(a)", True), ("1,234", "1234", True), ("1,2345", "12345", False), ("11,1112", "111112", False), ("x,y", "y,x", False), ("1,000 + x", "x + 1000", True), ("(1,234)", "(1234)", True), ("(x+1)", "(1+x)", True), ("((1,2))", "(1,2)", False), ("1 and 2", "1 or 2", True), ("(1)", "1", True), ("()", "5", False),
]  # fmt: skip


@functools.cache
def _difference_is_zero(text: str) -> bool:
    return sympy_difference_is_zero(text)


Case = tuple[str, str, object]
CASES: list[Case] = [
    *(("normal", text, form) for text, form in NORMAL.items()),
    *(("plain", text, form) for text, form in PLAIN.items()),
    *(("equal", f"{given}\0{truth}", is_equal) for given, truth, is_equal in PAIRS),
]


def answer(case: Case) -> object:
    """What the rules make of a case."""
    kind, text, _ = case
    if kind == "equal":
        given, truth = text.split("\0")
        return prm800k_rules.equal(given, truth, _difference_is_zero)
    return hendrycks_rules.normal_form(text) if kind == "normal" else prm800k_rules.plain_form(text)


def is_misjudged(case: Case) -> bool:
    try:
        return answer(case) != case[2]
    except Exception:  # without a rule another may meet what it cannot read
        return True
