#!/usr/bin/env python3
"""Checks a certificate that `tempera certify` wrote, from the definitions alone.

Usage: check_certificate.py FILE. Exit code 0: all that it claims is so; 1: something is not, and a line says what; 2: it is
no certificate. Plain Python, fractions throughout; nothing of tempera is imported.
"""
import json
import sys
from fractions import Fraction
from itertools import product
from math import prod


class Wrong(Exception):
    """A claim that does not hold."""


def root(value, degree):
    """The exact root of a whole number."""
    low, high = 0, max(1, value)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**degree <= value else (low, middle - 1)
    if low**degree != value:
        raise Wrong(f"{value} has no exact root of degree {degree}")
    return low


def power(value, exponent):
    degree = exponent.denominator
    return Fraction(root(value.numerator, degree), root(value.denominator, degree)) ** exponent.numerator


class Model:
    def __init__(self, model, horizon):
        self.names, self.terminal, self.horizon = model["vocabulary"], set(model["terminal"]), horizon
        rows = {tuple(key.split()): row for key, row in model.get("next", {}).items()}
        self.rows = {key: [Fraction(row.get(v, 0)) for v in self.names] for key, row in rows.items()}
        default = model.get("default")
        self.default = [Fraction(default.get(v, 0)) for v in self.names] if default else None

    def row(self, prefix):
        row = self.rows.get(prefix, self.default)
        if row is None or sum(row) != 1 or min(row) < 0:
            raise Wrong(f"the row after {prefix} is not a law")
        return row

    def p(self, x, t):  # p0(x_t | x_{<t}), t from 0
        return self.row(x[:t])[self.names.index(x[t])]

    def ended(self, x):
        return bool(x) and x[-1] in self.terminal

    def whole(self, x):
        return self.ended(x) or len(x) == self.horizon

    def records(self, prefixes_too, prefix=()):
        """Depth-first in vocabulary order: S_T, or every supported record of length 1..T."""
        for name, probability in zip(self.names, self.row(prefix)):
            if probability == 0:
                continue
            x = prefix + (name,)
            if self.whole(x) or prefixes_too:
                yield x
            if not self.whole(x):
                yield from self.records(prefixes_too, x)

    def likelihood(self, x):
        return prod((self.p(x, t) for t in range(len(x))), start=Fraction(1))


def target_law(model, records, exponent):
    weights = [power(model.likelihood(x), exponent) if model.whole(x) else Fraction(0) for x in records]
    return [w / sum(weights) for w in weights]


def proposal(model, x, start, stop, exponent):
    """The product of g over positions start..stop-1 of x, and that of p0^exponent."""
    g = target = Fraction(1)
    for t in range(start, stop):
        mine = power(model.p(x, t), exponent)
        g, target = g * mine / sum(power(p, exponent) for p in model.row(x[:t])), target * mine
    return g, target


def shared(x, y):
    """Positions in which two different records agree from the beginning."""
    return next((n for n, (a, b) in enumerate(zip(x, y)) if a != b), min(len(x), len(y)))


def local_matrix(model, records, exponent, restart, truncating):
    """L_k from its definition, or the kernel that restarts and regenerates within the length of the record."""
    matrix = []
    for i, x in enumerate(records):
        row = [Fraction(0)] * len(records)
        for j, y in enumerate(records):
            end = len(y) if truncating else model.horizon
            if i == j or truncating and not (len(y) == len(x) or len(y) < len(x) and model.ended(y)):
                continue
            for r in range(shared(x, y) + 1):
                omega = Fraction(1, len(x)) if truncating else restart[r]
                forward, to_y = proposal(model, y, r, min(end, len(y)), exponent)
                back, to_x = proposal(model, x, r, min(end, len(x)), exponent)
                row[j] += omega * forward * min(Fraction(1), to_y * back / (to_x * forward))
        row[i] = 1 - sum(row)
        matrix.append(row)
    return matrix


