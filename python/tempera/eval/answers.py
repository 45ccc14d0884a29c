"""Answers of a run: the record that a sampler returns for a question, and the records that can vote on it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tempera.eval.sampling import Drawn

# Records whose log p0 is this near to the largest are tied; the first is taken, as in `tempera sample`.
_TIE = 2.0**-16


@dataclass(frozen=True)
class Answer:
    """The one record that is returned, and all records that it was chosen from or that ran beside it."""

    returned: Drawn
    traces: list[Drawn] = field(default_factory=list)


def likeliest(records: Sequence[Drawn]) -> Drawn:
    """The record of the largest log p0; of tied ones the first."""
    likelihoods = [-math.inf if record.log_p0 is None else record.log_p0 for record in records]
    largest = max(likelihoods)
    return next(record for record, log_p0 in zip(records, likelihoods, strict=True) if log_p0 >= largest - _TIE)


@dataclass(frozen=True)
class Vote:
    """The answer that most records gave, how many they were, and of how many that gave one."""

    winner: str
    votes: int
    voters: int


def vote(ballots: Sequence[tuple[str | None, float | None]], same: Callable[[str, str], bool]) -> Vote | None:
    """The majority of (answer, log p0); answers that are the same by the grader are one.

    A tie goes to the group with the record of the largest cumulative log-likelihood, log p0 summed over its tokens, and of
    several such to the one that was given first. A record whose log p0 nobody measured comes last. Records without an answer do not vote. None if nobody does.

    >>> vote([("1/2", -9.0), ("3", -1.0), ("0.5", -8.0)], lambda a, b: {a, b} <= {"1/2", "0.5"} or a == b).winner
    '0.5'
    """
    groups: list[list[tuple[str, float]]] = []
    for answer, log_p0 in ballots:
        if answer is None:
            continue
        for group in groups:
            if same(answer, group[0][0]):
                group.append((answer, -math.inf if log_p0 is None else log_p0))
                break
        else:
            groups.append([(answer, -math.inf if log_p0 is None else log_p0)])
    if not groups:
        return None
    best = max(groups, key=lambda group: (len(group), max(log_p0 for _, log_p0 in group)))
    return Vote(max(best, key=lambda ballot: ballot[1])[0], len(best), sum(map(len, groups)))
