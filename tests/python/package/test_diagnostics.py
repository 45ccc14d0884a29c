"""Figures of MCMC against naive recomputations; test_arviz.py compares them with arviz."""
import csv
import itertools
import json
import math
import random
import statistics
from fractions import Fraction

import numpy
import pytest
from conftest import FLAGS, PROMPT, TREE, WORKED_SUM, command

import tempera
from tempera import diagnostics


def chains_of_every_kind():
    """Chains of many shapes: slow and fast mixing, discrete with ties, alternating, constant halves, few draws, heavy tails."""
    chance = numpy.random.default_rng(7)
    for chains in (1, 2, 5):
        for count in (4, 5, 6, 7, 9, 40, 101):
            for mixing in (-0.7, 0.0, 0.6, 0.97):
                draws = chance.normal(size=(chains, count))
                for t in range(1, count):
                    draws[:, t] += mixing * draws[:, t - 1]
                yield draws
                yield numpy.floor(draws)  # ties
            yield chance.standard_cauchy((chains, count))
            yield chance.integers(0, 2, (chains, count)).astype(float)
            yield numpy.repeat(numpy.arange(float(chains))[:, None], count, axis=1)  # each chain is stuck


def naive_size(chains):
    """S / τ in fractions, straight from the definition: variances, ρ_k, pairs, made monotone."""
    chains = [[Fraction(x) for x in chain] for chain in chains]
    m, n = len(chains), len(chains[0])
    if len({x for chain in chains for x in chain}) == 1:
        return float(m * n)
    means = [sum(chain) / n for chain in chains]

    def covariance(lag):
        return sum(sum((chain[t] - mean) * (chain[t + lag] - mean) for t in range(n - lag)) / n for chain, mean in zip(chains, means)) / m

    within = covariance(0) * n / (n - 1)
    plus = covariance(0) + (statistics.variance(means) if m > 1 else 0)
    rho = [Fraction(1)] + [1 - (within - covariance(lag)) / plus for lag in range(1, n)]
    end = 0  # the pair at which the sequence ends
    while 2 * end + 4 < n and rho[2 * end] + rho[2 * end + 1] > 0:
        end += 1
    sums = [rho[2 * pair] + rho[2 * pair + 1] for pair in range(end)]
    for pair in range(1, end):
        sums[pair] = min(sums[pair], sums[pair - 1])
    last = rho[2 * end]
    if last <= 0 and last + rho[2 * end + 1] < 0:
        last = Fraction(0)
    return m * n / max(float(2 * sum(sums) - 1 + last), 1 / math.log10(m * n))


def halves(draws):
    half = draws.shape[1] // 2
    return [list(chain[:half]) for chain in draws] + [list(chain[-half:]) for chain in draws]


# A sum of N products in double precision is off by less than 2 N 2^-53 of the sum of their sizes; N ≤ 101, and ρ is within
# a factor of 10^3 of them here.
FOUR_STATE = TREE / "toy_models/four_state.json"
NEAR = 1e-9


def test_the_size_is_that_of_its_definition():
    for draws in chains_of_every_kind():
        draws = numpy.round(draws * 64) / 64  # exact as fractions of few digits
        assert diagnostics.ess(draws, "mean") == pytest.approx(naive_size(halves(draws)), rel=NEAR)


def test_the_bulk_size_is_that_of_the_halves_normal_scores():
    for draws in chains_of_every_kind():
        if draws.shape[1] <= 40:
            scores = numpy.round(diagnostics._normal_scores(numpy.array(halves(draws))) * 2**20) / 2**20  # short fractions
            assert diagnostics._effective_size(scores) == pytest.approx(naive_size(scores), rel=NEAR)
            whole = diagnostics._effective_size(diagnostics._normal_scores(numpy.array(halves(draws))))
            assert diagnostics.ess(draws) == whole


