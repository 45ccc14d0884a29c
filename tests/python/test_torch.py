"""Every source of chance of torch, functions and methods of tensors, is answered with its law, or refused by name."""
import contextlib
import itertools
import json
import math
import os
import subprocess
import sys
from fractions import Fraction

import pytest
import torch
from laws import EIGHTHS, QUARTERS, check_law, check_refused, small
from tempera.check import law
from torch import multinomial as early_multinomial

seeded = torch.Generator().manual_seed(3)
EIGHTH = torch.tensor([0.125, 0.125, 0.75])
WEIGHTS = torch.tensor([0.5, 0.25, 0.25])
HALF = {False: Fraction(1, 2), True: Fraction(1, 2)}


def filled_in_place():
    q = torch.empty_like(WEIGHTS)
    q.exponential_()
    return WEIGHTS.clone().div_(q).argmax(dim=-1).item()


@pytest.mark.parametrize("step", [
    lambda: torch.multinomial(EIGHTH, 1).item(),
    lambda: early_multinomial(EIGHTH, 1).item(),
    lambda: EIGHTH.multinomial(1).item(),
    lambda: torch.multinomial(torch.stack([EIGHTH, WEIGHTS]), 1)[0].item(),
    lambda: torch.multinomial(EIGHTH, 1, generator=seeded).item(),
    lambda: torch.distributions.Categorical(EIGHTH).sample().item(),
    lambda: small(torch.rand(1)),
    lambda: small(torch.rand(()).item()),
    lambda: small(torch.empty(1).uniform_()),
    lambda: small(torch.rand_like(EIGHTH)[1]),
    lambda: small(torch.rand(2, 3).view(-1)[4]),
    lambda: torch.searchsorted(EIGHTH.cumsum(0), torch.rand(1)).item(),
    lambda: min(2, torch.randint(0, 8, (1,)).item()),
    lambda: min(2, torch.randint(8, size=(1,)).item()),
    lambda: min(2, torch.randperm(8)[3].item()),
    lambda: min(2, torch.empty(1).random_(0, 8).int().item()),
])
def test_each_way_of_drawing_has_its_law(step):
    check_law(step, EIGHTHS)


@pytest.mark.parametrize("step", [
    lambda: torch.argmax(WEIGHTS.log() - torch.log(-torch.log(torch.rand_like(WEIGHTS)))).item(),
    lambda: torch.argmax(WEIGHTS / torch.empty_like(WEIGHTS).exponential_(1)).item(),
    lambda: (torch.stack([WEIGHTS, WEIGHTS]) / torch.empty(2, 3).exponential_()).argmax(dim=-1)[1].item(),
    lambda: (WEIGHTS.log() - torch.empty(3).exponential_().log()).topk(1).indices.item(),
    lambda: (WEIGHTS.log() - torch.empty(3).exponential_().log()).max(-1).indices.item(),
    filled_in_place,
])
def test_gumbels_trick_draws_by_the_weights(step):
    check_law(step, QUARTERS, 1e-7)


def test_several_at_once_are_independent():
    check_law(lambda: torch.rand(2) < torch.tensor([0.25, 0.5]),
              {(a, b): Fraction(1 if a else 3, 8) for a, b in itertools.product((True, False), repeat=2)})
    check_law(lambda: torch.bernoulli(torch.tensor([0.25, 0.5])),
              {(a, b): Fraction(1 if a else 3, 8) for a, b in itertools.product((1.0, 0.0), repeat=2)})
    check_law(lambda: torch.empty(2).bernoulli_(0.5),
              {pair: Fraction(1, 4) for pair in itertools.product((1.0, 0.0), repeat=2)})
    pairs = {(a, b): QUARTERS[a] * QUARTERS[b] / (1 - QUARTERS[a]) for a, b in itertools.permutations(range(3), 2)}
    check_law(lambda: WEIGHTS.multinomial(2), pairs)
    check_law(lambda: (WEIGHTS.log() - torch.empty(3).exponential_().log()).topk(2).indices, pairs, 1e-7)


