"""The finite model that stands in for the language model."""
import math
from fractions import Fraction


class Model:
    """p0 as a table. Prefixes are lists of token numbers."""

    def __init__(self, case):
        self.vocabulary = case["vocabulary"]
        self.terminal = case["terminal"]
        self.horizon = case["horizon"]
        self.powers = [float(Fraction(power)) for power in case["powers"]]
        self._rows = {tuple(prefix): [Fraction(p) for p in row] for prefix, row in case.get("rows", [])}
        self._default = [Fraction(p) for p in case["default"]] if case.get("default") else None
        self._fractions, self._probabilities, self._logits = {}, {}, {}

    def fractions(self, prefix):
        """p0(. | prefix), exactly."""
        key = tuple(prefix)
        row = self._fractions.get(key)
        if row is None:
            key = tuple(int(token) for token in prefix)
            if any(not 0 <= token < len(self.vocabulary) or token in self.terminal for token in key):
                raise ValueError(f"no token follows the prefix {list(key)}: it has a terminal token, or none of the "
                                 f"vocabulary of {len(self.vocabulary)}")
            row = self._rows.get(key, self._default)
            if row is None:
                raise ValueError(f"the model has no row for the prefix {list(key)}")
            self._fractions[key] = row
        return list(row)

    def probabilities(self, prefix):
        """p0(. | prefix) as doubles."""
        key = tuple(prefix)
        row = self._probabilities.get(key)
        if row is None:
            row = self._probabilities[key] = [float(p) for p in self.fractions(prefix)]
        return list(row)

    def logits(self, prefix):
        """log p0(. | prefix) as doubles, -inf for probability 0."""
        key = tuple(prefix)
        row = self._logits.get(key)
        if row is None:
            from .lazy import python_log

            row = self._logits[key] = [python_log(p) if p else -math.inf for p in self.probabilities(prefix)]
        return list(row)

    def is_ended(self, record):
        """True if a record has its terminal token or T tokens."""
        return len(record) >= self.horizon or bool(record) and record[-1] in self.terminal
