"""Every source of chance of torch, functions and methods of tensors, is answered with its law, or refused by name."""
import contextlib
import itertools
import json
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
