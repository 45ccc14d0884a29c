"""Ordinary last lines of models that answer without any mark: each is right. A reader that sees denials everywhere loses these."""

from __future__ import annotations

import pytest
from tempera.eval.graders.letter import LetterGrader
from tempera.eval.graders.numeric import NumericGrader
from tempera.eval.graders.verdict import Grader
from tempera.eval.problem import Problem

NUMBERS = {
    ("A robe takes 2 bolts of blue fiber and half that much white fiber. How many bolts in total does it take?", "3"): """
        In total, a robe takes 3 bolts of fiber.
        Adding the two gives us 3 bolts.
        Total bolts = 2 + 1 = 3
        Therefore, it takes a total of **3** bolts.
        3 bolts are needed in total.
        A total of 3 bolts of fiber is required to make the robe.
        Hence the robe requires 3 bolts altogether.
        The robe will require 3 bolts.
        You would need 3 bolts of fiber in total.
        We find that 3 bolts are required.
        So in all we need 3 bolts to complete one robe.
        Combining these amounts yields 3 bolts of fiber overall.
        The number of bolts required is 3.
        The robe uses 3 bolts of material.""",
    ("Janet sells 9 eggs a day for $2 each. How much does she make every day at the farmers' market?", "18"): """
        She makes 9 * 2 = $18 every day at the farmers' market.
        Therefore, Janet makes $18 every day at the farmers’ market.
        Total: 18
        A: 18
        Hence, she earns 18 dollars daily.
        To find how much Janet makes, we multiply 9 by $2, which gives us $18.
        This means that Janet earns $18 each day from the eggs she sells.
        Thus she makes a profit of $18 a day.
        The answer is 18. I hope this helps!
        The answer is 18. Let me know if you have more questions.
        Janet makes **$18** every day at the farmers' market.
        \\[ 9 \\times 2 = 18 \\]""",
    ("Josh buys a house for $80,000 and puts in $50,000 in repairs. How much profit did he make?", "70000"): """
        Josh made a profit of $70,000.
        His profit is $200,000 - $130,000 = $70,000.
        Thus, Josh's profit was $70,000 from flipping the house.
        He walked away with $70,000 in profit.
        Josh would make $70,000.
        So he ends up with a gain of $70,000.
        The profit comes out to $70,000.
        After subtracting his costs, Josh earned $70,000.
        In conclusion, Josh made $70,000 on this investment.""",
}
LETTERS = """
    The answer is B.
    The correct answer is B: carbon dioxide.
    Plants absorb carbon dioxide during photosynthesis, so the answer is B.
    The correct option is (B) carbon dioxide.
    Therefore, the best answer is B, carbon dioxide.
    I would choose B.
    Option B is correct because plants use carbon dioxide.
    Final answer: B. Carbon dioxide
    The correct choice is B. Plants take in CO2 and release O2.
    The answer is (B). A is wrong because oxygen is released, not absorbed."""
GAS = Problem("", {"problem": "Which gas do plants absorb?", "options": "oxygen, carbon dioxide, nitrogen, helium"}, "B")


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


CASES: list[tuple[Grader, Problem, str]] = [
    (NumericGrader(), Problem("", {"problem": question}, answer), line)
    for (question, answer), text in NUMBERS.items()
    for line in lines(text)
] + [(LetterGrader(), GAS, line) for line in lines(LETTERS)]


@pytest.mark.parametrize("grader, problem, line", CASES, ids=[line for _, _, line in CASES])
def test_a_plain_statement_is_an_answer(grader: Grader, problem: Problem, line: str) -> None:
    extracted = grader.extract("We work step by step.\n" + line, True, problem)
    assert extracted is not None and grader.judge(extracted, problem).correct
