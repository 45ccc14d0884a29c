"""generate() of transformers over a finite model: the tokens have the law that its options say."""
import itertools
import os
import pathlib
import random
import subprocess
import sys
from fractions import Fraction

import pytest
import torch
from laws import check_law
from tempera.check import CausalLM, Model, Tokenizer, law
from transformers import DynamicCache, LogitsProcessor, LogitsProcessorList, StoppingCriteria, StoppingCriteriaList, set_seed
from transformers.generation import GenerationMixin

TREE = pathlib.Path(__file__).resolve().parents[2]
MODEL = Model({"vocabulary": ["a", "b", "e", "f"], "terminal": [2, 3], "horizon": 2, "powers": ["2"],
               "rows": [[[], ["1/2", "1/4", "1/8", "1/8"]], [[0], ["1/4", "1/4", "1/2", "0"]]],
               "default": ["0", "1/2", "0", "1/2"]})
UNEQUAL = Model({"vocabulary": ["a", "b", "e", "f"], "terminal": [2, 3], "horizon": 2, "powers": ["2"],
                 "rows": [[[], ["1/2", "1/4", "3/16", "1/16"]], [[0], ["1/8", "5/16", "9/16", "0"]]],
                 "default": ["0", "1/2", "0", "1/2"]})
# Another row after each prefix of up to three tokens.
LONG = Model({"vocabulary": ["a", "b", "e", "f"], "terminal": [2, 3], "horizon": 4, "powers": ["2"],
              "rows": [[list(prefix), [f"{n}/40", f"{31 - n}/40", "5/40", "4/40"]] for n, prefix in enumerate(
                  itertools.chain.from_iterable(itertools.product((0, 1), repeat=length) for length in range(4)), 3)]})
PROMPT = torch.tensor([[4]])


def naive(row, temperature=1.0, top_k=None, top_p=1.0):
    """The law of one token, recomputed: powered, cut, normalised, and the likeliest that make up top_p kept."""
    weights = [float(p) ** (1 / temperature) for p in row]
    if top_k is not None:
        least = sorted(weights)[-top_k]
        weights = [w if w >= least else 0 for w in weights]
    law_of_row, kept = [w / sum(weights) for w in weights], []
    for v in sorted(range(len(row)), key=lambda v: -law_of_row[v]):
        if sum(law_of_row[k] for k in kept) < top_p:
            kept.append(v)
    return [p / sum(law_of_row[k] for k in kept) if v in kept else 0 for v, p in enumerate(law_of_row)]


def law_of_answers(model=MODEL, ends=(2, 3), length=2, begin=(), **options):
    """The law of so many tokens after `begin`, by the rows of the model alone; of fewer, if one is in `ends`."""
    answers = {tuple(begin): 1.0}
    for _ in range(length):
        longer = {}
        for prefix, p in answers.items():
            if set(prefix) & set(ends):
                longer[prefix] = p
                continue
            for v, q in enumerate(naive(model.fractions(prefix), **options)):
                if p * q:
                    longer[(*prefix, v)] = p * q
        answers = longer
    return {answer: Fraction(p) for answer, p in answers.items()}


def tidy(sequence):
    return tuple(t for t in sequence.tolist() if t < 4)


def distance(found, expected):
    return max(abs(found.get(k, 0) - expected.get(k, 0)) for k in found.keys() | expected.keys())


@pytest.fixture(scope="module")
def lm():
    return CausalLM(MODEL)


@pytest.mark.parametrize("options, ours", [
    ({}, {}),
    ({"use_cache": False}, {}),
    ({"temperature": 0.25}, {"temperature": 0.25}),
    ({"top_k": 2}, {"top_k": 2}),
])
def test_generate_has_the_law_of_its_options(lm, options, ours):
    found = law(lambda: tidy(lm.generate(PROMPT, max_new_tokens=2, do_sample=True, **options)[0]))
    assert sum(found.values()) == 1
    assert distance(found, law_of_answers(**ours)) < 1e-6


@pytest.mark.parametrize("options", [
    {"top_p": 0.7}, {"top_k": 3, "top_p": 0.85}, {"temperature": 0.5, "top_k": 3, "top_p": 0.85}])
def test_what_is_kept_of_a_row_is_what_generate_keeps(options):
    found = law(lambda: tidy(CausalLM(UNEQUAL).generate(PROMPT, max_new_tokens=2, do_sample=True, **options)[0]))
    assert distance(found, law_of_answers(UNEQUAL, **options)) < 1e-6
    assert distance(found, law_of_answers(UNEQUAL, **{**options, "top_p": 1.0})) > 0.05


@pytest.mark.parametrize("options", [{}, {"use_cache": False}, {"temperature": 0.5}, {"return_dict_in_generate": True}])
def test_every_token_follows_all_that_are_before_it(options):
    """Of two tokens the second sees the whole answer even if a cache is lost: of four it does not."""
    lm = CausalLM(LONG)
    for begin in ((), (0, 1)):
        prompt = torch.tensor([[4, *begin]])

        def answer():
            found = lm.generate(prompt, max_new_tokens=4 - len(begin), do_sample=True, **options)
            return tidy((found if isinstance(found, torch.Tensor) else found.sequences)[0])

        ours = {"temperature": options.get("temperature", 1.0)}
        assert distance(law(answer), law_of_answers(LONG, length=4 - len(begin), begin=begin, **ours)) < 1e-6