def nested(value):
    value = value.tolist() if hasattr(value, "tolist") else value
    return tuple(map(nested, value)) if isinstance(value, (list, tuple)) else value


def alike(values, times, shape=None):
    """The law of independent draws, each value as likely as another; row by row if there is a shape."""
    found = {}
    for drawn in itertools.product(values, repeat=times):
        end = drawn if shape is None else tuple(drawn[row * shape[1] : (row + 1) * shape[1]] for row in range(shape[0]))
        found[end] = found.get(end, 0) + Fraction(1, len(values) ** times)
    return found


TWO = torch.stack([WEIGHTS, EIGHTH])
# Each call with its law; its shape and its type are those of torch's own.
CALLS = {
    "randint": (lambda: torch.randint(-2, 1, (2,)), alike(range(-2, 1), 2)),
    "randint below": (lambda: torch.randint(3, (1, 2)), alike(range(3), 2, (1, 2))),
    "randint by name": (lambda: torch.randint(low=1, high=3, size=(2,)), alike([1, 2], 2)),
    "randint by half": (lambda: torch.randint(1, size=(2,), high=3), alike([1, 2], 2)),
    "randint of a type": (lambda: torch.randint(2, (2,), dtype=torch.int32), alike([0, 1], 2)),
    "randint_like": (lambda: torch.randint_like(WEIGHTS[:2], 1, 3), alike([1.0, 2.0], 2)),
    "randint_like below": (lambda: torch.randint_like(WEIGHTS[:2], 3), alike([0.0, 1.0, 2.0], 2)),
    "randperm": (lambda: torch.randperm(3), {order: Fraction(1, 6) for order in itertools.permutations(range(3))}),
    "randperm of a type": (lambda: torch.randperm(2, dtype=torch.int32), {(0, 1): Fraction(1, 2), (1, 0): Fraction(1, 2)}),
    "random_": (lambda: torch.zeros(1, 2).random_(1, 3), alike([1.0, 2.0], 2, (1, 2))),
    "random_ below": (lambda: torch.zeros(2, dtype=torch.int64).random_(3), alike(range(3), 2)),
    "multinomial": (lambda: torch.multinomial(WEIGHTS, 2, replacement=True), {(a, b): QUARTERS[a] * QUARTERS[b] for a in QUARTERS for b in QUARTERS}),
    "multinomial of rows": (lambda: TWO.multinomial(1), {((a,), (b,)): QUARTERS[a] * EIGHTHS[b] for a in QUARTERS for b in EIGHTHS}),
    "bernoulli of halves": (lambda: torch.bernoulli(torch.full((1, 2), 0.5)), alike([0.0, 1.0], 2, (1, 2))),
    "bernoulli by p": (lambda: torch.bernoulli(WEIGHTS[:2], 0.5), alike([0.0, 1.0], 2)),
    "bernoulli_": (lambda: torch.zeros(2, dtype=torch.int64).bernoulli_(0.5), alike([0, 1], 2)),
    "bernoulli_ by a tensor": (lambda: torch.zeros(2).bernoulli_(torch.tensor([0.25, 1.0])), {(1.0, 1.0): Fraction(1, 4), (0.0, 1.0): Fraction(3, 4)}),
    "rand": (lambda: torch.rand(1, 2) < 0.5, alike([False, True], 2, (1, 2))),
    "rand of a size": (lambda: torch.rand(size=(2,)) < 0.5, alike([False, True], 2)),
    "rand of a list": (lambda: torch.rand([2]) < 0.5, alike([False, True], 2)),
    "uniform_": (lambda: torch.zeros(2).uniform_(-1, 3) < 1, alike([False, True], 2)),
    "uniform_ by name": (lambda: torch.zeros(2).uniform_(**{"from": -3, "to": -1}) < -2, alike([False, True], 2)),
    "exponential_ of its rate": (lambda: torch.zeros(2, dtype=torch.float64).exponential_(2) < math.log(2) / 2, alike([False, True], 2)),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_each_call_has_its_law_its_shape_and_its_type(name):
    call, expected = CALLS[name]
    own, seen = call(), set()

    def step():
        found = call()
        seen.add((tuple(found.shape), found.dtype))
        return nested(found)

    check_law(step, expected, 1e-15 if name.startswith("exponential") else 0)
    assert seen == {(tuple(own.shape), own.dtype)}


MOVED = {
    "view": lambda t: t.view(3, 2), "reshape": lambda t: t.reshape(-1), "transpose": lambda t: t.transpose(0, 1), "t": lambda t: t.t(), "select": lambda t: t.select(1, 2), "item": lambda t: t[1, 0],
    "slice": lambda t: t[:, 1:], "unsqueeze": lambda t: t.unsqueeze(1), "squeeze": lambda t: t[:1].squeeze(0), "flatten": lambda t: t.flatten(), "narrow": lambda t: t.narrow(1, 0, 2),
    "gather": lambda t: t.gather(1, torch.tensor([[2], [0]])), "index_select": lambda t: t.index_select(0, torch.tensor([1, 0])), "permute": lambda t: t.permute(1, 0), "expand": lambda t: t[:1].expand(2, 3),
    "take": lambda t: t.take(torch.tensor([5, 0])), "mask": lambda t: t[torch.tensor([False, True])], "ravel": lambda t: t.ravel(), "repeat": lambda t: t[:, :1].repeat(1, 2),
}  # fmt: skip


@pytest.mark.parametrize("name", MOVED)
def test_numbers_that_are_not_drawn_move_as_those_that_are(name):
    """Six numbers that tell their places."""
    def step():
        return nested(MOVED[name](torch.rand(2, 3) * 0 + torch.arange(6.0).reshape(2, 3)) < 2.5)

    assert law(step) == {nested(MOVED[name](torch.arange(6.0).reshape(2, 3)) < 2.5): 1}


def in_its_place(u):
    """By whoever holds the tensor already."""
    held = u.clone()
    held.add_(1)
    held.mul_(3)
    held -= 2
    return held


CHANGED = [
    in_its_place,
    lambda u: u + 0.5, lambda u: 0.5 + u, lambda u: u - 0.5, lambda u: 0.5 - u, lambda u: u * -2, lambda u: 2 * u, lambda u: u / 4, lambda u: -u, lambda u: torch.sub(1.0, u), lambda u: u.add(1).mul(2).sub(3).div(4),
    lambda u: u.clone().add_(1).mul_(3), lambda u: u.neg(), lambda u: torch.rsub(u, 2.0), lambda u: u.double() * 2,
]  # fmt: skip


@pytest.mark.parametrize("place", range(len(CHANGED)))
def test_numbers_that_are_not_drawn_change_as_those_that_are(place):
    change = CHANGED[place]
    for at in (0.25, 0.5):
        bound = change(torch.tensor([at], dtype=torch.float64)).item()
        is_rising = change(torch.tensor([1.0])).item() > change(torch.tensor([0.0])).item()
        below = Fraction(at) if is_rising else 1 - Fraction(at)
        for asked in (lambda u: u < bound, lambda u: u <= bound, lambda u: ~(u > bound), lambda u: torch.lt(u, bound), lambda u: torch.full((1,), bound, dtype=torch.float64) > u, lambda u: u.less(bound)):
            check_law(lambda: bool(asked(change(torch.rand(1)))), {True: below, False: 1 - below})  # noqa: B023


def test_the_largest_and_the_smallest_have_their_places_and_shapes():
    rates = torch.tensor([[2.0, 1.0, 1.0], [6.0, 1.0, 1.0]], dtype=torch.float64)
    weights = [{0: Fraction(1, 2), 1: Fraction(1, 4), 2: Fraction(1, 4)}, {0: Fraction(3, 4), 1: Fraction(1, 8), 2: Fraction(1, 8)}]
    pairs = {(a, b): weights[0][a] * weights[1][b] for a in range(3) for b in range(3)}

    def clocks(like=rates):
        return torch.empty_like(like).exponential_() / like

    for step, expected in (
        (lambda: clocks().argmin(-1), pairs), (lambda: clocks().argmin(dim=1), pairs), (lambda: (-clocks()).argmax(-1), pairs), (lambda: (1 / clocks()).argmax(1), pairs), (lambda: clocks().min(1).indices, pairs),
        (lambda: clocks().argmin(-1, keepdim=True), {((a,), (b,)): share for (a, b), share in pairs.items()}), (lambda: clocks().min(-1, True)[1], {((a,), (b,)): share for (a, b), share in pairs.items()}),
        (lambda: clocks(rates[0]).argmin(), weights[0]), (lambda: (1 / clocks()).topk(1).indices, {((a,), (b,)): share for (a, b), share in pairs.items()}),
        (lambda: clocks().topk(1, largest=False)[1], {((a,), (b,)): share for (a, b), share in pairs.items()}), (lambda: clocks(rates.t().contiguous()).argmin(0), pairs),
        (lambda: (1 / clocks(rates.t().contiguous())).topk(1, dim=0).indices, {((a, b),): share for (a, b), share in pairs.items()}),
    ):  # fmt: skip
        check_law(lambda: nested(step()), expected, 1e-12)  # noqa: B023


def test_a_number_is_looked_for_among_the_edges_of_its_own_row():
    edges = torch.tensor([[0.25, 0.5, 1.0], [0.5, 0.75, 1.0]], dtype=torch.float64)
    rows = [{0: Fraction(1, 4), 1: Fraction(1, 4), 2: Fraction(1, 2)}, {0: Fraction(1, 2), 1: Fraction(1, 4), 2: Fraction(1, 4)}]
    check_law(lambda: nested(torch.searchsorted(edges, torch.rand(2, 1, dtype=torch.float64))), {((a,), (b,)): rows[0][a] * rows[1][b] for a in range(3) for b in range(3)})
    for step in (lambda: torch.bucketize(torch.rand(2), edges[0]), lambda: torch.searchsorted(edges[0], torch.rand(2, dtype=torch.float64), right=True)):
        check_law(lambda: nested(step()), {(a, b): rows[0][a] * rows[0][b] for a in range(3) for b in range(3)})  # noqa: B023


def test_comparisons_both_ways():
    check_law(lambda: bool(torch.tensor(0.5) > torch.rand(())), HALF)
    check_law(lambda: bool(torch.log(torch.rand(1)) < torch.log(torch.tensor(0.5))), HALF, 1e-7)
    check_law(lambda: torch.where(torch.rand(1) < 0.5, 1, 0).bool().item(), HALF)


@pytest.mark.parametrize("step, name", [
    (lambda: torch.randn(2), "torch.randn"),
    (lambda: torch.empty(2).normal_(), "torch.Tensor.normal_"),
    (lambda: torch.distributions.Normal(0, 1).sample(), "torch.normal"),
    (lambda: torch.rand(3).sum(), "sum"),
    (lambda: torch.rand(3).numpy(), "numpy"),
    (lambda: torch.empty(4)[:2].uniform_(), "a part of a tensor"),
    (lambda: torch.nn.functional.dropout(WEIGHTS, 0.5, True), "dropout"),
    (lambda: torch.nn.functional.gumbel_softmax(WEIGHTS.log()), "softmax"),
    (lambda: torch.ops.aten.multinomial(WEIGHTS, 1), "torch has drawn without"),
])
def test_what_has_no_answer_is_refused_by_name(step, name):
    check_refused(step, name)


def test_outside_a_step_chance_is_torchs_own():
    torch.manual_seed(1)
    first = torch.rand(1).item()
    law(lambda: bool(torch.rand(1) < 0.5))
    torch.manual_seed(1)
    assert torch.rand(1).item() == first


def test_the_value_of_one_entry_may_be_called_a_float():
    def step():
        return max(float(torch.rand(())), torch.finfo(torch.float64).tiny) < 0.25

    if sys.version_info < (3, 11):  # whose code does not say whether a name is called
        return check_refused(step, "float")
    assert law(step) == {True: Fraction(1, 4), False: Fraction(3, 4)}


def test_a_step_that_is_served_computes_in_one_thread(tmp_path):
    """Every core has a process of its own: threads that share few numbers only wait for each other."""
    program = tmp_path / "threads.py"
    program.write_text("import torch\n\n\ndef step(state):\n    return [torch.get_num_threads() - 1]\n")
    case = {"horizon": 1, "powers": ["2"], "vocabulary": ["a", "b", "c"], "terminal": [], "default": ["1/2", "1/4", "1/4"]}
    done = subprocess.run([sys.executable, "-m", "tempera.check", f"{program}:step"], capture_output=True, text=True,
                          input=json.dumps(case) + '\n{"state": []}\n', env={**os.environ, "OMP_NUM_THREADS": "3",
                                                                               "PYTHONPATH": os.pathsep.join(sys.path)})
    ends = [json.loads(line)["end"] for line in done.stdout.splitlines() if "end" in json.loads(line)]
    assert (done.returncode, ends) == (0, [[0]])


def names_of_chance():
    """torch's own list: the operators that it tags as drawing from a generator."""
    names = {schema.name.split("::")[1] for schema in torch._C._jit_get_all_schemas() if schema.name.startswith("aten::")}
    for name in sorted(names):
        packet = getattr(torch.ops.aten, name, None)
        if packet is not None and any(torch.Tag.nondeterministic_seeded in getattr(packet, overload).tags
                                      for overload in packet.overloads()):
            yield name


def test_every_operator_of_chance_is_answered_or_refused():
    """None of them may draw from torch's own generator, or from one that is given, within a step."""
    own, silent, called = torch.Generator().manual_seed(5), [], set()

    def states():
        return torch.cat([torch.get_rng_state(), own.get_state()])

    for name in names_of_chance():
        for owner in (torch, torch.Tensor, torch.nn.functional):
            function = getattr(owner, name, None)
            if function is None:
                continue
            called.add(name)
            for arguments in ((), (3,), ((3,),), (8, (3,)), (0, 8, (3,)), (0.0, 1.0, (3,)), (WEIGHTS,), (WEIGHTS, 0.5),
                              (WEIGHTS, 2), (WEIGHTS, 2, True), (WEIGHTS, WEIGHTS), (WEIGHTS, 0.5, True),
                              (WEIGHTS, 0.1, 0.3, True)):
                for named in ({}, {"generator": own}):
                    before = states()
                    with contextlib.suppress(Exception):
                        law(lambda: (function(*(a.clone() if a is WEIGHTS else a for a in arguments), **named), 0)[1])
                        if not torch.equal(before, states()):
                            silent.append((owner.__name__, name, arguments, sorted(named)))
    assert silent == []
    assert {"rand", "multinomial", "bernoulli_", "exponential_", "normal_", "randperm"} <= called


def _seeds():
    torch.manual_seed(0)
    return torch.multinomial(WEIGHTS, 1).item(), bool(torch.rand(1) < 0.5), bool(torch.empty(1).uniform_() < 0.5)


def _seeds_an_early_one():
    seeded.manual_seed(0)
    return torch.multinomial(WEIGHTS, 1, generator=seeded).item()


def _seeds_within_a_fork():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        first = torch.multinomial(EIGHTH, 1).item()
    return first, torch.multinomial(EIGHTH, 1).item()


def _by_chance():
    generator = torch.Generator()
    generator.seed()
    return torch.multinomial(EIGHTH, 1, generator=generator).item()


@pytest.mark.parametrize("step", [
    _seeds, _seeds_an_early_one,
    lambda: torch.multinomial(EIGHTH, 1, generator=torch.Generator()).item(),
    lambda: torch.multinomial(EIGHTH, 1, generator=torch.Generator().manual_seed(0)).item(),
])
def test_what_a_step_seeds_is_no_decision(step):
    before = torch.get_rng_state()
    assert list(law(step).values()) == [1]
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("step", [
    _by_chance, _seeds_within_a_fork,
    lambda: torch.multinomial(EIGHTH, 1, generator=seeded).item(),
])
def test_what_a_step_does_not_seed_is_answered(step):
    assert sorted(law(step).values()) == sorted(EIGHTHS.values())
    assert isinstance(seeded, torch.Generator) and isinstance(torch.Generator(), torch.Generator)
