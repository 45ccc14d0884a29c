"""Benchmarks over tempera's samplers: draw answers, grade them, report what was found.

`python -m tempera.eval run`, `grade` and `report` are the three stages; docs/howto/evaluation.md shows them.
"""

from tempera.eval.problem import Problem
from tempera.eval.graders.verdict import Grader, Verdict

__all__ = ["Grader", "Problem", "Verdict"]