@pytest.mark.parametrize("name", ["cache", "past_key_values"])
def test_a_cache_is_taken_under_either_name(name):
    lm = CausalLM(LONG)
    known = lm(PROMPT, use_cache=True)
    for token, prefix in ((0, [0]), (1, [0, 1]), (1, [0, 1, 1])):
        cache = known.cache if hasattr(known, "cache") else known.past_key_values
        known = lm(torch.tensor([[token]]), use_cache=True, **{name: cache})
        assert known.logits[0, -1, :4].exp().tolist() == pytest.approx(LONG.probabilities(prefix), abs=1e-6)


def test_what_a_table_cannot_follow_is_refused_by_name():
    lm = CausalLM(LONG)
    with pytest.raises(TypeError, match="what cache_of_tomorrow is to change"):
        lm(PROMPT, cache_of_tomorrow=DynamicCache())
    with pytest.raises(TypeError, match="attention_mask of two dimensions"):
        lm(PROMPT, attention_mask=torch.ones(1, 1, 1, 1))
    with pytest.raises((TypeError, ValueError), match="StaticCache|cache_implementation"):
        lm.generate(PROMPT, max_new_tokens=2, do_sample=False, cache_implementation="static")


class EndsAfterB(StoppingCriteria):
    def __call__(self, input_ids, scores, **named):
        return input_ids[:, -1] == 1


def test_a_criterion_of_the_programs_own_ends_an_answer(lm):
    found = law(lambda: tidy(lm.generate(PROMPT, max_new_tokens=2, do_sample=True,
                                         stopping_criteria=StoppingCriteriaList([EndsAfterB()]))[0]))
    assert distance(found, law_of_answers(ends=(1, 2, 3))) < 1e-6


def test_several_answers_to_one_prompt_are_independent(lm):
    found = law(lambda: [tidy(row) for row in lm.generate(PROMPT, max_new_tokens=1, do_sample=True, num_return_sequences=2)])
    row = naive(MODEL.fractions([]))
    expected = {((v,), (w,)): p * q for v, p in enumerate(row) for w, q in enumerate(row)}
    assert distance(found, expected) < 1e-6


def test_rows_of_a_batch_are_independent_whatever_pads_them(lm):
    prompts, mask = torch.tensor([[4, 0], [5, 4]]), torch.tensor([[1, 1], [0, 1]])
    found = law(lambda: [tidy(row) for row in lm.generate(prompts, attention_mask=mask, max_new_tokens=1,
                                                          do_sample=True)])
    first, second = naive(MODEL.fractions([0])), naive(MODEL.fractions([]))
    expected = {((0, v), (w,)): p * q for v, p in enumerate(first) for w, q in enumerate(second) if p * q}
    assert distance(found, expected) < 1e-6


def test_scores_of_a_prefix_are_those_of_the_model(lm):
    logits = lm(torch.tensor([[4, 0, 1]])).logits[0, :, :4]
    for row, prefix in zip(logits, ([], [0], [0, 1])):
        assert row.exp().tolist() == pytest.approx(MODEL.probabilities(prefix), abs=1e-6)
    # After a terminal token it is said again, for ever.
    assert lm(torch.tensor([[4, 2, 2]])).logits[0, -1].exp().tolist() == [0, 0, 1, 0, 0, 0]


def test_the_tokenizer_is_one(lm):
    tokenizer = Tokenizer(MODEL)
    assert tokenizer("a b e").input_ids == [0, 1, 2]
    assert tokenizer.decode([0, 1, 2]) == "abe" and tokenizer("abe").input_ids == [0, 1, 2]
    assert tokenizer.decode([0, 1, 2], skip_special_tokens=True) == "ab"
    assert (tokenizer.bos_token_id, tokenizer.pad_token_id, tokenizer.eos_token_id) == (4, 5, 2)
    padded = tokenizer(["a", "a b"], padding=True, return_tensors="pt")
    assert padded.input_ids.tolist() == [[0, 5], [0, 1]]


def test_tokens_that_join_to_another_do_not_come_back_from_their_text():
    rows = {"horizon": 2, "powers": ["2"], "rows": [], "default": ["1/4"] * 4}
    tokenizer = Tokenizer(Model({"vocabulary": ["a", "aa", "he", "e"], "terminal": [3], **rows}))
    there_and_back = lambda *tokens: tokenizer(tokenizer.decode(tokens)).input_ids  # noqa: E731
    assert there_and_back(0, 3) == [0, 3] and there_and_back(1) == [1]
    assert there_and_back(0, 0) == [1] and sorted(there_and_back(0, 0, 0)) == [0, 1]
    # A terminal token inside a word is that word.
    assert there_and_back(2) == [2] and there_and_back(0, 2, 3) == [0, 2, 3]
    # However words overlap, a text that they make can be read.
    overlapping = Tokenizer(Model({"vocabulary": ["ab", "a", "bc", "e"], "terminal": [3], **rows}))
    assert overlapping("abc").input_ids == [1, 2]