def test_normal_scores_share_the_ranks_of_ties():
    scores = diagnostics._normal_scores(numpy.array([[3.0, 1.0, 1.0, 7.0]]))
    expected = [statistics.NormalDist().inv_cdf((rank - 0.375) / 4.25) for rank in (3, 1.5, 1.5, 4)]
    assert scores.tolist() == [expected]


def test_r_hat_sees_chains_that_differ_in_place_or_in_spread():
    chance = numpy.random.default_rng(1)
    same = chance.normal(size=(4, 200))
    assert diagnostics.r_hat(same) < 1.02
    assert diagnostics.r_hat(same + numpy.array([[0], [0], [0], [3]])) > 1.2
    assert diagnostics.r_hat(same * numpy.array([[1], [1], [1], [9]])) > 1.1  # by the folded draws alone
    assert diagnostics.r_hat(numpy.cumsum(same[:1], axis=1)) > 1.2  # one chain that drifts, by its halves
    assert diagnostics.r_hat(numpy.ones((3, 8))) is None
    assert diagnostics.r_hat(numpy.array([[1.0] * 8, [2.0] * 8])) == math.inf


def test_the_autocorrelation_is_that_of_its_definition():
    for draws in chains_of_every_kind():
        draws = numpy.round(draws * 64) / 64
        count = draws.shape[1]
        means = [sum(map(Fraction, chain)) / count for chain in draws]
        exact = [[Fraction(x) - mean for x in chain] for chain, mean in zip(draws, means)]
        by_lag = [sum(sum(c[t] * c[t + lag] for t in range(count - lag)) for c in exact) for lag in range(count)]
        expected = [float(value / by_lag[0]) for value in by_lag] if by_lag[0] else [1.0] + [0.0] * (count - 1)
        assert diagnostics.autocorrelation(draws) == pytest.approx(expected, abs=NEAR)


def test_the_bound_of_tv_holds_as_often_as_it_says_and_sees_what_differs():
    """Two thousand bounds of two laws with TV 1/4: above it in fewer than 5 %, and some are positive."""
    chance = numpy.random.default_rng(3)
    above = positive = 0
    for _ in range(2000):
        run, exact = (chance.random(400) < 0.75).astype(float), (chance.random(400) < 0.5).astype(float)
        bound = diagnostics.tv_at_least(run, exact)
        above += bound > 0.25
        positive += bound > 0
    # 5 % of 2,000 is 100; the seed is fixed, so that this decides nothing by chance.
    assert above <= 100 and positive > 0
    slack = 2 * math.sqrt(math.log(4 / 0.05) / 800)
    assert diagnostics.tv_at_least([0.0] * 400, [1.0] * 400) == pytest.approx(1 - slack, rel=1e-12)
    assert diagnostics.tv_at_least([0.0, 1.0] * 200, [1.0, 0.0] * 200) == 0
    assert diagnostics.tv_at_least([0.0] * 300 + [1.0] * 100, [0.0] * 400, 0.5) == pytest.approx(0.25 - 2 * math.sqrt(math.log(8) / 800), abs=1e-12)


def test_the_bound_of_tv_is_that_of_its_definition():
    """Sides of unequal numbers, ties within and between them, every confidence."""
    chance = numpy.random.default_rng(11)
    positive = 0
    for count, others in ((2000, 31), (57, 3000), (400, 900)):
        for confidence in (0.05, 0.5, 0.95):
            for shift in (0, 3, -4):
                run, exact = chance.integers(0, 9, count) + shift, chance.integers(0, 9, others)
                apart = max(abs(sum(y <= x for y in run) / count - sum(y <= x for y in exact) / others) for x in {*run, *exact})
                slack = sum(math.sqrt(math.log(4 / (1 - confidence)) / (2 * number)) for number in (count, others))
                assert diagnostics.tv_at_least(run, exact, confidence) == pytest.approx(max(0, apart - slack), abs=1e-12)
                positive += apart > slack
    assert positive > 9