def round_matrix(model, records, exponents, restart):
    """R C: every rung makes a local move, then edges 1, 2, ... attempt their exchange."""
    n, rungs = len(records), len(exponents)
    moves = [local_matrix(model, records, exponent, restart, False) for exponent in exponents]
    p0 = [model.likelihood(x) for x in records]
    states = list(product(range(n), repeat=rungs))
    matrix = []
    for start in states:
        law = {start: Fraction(1)}
        for k in range(rungs):
            after = {}
            for state, mass in law.items():
                for y, probability in enumerate(moves[k][state[k]]):
                    to = state[:k] + (y,) + state[k + 1:]
                    after[to] = after.get(to, 0) + mass * probability
            law = after
        for k in range(rungs - 1):
            after = {}
            for state, mass in law.items():
                accepted = min(Fraction(1), power(p0[state[k]] / p0[state[k + 1]], exponents[k + 1] - exponents[k]))
                swapped = state[:k] + (state[k + 1], state[k]) + state[k + 2:]
                after[swapped] = after.get(swapped, 0) + mass * accepted
                after[state] = after.get(state, 0) + mass * (1 - accepted)
            law = after
        matrix.append([law.get(state, Fraction(0)) for state in states])
    return matrix


def reaches_all(matrix, support):
    for edges in (matrix, list(zip(*matrix))):
        queue = [support.index(True)]
        met = set(queue)
        while queue:
            new = {y for y, p in enumerate(edges[queue.pop()]) if p > 0} - met
            met |= new
            queue += new
        if any(s and x not in met for x, s in enumerate(support)):
            return False
    return True


def check(certificate):
    model = Model(certificate["model"], certificate["horizon"])
    exponents = [Fraction(a) for a in certificate["powers"]]
    operator, claims = certificate["operator"], certificate["claims"]
    records = list(model.records(operator == "truncating"))
    if certificate["states"] != ["|".join(map(" ".join, s)) for s in product(records, repeat=len(exponents))]:
        raise Wrong("the states are not those of the model")
    target = [Fraction(1)]
    for exponent in exponents:
        target = [a * b for a in target for b in target_law(model, records, exponent)]
    if [Fraction(p) for p in certificate["target"]] != target:
        raise Wrong("the target is not the power target of the model")
    matrix = [[Fraction(p) for p in row] for row in certificate["matrix"]]
    n = len(target)
    if len(matrix) != n or any(len(row) != n or min(row) < 0 or sum(row) != 1 for row in matrix):
        raise Wrong("the matrix is not stochastic")
    restart = [Fraction(w) for w in certificate.get("restart", [])]
    if operator not in ("round", "local", "truncating"):
        raise Wrong(f"there is no operator {operator}")
    mine = (round_matrix(model, records, exponents, restart) if operator == "round" else
            local_matrix(model, records, exponents[0], restart, operator == "truncating"))
    if mine != matrix:
        raise Wrong("the matrix is not the operator's")
    after = [sum(target[x] * matrix[x][y] for x in range(n)) for y in range(n)]
    found = {
        "invariant": after == target,
        "reversible": all(target[x] * matrix[x][y] == target[y] * matrix[y][x] for x in range(n) for y in range(x)),
        "irreducible": reaches_all(matrix, [p > 0 for p in target]),
        "tv_one_step": str(sum(abs(a - b) for a, b in zip(after, target)) / 2),
    }
    if claims != found:
        raise Wrong(f"it claims {claims}, and it is {found}")
    return f"holds: {operator} on {n} states: " + ", ".join(f"{name} {value}" for name, value in found.items())


if __name__ == "__main__":
    try:
        with open(sys.argv[1], encoding="utf-8") as file:
            read = json.load(file)
        if read.get("tempera_certificate") != 1:
            raise ValueError("no certificate of this form")
        print(check(read))
    except Wrong as wrong:
        print(f"fails: {wrong}")
        sys.exit(1)
    except (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError, ZeroDivisionError) as error:
        print(f"{' '.join(sys.argv[1:2]) or 'FILE'}: is not a certificate: {error!r}; write one with tempera certify",
              file=sys.stderr)
        sys.exit(2)
