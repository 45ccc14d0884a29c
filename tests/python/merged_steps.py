"""Steps that hold what decides in one place or another, for test_merging.py."""
import random
import sys

kept = {"last": 0}


class Walker:
    def __init__(self):
        self.at = 0

    def go(self):
        self.at += random.choice([1, -1])


def by_variables():
    total = 0
    for _ in range(6):
        total += random.choice([0, 1])
    return total


def by_iterators():
    seen = 0
    for step in iter([1, 2, 4, 8]):
        if random.random() < 0.5:
            seen += step % 2
    return seen


def by_objects():
    walker = Walker()
    for _ in range(5):
        walker.go()
    return walker.at


def by_globals():
    kept["last"] = 0
    for _ in range(5):
        kept["last"] = max(kept["last"], random.randrange(2))
        sum(range(2))
    return kept["last"]


def by_numbers_not_drawn():
    u = random.random()
    first = u < 0.5
    for _ in range(3):
        random.choice([0, 1])
    return first, u < 0.25


def by_closure():
    total = [0]

    def add():
        total[0] += random.choice([0, 1])

    for _ in range(4):
        add()
    return total[0]


def on_the_stack():
    return [random.choice([0, 1]) * place for place in (1, 2, 4)]


def in_a_generator():
    def draws():
        total = 0
        while total < 3:
            total += random.choice([1, 2])
            yield total

    return tuple(draws())


def by_default(total=[0]):  # noqa: B006
    total[0] = 0
    for _ in range(4):
        total[0] += random.choice([0, 1])
    return total[0]


def as_tuple(step):
    end = step()
    return tuple(end) if isinstance(end, list) else end


def key_of(held, key_at):
    return key_at(sys._getframe())


def failing():
    if random.random() < 0.25:
        raise ValueError("the reason")
    return 0


def leaving():
    if random.random() < 0.25:
        raise SystemExit("the reason")
    return 0
