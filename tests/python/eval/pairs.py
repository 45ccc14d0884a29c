"""Pairs of answers for the published MATH grader, with its verdicts: each rule of it changes one."""

from __future__ import annotations

import functools

from tempera.eval.graders import prm800k_rules
from tempera.eval.graders.worker import sympy_difference_is_zero

PAIRS: list[tuple[str, str, bool]] = [
    ("1\n2", "12", True), ("1\\!2", "12", True), ("\\\\frac{a}{bcd}", "\\frac{a}{bcd}", True), ("\\tfrac{a}{bcd}", "\\frac{a}{bcd}", True), ("\\dfrac{a}{bcd}", "\\frac{a}{bcd}", True),
    ("\\left(a,bcd\\right)", "(a,bcd)", True), ("abc^{\\circ}", "abc", True), ("abcd^\\circ", "abcd", True), ("\\$abc", "abc", True), ("abc\\text{ xyz}", "abc", True), ("abc\\%", "abc", True),
    ("abc .5", "abc 0.5", True), ("{.5abc", "{0.5abc", True), (".5abc", "0.5abc", True), ("k = 5", "5", True), ("xy=abc", "abc", True), ("xyz=5", "5", False), ("k = 5 = x", "5", False), ("\\sqrt3abc", "\\sqrt{3}abc", True), ("a b c", "abc", True),
    ("\\frac12abc", "\\frac{1}{2}abc", True), ("\\frac1{2}abc", "\\frac{1}{2}abc", True), ("0.5", "\\frac{1}{2}", True), ("3/4", "\\frac{3}{4}", True), ("\\text{abc}", "abc", True), ("\\text{a}, \\text{b}", "a}, \\text{b", True),
]


@functools.cache
def _difference_is_zero(text: str) -> bool:
    return sympy_difference_is_zero(text)


def misjudged_pair(pair: tuple[str, str, bool]) -> bool:
    given, truth, is_equal = pair
    try:
        return prm800k_rules.equal(given, truth, _difference_is_zero) != is_equal
    except Exception:  # without a rule another may meet what it cannot read
        return True