def test_the_rank_test_has_its_level_and_its_power():
    chance = numpy.random.default_rng(5)
    values = [diagnostics.rank_test(chance.integers(0, 4, 12), chance.integers(0, 4, 9), 99, seed) for seed in range(400)]
    assert sum(value <= 0.05 for value in values) <= 32  # 20 expected, 4.36 of them the standard deviation; the seed is fixed
    assert diagnostics.rank_test(range(20), range(15, 35), 999) <= 0.002
    assert diagnostics.rank_test([1.0] * 5, [1.0] * 7, 99) == 1


def test_a_naive_permutation_of_all_finds_the_same_share():
    from itertools import combinations

    run, exact = [1.0, 4.0, 4.0], [2.0, 4.0, 9.0, 9.0]
    pool = run + exact
    rank = [sum(y < x for y in pool) + (sum(y == x for y in pool) + 1) / 2 for x in pool]
    middle = sum(rank) * 3 / 7
    all_of_them = [abs(sum(rank[i] for i in chosen) - middle) for chosen in combinations(range(7), 3)]
    share = sum(value >= all_of_them[0] - 1e-9 for value in all_of_them) / len(all_of_them)
    found = diagnostics.rank_test(run, exact, 20000)
    assert abs(found - share) < 5 * math.sqrt(share * (1 - share) / 20000)  # five standard deviations; the seed is fixed