INDEPENDENT = """
import math, random
def likelihood(model, x):
    return math.prod(model.probabilities(x[:t])[x[t]] for t in range(len(x)))
def step(tokenizer, model, state):
    x, y = list(state), []
    while len(y) < model.horizon and not (y and y[-1] in model.terminal):
        row = model.probabilities(y)
        y.append(random.choices(range(len(row)), weights=row)[0])
    accepted = min(1.0, likelihood(model, y) / likelihood(model, x)) ** (model.powers[0] - 1)
    return y if random.random() < accepted else x
"""


def test_a_sampler_that_loses_tokens_on_its_way_through_text_is_seen(tmp_path):
    command = os.environ.get("TEMPERA", str(TREE / "build/release/tempera"))
    through_text = INDEPENDENT.replace("else x\n", "else tokenizer(tokenizer.decode(x)).input_ids\n")
    assert through_text != INDEPENDENT
    told = {}
    for name, source in (("right", INDEPENDENT), ("through_text", through_text)):
        (tmp_path / f"{name}.py").write_text(source)
        program = f"PYTHONPATH={TREE}/python {sys.executable} -m tempera.check {tmp_path}/{name}.py:step"
        done = subprocess.run([command, "check", "--program", program, "--within", "1e-9"], capture_output=True, text=True)
        told[name] = done.returncode, done.stdout + done.stderr
    assert told["right"][0] == 0, told["right"][1]
    assert told["through_text"][0] == 1 and "joined-tokens" in told["through_text"][1], told["through_text"][1]


def test_greedy_decoding_draws_nothing(lm):
    check_law(lambda: tidy(lm.generate(PROMPT, max_new_tokens=2, do_sample=False)[0]), {(0, 2): 1})


class Counted:
    """Counts the calls of transformers' own generate()."""

    def __init__(self, monkeypatch):
        self.calls, own = 0, GenerationMixin.generate

        def generate(model, *arguments, **named):
            self.calls += 1
            return own(model, *arguments, **named)

        monkeypatch.setattr(GenerationMixin, "generate", generate)


def two_answers(lm, **options):
    """A second answer from the first token of the first, as samplers make it; both may be changed by the program."""
    first = lm.generate(PROMPT, max_new_tokens=2, do_sample=True, return_dict_in_generate=True, output_scores=True, **options)
    kept = first.sequences[:, :2].clone()
    first.sequences.zero_()
    first.scores[0].zero_()
    second = lm.generate(kept, max_new_tokens=1, do_sample=True, **options) if kept[0, 1] < 2 else kept
    return tidy(kept[0]), tidy(second[0])


def test_generate_is_run_twice_for_the_same_input_and_draws_and_then_known(monkeypatch):
    lm, counted = CausalLM(MODEL), Counted(monkeypatch)
    known = [law(lambda: two_answers(lm)) for _ in range(3)]
    # One token has 4 values at first, then 3 and 2: 7 paths of two tokens, and 5 of one more.
    assert counted.calls == 2 * (7 + 5)
    every_time = CausalLM(MODEL)
    every_time.register_forward_hook(lambda *_: None)  # a program that looks at every pass sees every pass
    counted.calls = 0
    expected = law(lambda: two_answers(every_time))
    assert counted.calls > 2 * (7 + 5)
    assert known == [expected] * 3


@pytest.mark.parametrize("change", ["a processor of one's own", "forward of one's own", "a cache"])
def test_a_call_that_is_not_plain_is_run_every_time(monkeypatch, change):
    lm, counted = CausalLM(MODEL), Counted(monkeypatch)
    seen = []

    class Watching(LogitsProcessor):
        def __call__(self, input_ids, scores):
            seen.append(tuple(input_ids[0].tolist()))
            return scores

    options = {}
    if change == "a processor of one's own":
        options["logits_processor"] = LogitsProcessorList([Watching()])
    elif change == "forward of one's own":
        own = lm.forward
        lm.forward = lambda *arguments, **named: own(*arguments, **named)
    for _ in range(3):
        counted.calls = 0
        if change == "a cache":
            law(lambda: tidy(lm.generate(PROMPT, max_new_tokens=1, do_sample=True, past_key_values=DynamicCache())[0]))
        else:
            law(lambda: tidy(lm.generate(PROMPT, max_new_tokens=1, do_sample=True, **options)[0]))
        assert counted.calls >= 4


def test_what_set_seed_seeds_is_no_decision():
    def drawn():
        return random.random() < 0.5, torch.multinomial(torch.tensor([0.5, 0.5]), 1).item()

    def seeded():
        set_seed(0)
        return drawn()

    assert list(law(seeded).values()) == [1]
    assert list(law(drawn).values()) == [Fraction(1, 4)] * 4