@pytest.mark.parametrize("ladder", [FLAGS, ["--powers", "4", "--horizon", "28", "--block", "4"]])
def test_a_run_gives_the_figures_of_its_events(tmp_path, ladder):
    flags = [flag for flag in ladder if flag not in ("--rounds", "3")] + ["--rounds", "9"]
    command("sample", "--model", WORKED_SUM, *flags, PROMPT, "--samples", "3", "--seed", "4", "--out", tmp_path / "run")
    run = tempera.RunFolder(tmp_path / "run")
    rows = run.diagnostics()
    rungs = len(run.config["powers"])
    assert [(row.rung, row.quantity) for row in rows] == [(k + 1, name) for name in ("log_p0", "length", "answer") for k in range(rungs)]
    events = run.events("round")
    lines_of = [[line for line, (stage, of, number) in enumerate(zip(events["stage"], events["sample"], events["round"]))
                 if stage == max(events["stage"]) and of == sample and number > 0] for sample in range(3)]  # fmt: skip
    held = [(events["log_p0"][line][-1], events["lengths"][line][-1]) for lines in lines_of for line in lines]
    commonest = max(held, key=lambda record: (held.count(record), *record))

    def value(quantity, line, rung):
        record = events["log_p0"][line][rung], events["lengths"][line][rung]
        return {"log_p0": record[0], "length": record[1], "answer": float(record == commonest)}[quantity]

    for row in rows:
        chains = [[value(row.quantity, line, row.rung - 1) for line in lines] for lines in lines_of]
        assert (row.chains, row.draws) == (3, 9) == (len(chains), len(chains[0]))
        assert row.mean == pytest.approx(statistics.fmean(x for chain in chains for x in chain), rel=1e-12)
        assert row.ess_bulk == diagnostics.ess(chains) and row.r_hat == diagnostics.r_hat(chains)
    # An answer that has not ended is not a chain yet.
    lines = (tmp_path / "run/events.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "run/events.jsonl").write_text("".join(lines[:-2]))
    assert {row.chains for row in run.diagnostics()} == {2}


def test_chains_are_the_records_after_the_rounds_of_the_last_stage():
    """Against loops over the lines; small figures, so that records tie."""
    chance = random.Random(5)
    for turn in range(150):
        rungs, stages, rounds, samples = chance.randrange(1, 4), chance.randrange(1, 3), chance.randrange(2, 5), chance.randrange(1, 4)
        lines = [
            {"id": id, "sample": sample, "stage": stage, "round": round, "log_p0": [float(-chance.randrange(3)) for _ in range(rungs)],
             "lengths": [chance.randrange(1, 3) for _ in range(rungs)]}
            for stage in range(stages) for round in range(rounds) for id in ("a", "b") for sample in range(samples)
        ]  # fmt: skip
        if turn % 3 == 0 and samples > 1:  # a chain that has not ended
            del lines[-1]
        chance.shuffle(lines)
        lines.sort(key=lambda line: (line["stage"], line["round"]))  # prompts and samples come in any order
        found = diagnostics.chains_of({name: [line[name] for line in lines] for name in lines[0]})
        assert {key[0] for key in found} == {"a", "b"}
        for id in ("a", "b"):
            of_samples = [[line for line in lines if (line["id"], line["sample"]) == (id, sample) and line["stage"] == stages - 1 and line["round"] > 0]
                          for sample in range(samples)]  # fmt: skip
            whole = [of for of in of_samples if len(of) == max(map(len, of_samples))]
            held = [(line["log_p0"][-1], line["lengths"][-1]) for of in whole for line in of]
            commonest = max(held, key=lambda record: (held.count(record), record))
            assert found[id, "log_p0"].tolist() == [[line["log_p0"] for line in of] for of in whole]
            assert found[id, "length"].tolist() == [[line["lengths"] for line in of] for of in whole]
            expected = [[[float(record == commonest) for record in zip(line["log_p0"], line["lengths"])] for line in of] for of in whole]
            assert found[id, "answer"].tolist() == expected


def test_the_command_gives_the_same_figures(tmp_path):
    (tmp_path / "prompts.jsonl").write_text('{"id": "a, \\"b\\"", "prompt": "4+7?"}\n{"id": "c", "prompt": "3+8+6?"}\n')
    flags = ["--powers", "1,2,4", "--horizon", "28", "--block", "4", "--rounds", "30", "--samples", "4", "--seed", "4"]
    said = command("sample", "--model", WORKED_SUM, "--prompts", tmp_path / "prompts.jsonl", *flags, "--out", tmp_path / "run", "--json", "--summary")
    command("plot", tmp_path / "run", "--csv", tmp_path / "tables")
    with open(tmp_path / "tables/diagnostics.csv", newline="") as file:
        lines = {(line["prompt"], int(line["rung"]), line["quantity"]): line for line in csv.DictReader(file)}
    printed = {(row["id"], row["rung"], quantity): {**row, **row[quantity]}
               for row in json.loads(said)["diagnostics"] for quantity in ("log_p0", "length", "answer")}  # fmt: skip
    rows = tempera.RunFolder(tmp_path / "run").diagnostics()
    assert len(rows) == len(lines) == len(printed) == 18 and {row.draws for row in rows} == {30}
    for row in rows:
        for found in (lines[row.id, row.rung, row.quantity], printed[row.id, row.rung, row.quantity]):
            assert (int(found["chains"]), int(found["draws"])) == (row.chains, row.draws)
            for name in ("mean", "sd", "mcse", "ess_bulk", "ess_tail", "r_hat"):
                value = getattr(row, name)
                assert found[name] in (None, "") if value is None else float(found[name]) == pytest.approx(value, rel=1e-9), (row, name)
    # The table has the worse of the two prompts for each rung.
    table = command("sample", "--resume", tmp_path / "run", "--summary")
    for rung in (1, 2, 3):
        of_rung = [row for row in rows if row.rung == rung]
        shown = next(line for line in table.split("R-hat  MC error", 1)[1].splitlines() if line.split()[:1] == [str(rung)]).split()
        for place, quantity in ((1, "log_p0"), (5, "length")):
            chains = [row for row in of_rung if row.quantity == quantity]
            worst = (min(c.ess_bulk for c in chains), min(c.ess_tail for c in chains), max(c.r_hat for c in chains), max(c.mcse for c in chains))
            for figure, value, digits in zip(shown[place:], worst, (4, 4, 4, 3)):
                assert float(figure) == pytest.approx(value, rel=0.51 * 10 ** (1 - digits)), (rung, quantity)
        shown = next(line for line in table.split("commonest answer: share", 1)[1].splitlines() if line.split()[:1] == [str(rung)]).split()
        shares = [row.mean for row in of_rung if row.quantity == "answer"]
        assert float(shown[1]) == pytest.approx(sum(shares) / 2, rel=0.51e-3)
    assert "the worst of 2 prompts" in table


def test_wrong_values_are_told():
    for draws, problem in (
        ([1.0, 2.0, 3.0], "3 draws"), ([[1.0, 2.0], [3.0]], "array of numbers"), ([[1.0, math.nan, 2.0, 3.0]], "NaN"),
        ([[math.inf, 1.0, 2.0, 3.0]], "infinity"), ([], "0 draws"), ([[[1.0]]], "shape"), (["a", "b", "c", "d"], "array of numbers"),
    ):  # fmt: skip
        for figure in (diagnostics.ess, diagnostics.r_hat, diagnostics.mcse, diagnostics.autocorrelation):
            with pytest.raises(tempera.BadInput, match=problem):
                figure(draws)
    with pytest.raises(tempera.BadInput, match="bulk, tail or mean"):
        diagnostics.ess([1.0, 2.0, 3.0, 4.0], "median")
    for values in ([], [[1.0]], [math.nan], ["x"]):
        with pytest.raises(tempera.BadInput):
            diagnostics.tv_at_least(values, [1.0])
        with pytest.raises(tempera.BadInput):
            diagnostics.rank_test([1.0], values)
    for confidence in (0, 1, -1, math.nan):
        with pytest.raises(tempera.BadInput, match="between 0 and 1"):
            diagnostics.tv_at_least([1.0], [1.0], confidence)
    with pytest.raises(tempera.BadInput, match="permutations: 0 is not a whole number from 1"):
        diagnostics.rank_test([1.0], [1.0], 0)


def test_too_few_rounds_are_told(tmp_path):
    command("sample", "--model", WORKED_SUM, *FLAGS, PROMPT, "--out", tmp_path / "run")
    with pytest.raises(tempera.BadInput, match="3 draws.*`rounds`"):
        tempera.RunFolder(tmp_path / "run").diagnostics()


def drawn(folder, sampler, seed):
    command("sample", "", "--model", FOUR_STATE, "--sampler", sampler, "--powers", "4", "--horizon", "6", "--samples", "300", "--seed", seed, "--out", folder)
    return tempera.RunFolder(folder)


def test_a_run_is_compared_with_exact_draws(tmp_path):
    exact, again = drawn(tmp_path / "exact", "exact-rejection", 1), drawn(tmp_path / "again", "exact-rejection", 2)
    for row in again.against_exact(exact):
        assert row.tv_at_least == 0 and row.p_value > 0.001 and (row.answers, row.exact) == (300, 300)
    other = tmp_path / "other"
    rows = {row.quantity: row for row in drawn(other, "low-temperature", 3).against_exact(exact)}
    assert list(rows) == ["log_p0", "length", "answer"]
    # By hand from the samples: the largest distance of the two shares of answers at or before a text, less both slacks.
    texts = [[json.loads(line)["answer"] for line in (folder / "samples.jsonl").read_text().splitlines()] for folder in (other, tmp_path / "exact")]
    apart = max(abs(sum(text <= cut for text in texts[0]) - sum(text <= cut for text in texts[1])) / 300 for cut in texts[0] + texts[1])
    expected = max(0.0, apart - 2 * math.sqrt(math.log(80) / 600))
    assert rows["answer"].tv_at_least == pytest.approx(expected, abs=1e-12)
    assert max(row.tv_at_least for row in rows.values()) > 0.1 and min(row.p_value for row in rows.values()) < 0.001


def test_a_run_is_compared_with_nothing_but_exact_draws_of_its_law(tmp_path):
    few = ["--samples", "2"]
    asked = ["sample", "4+7?", "--model", WORKED_SUM, "--horizon", "28", *few]
    command(*asked, "--powers", "1,4", "--rounds", "1", "--seed", "1", "--out", tmp_path / "run")
    run = tempera.RunFolder(tmp_path / "run")
    for name, flags, said in (
        ("power", ["--sampler", "exact-rejection", "--powers", "3", "--seed", "2"], "has the power 3"),
        ("seed", ["--sampler", "exact-rejection", "--powers", "4", "--seed", "1"], "has the seed 1"),
        ("horizon", ["--sampler", "exact-rejection", "--powers", "4", "--seed", "2", "--horizon", "27"], "has the horizon 27"),
        ("kind", ["--sampler", "standard", "--seed", "2"], "holds no exact draws"),
    ):  # fmt: skip
        words = [word for word in asked if word not in ("--horizon", "28")] if name == "horizon" else asked
        command(*words, *flags, "--out", tmp_path / name)
        with pytest.raises(tempera.BadInput, match=said):
            run.against_exact(tempera.RunFolder(tmp_path / name))
    with pytest.raises(tempera.BadInput, match="no answers to the prompt"):
        diagnostics.against([{"id": "a", "answer": "x", "tokens": [1], "log_p0": -1.0}], [])


def test_a_run_is_compared_at_the_power_of_the_rung_that_answers(tmp_path, monkeypatch):
    monkeypatch.setattr(diagnostics, "rank_test", lambda *_: 1.0)  # which takes long, and is of the answers alone
    for rung, power in itertools.product((1, 2, 3), (1, 2, 4)):
        for name, said in (("ours", {"sampler": "ppt", "powers": [1, 2, 4], "output_rung": rung, "seed": 1}),
                           ("theirs", {"sampler": "exact-rejection", "powers": [power], "output_rung": 1, "seed": 2})):  # fmt: skip
            (tmp_path / name).mkdir(exist_ok=True)
            (tmp_path / name / "config.json").write_text(json.dumps({"model_path": "m", "horizon": 3, **said}))
            (tmp_path / name / "samples.jsonl").write_text('{"id": "a", "answer": "x", "tokens": [1], "log_p0": -1.0}\n')
        ours, theirs = (tempera.RunFolder(tmp_path / name) for name in ("ours", "theirs"))
        if power == [1, 2, 4][rung - 1]:
            assert [row.answers for row in ours.against_exact(theirs)] == [1, 1, 1]
        else:
            with pytest.raises(tempera.BadInput, match=f"has the power {power}, and .* {[1, 2, 4][rung - 1]}"):
                ours.against_exact(theirs)


def test_the_p_value_is_the_share_of_its_permutations():
    """Mean ranks over pairs of values, sides of unequal numbers with ties, every seed its own permutations; what was observed counts as one."""
    chance = random.Random(2)
    found = set()
    for turn in range(14):
        run, exact = ([chance.randrange(6) - 0.5 * (turn % 2) for _ in range(chance.randrange(1, 9))] for _ in range(2))
        pool = [*run, *exact]
        rank = [sum(other < value for other in pool) + (sum(other == value for other in pool) + 1) / 2 for value in pool]  # halves, so that sums are exact

        def apart(ranks, size=len(run)):
            return abs(Fraction(sum(map(Fraction, ranks[:size])), size) - Fraction(sum(map(Fraction, rank)), len(rank)))

        for seed, count in ((0, 60), (turn, 40)):
            dice = numpy.random.default_rng(seed)
            as_large = sum(apart(list(dice.permutation(rank))) >= apart(rank) for _ in range(count))
            value = diagnostics.rank_test(run, exact, count, seed)
            assert value == (1 + as_large) / (1 + count)
            found.add(value)
    assert len(found) > 10


def test_each_prompt_is_compared_with_its_own_exact_draws(monkeypatch):
    """By log p0, by the number of tokens, and by the place of the answer's text; with the numbers of both sides and the confidence."""
    monkeypatch.setattr(diagnostics, "rank_test", lambda ours, theirs: (tuple(ours), tuple(theirs)))
    chance = random.Random(4)

    def some(name, count, most):
        return [{"id": name, "answer": "".join(chance.choices("ab", k=chance.randrange(4))), "tokens": [1] * chance.randrange(1, most), "log_p0": -chance.random() * most}
                for _ in range(count)]  # fmt: skip

    run = some("b", 300, 3) + some("a", 40, 9) + some(None, 7, 3)
    exact = some("c", 5, 9) + some(None, 200, 9) + some("a", 60, 3) + some("b", 500, 12)
    chance.shuffle(exact)
    for confidence in (0.5, 0.95):
        rows = diagnostics.against(run, exact, confidence)
        assert [(row.id, row.quantity) for row in rows] == [(name, quantity) for name in ("b", "a", None) for quantity in ("log_p0", "length", "answer")]
        for row in rows:
            sides = [[one for one in of if one["id"] == row.id] for of in (run, exact)]
            texts = sorted({one["answer"] for side in sides for one in side})
            value = {"log_p0": lambda one: one["log_p0"], "length": lambda one: len(one["tokens"]), "answer": lambda one, texts=texts: texts.index(one["answer"])}[row.quantity]
            ours, theirs = ([value(one) for one in side] for side in sides)
            assert (row.answers, row.exact) == (len(ours), len(theirs)) and row.p_value == (tuple(ours), tuple(theirs))
            apart = max(abs(sum(x <= cut for x in ours) / len(ours) - sum(x <= cut for x in theirs) / len(theirs)) for cut in {*ours, *theirs})
            slack = sum(math.sqrt(math.log(4 / (1 - confidence)) / (2 * len(side))) for side in (ours, theirs))
            assert row.tv_at_least == pytest.approx(max(0.0, apart - slack), abs=1e-12)
        assert sum(row.tv_at_least > 0 for row in rows) > 2


def test_figures_of_mixing_are_those_of_their_definitions():
    """R-hat of the halves and of their distances from the median, by lists; the smaller size of two tails; the error of the mean by its own size."""

    def scores(chains):
        pool = [x for chain in chains for x in chain]
        rank = {x: sum(y < x for y in pool) + (sum(y == x for y in pool) + 1) / 2 for x in pool}
        return [[statistics.NormalDist().inv_cdf((rank[x] - 0.375) / (len(pool) + 0.25)) for x in chain] for chain in chains]

    def reduction(chains):
        count = len(chains[0])
        within, between = statistics.fmean(map(statistics.variance, chains)), count * statistics.variance(map(statistics.fmean, chains))
        if within > 1e-20:
            return math.sqrt((between / within + count - 1) / count)
        return math.inf if between > 1e-20 else None

    for draws in itertools.islice(chains_of_every_kind(), 0, None, 5):
        if draws.shape[1] > 40:
            continue
        draws = numpy.round(draws * 64) / 64
        parts = halves(draws)
        middle = statistics.median(x for chain in parts for x in chain)
        found = [value for value in (reduction(scores(parts)), reduction(scores([[abs(x - middle) for x in chain] for chain in parts]))) if value is not None]
        assert diagnostics.r_hat(draws) == (pytest.approx(max(found), rel=NEAR) if found else None)
        pool = sorted(draws.ravel())
        sizes = []
        for share in (0.05, 0.95):  # between the two draws beside it, in proportion
            place = share * (len(pool) - 1)
            cut = numpy.quantile(draws, share)
            assert pool[int(place)] <= cut <= pool[min(int(place) + 1, len(pool) - 1)]
            sizes.append(naive_size(halves((draws <= cut).astype(float))))
        assert diagnostics.ess(draws, "tail") == pytest.approx(min(sizes), rel=NEAR)
        error = statistics.stdev(pool) / math.sqrt(naive_size(parts))
        assert diagnostics.mcse(draws) == pytest.approx(error, rel=NEAR, abs=1e-12)
