"""log Z with intervals, beside exact sums over finite models."""
import itertools
import json
import math
import random
import statistics
import warnings
from fractions import Fraction

import pytest
from conftest import PROMPT, TREE, WORKED_SUM, command

import tempera
from tempera import diagnostics, exact, partition

numpy = pytest.importorskip("numpy")


def exact_log_z(name, horizon, power):
    law = exact.FiniteModel.open(TREE / f"toy_models/{name}.json").base_law(horizon)
    return math.log(sum(Fraction(p) ** power for p in law.values()))


def naive_interval(kept, proposals, confidence):
    """The same two tests, each tail summed in fractions, on a grid of shares."""
    tail = (1 - confidence) / 2

    def at_least(n, share):
        return sum(Fraction(math.comb(n, j)) * share**j * (1 - share) ** (n - j) for j in range(kept, n + 1))

    grid = [Fraction(i, 1000) for i in range(1001)]
    low = max((share for share in grid if at_least(proposals, share) <= tail), default=0)
    high = min((share for share in grid if 1 - at_least(proposals - 1, share) <= tail), default=1)
    return low, high


@pytest.mark.parametrize(("kept", "proposals"), [(1, 1), (1, 7), (3, 9), (5, 40), (8, 8)])
def test_the_interval_of_a_share_is_that_of_its_two_tests(kept, proposals):
    _, low, high = partition.rejection_share(kept, proposals, 0.9)
    naive_low, naive_high = naive_interval(kept, proposals, 0.9)
    assert naive_low <= low <= naive_low + Fraction(1, 1000)
    assert naive_high - Fraction(1, 1000) <= high <= naive_high


def test_the_share_has_no_bias_and_its_interval_covers():
    dice = random.Random(4)
    z, answers, runs = 0.3, 4, 4000
    shares, covered = [], 0
    for _ in range(runs):
        proposals = kept = 0
        while kept < answers:
            proposals += 1
            kept += dice.random() < z
        share, low, high = partition.rejection_share(answers, proposals, 0.9)
        shares.append(share)
        covered += low <= z <= high
    spread = numpy.std(shares) / math.sqrt(runs)
    assert abs(numpy.mean(shares) - z) < 5 * spread
    assert abs(answers * runs / sum((answers - 1) / s + 1 for s in shares) - z) < 5 * spread
    assert covered >= 0.9 * runs - 5 * math.sqrt(0.09 * runs)


@pytest.mark.parametrize(("name", "horizon", "power"), [("bimodal", 3, 4), ("unequal_lengths", 3, 2), ("late_payoff", 3, 3)])
def test_exact_rejection_and_the_ladder_give_log_z(tmp_path, name, horizon, power):
    file = TREE / f"toy_models/{name}.json"
    aim = exact_log_z(name, horizon, power)
    command("sample", "", "--model", file, "--sampler", "exact-rejection", "--powers", power, "--horizon", horizon, "--samples", 400, "--seed", 2,
            "--out", tmp_path / "exact")  # fmt: skip
    (row,) = tempera.RunFolder(tmp_path / "exact").log_partition(confidence=0.999)
    assert (row.method, row.power, row.id) == ("rejection", power, None)
    assert row.low <= aim <= row.high and row.low < row.log_z < row.high
    ladder = [1.0, *(float(a) for a in numpy.linspace(1, power, 5)[1:])]
    command("sample", "", "--model", file, "--powers", ",".join(map(str, ladder)), "--horizon", horizon, "--block", horizon, "--rounds", 60,
            "--samples", 40, "--seed", 2, "--out", tmp_path / "ladder")  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows = tempera.RunFolder(tmp_path / "ladder").log_partition(confidence=0.999)
    assert [row.power for row in rows] == ladder and rows[0].log_z == rows[0].low == rows[0].high == 0
    assert rows[-1].low - 0.02 <= aim <= rows[-1].high + 0.02  # what 60 rounds leave of the start
    assert all(row.high - row.low < 0.5 for row in rows)
    assert abs(rows[-1].thermodynamic - aim) < 0.2


@pytest.mark.parametrize(("sampler", "block"), [("power-smc", 1), ("power-smc", 3), ("ramped-smc", 1)])
@pytest.mark.parametrize(("name", "horizon", "power"), [("bimodal", 3, 4), ("unequal_lengths", 3, 2), ("late_payoff", 3, 3)])
def test_particles_give_log_z(tmp_path, name, horizon, power, sampler, block):
    powers = power if sampler == "power-smc" else f"1.5,{power}"
    command("sample", "", "--model", TREE / f"toy_models/{name}.json", "--sampler", sampler, "--particles", 4, "--powers", powers, "--block", block,
            "--horizon", horizon, "--samples", 400, "--seed", 2, "--out", tmp_path / "run")  # fmt: skip
    (row,) = tempera.RunFolder(tmp_path / "run").log_partition(confidence=0.999)
    assert (row.method, row.power, row.id) == ("particles", power, None)
    assert row.low <= exact_log_z(name, horizon, power) <= row.high and row.high - row.low < 0.7


def test_the_interval_of_particles_is_that_of_its_formula():
    estimates = [0.2, 0.5, 0.35, 0.4]
    row = partition.of_particles("a", 2, [math.log(z) - 900 for z in estimates], confidence=0.9)
    width = 1.6448536269514722 * numpy.std(estimates, ddof=1) / 2
    assert row.log_z + 900 == pytest.approx(math.log(numpy.mean(estimates)), abs=1e-9)
    assert row.low + 900 == pytest.approx(math.log(numpy.mean(estimates) - width), abs=1e-9)
    assert row.high + 900 == pytest.approx(math.log(numpy.mean(estimates) + width), abs=1e-9)
    assert partition.of_particles(None, 2, [-1.0, -800.0]).low == -math.inf
    with pytest.raises(tempera.BadInput, match="one answer"):
        partition.of_particles(None, 2, [-1.0])


def test_stones_and_errors_are_those_of_their_formulas():
    dice = numpy.random.default_rng(3)
    powers = [1.0, 1.5, 3.0]
    chains = dice.normal(-4, 1, size=(6, 7, 3))
    found, errors = partition.stepping_stones(chains, powers)

    def naive(some):
        total, steps = 0.0, [0.0]
        for rung in range(2):
            step = powers[rung + 1] - powers[rung]
            total += math.log(sum(math.exp(step * value) for chain in some for value in chain[:, rung]) / (len(some) * 7))
            steps.append(total)
        return steps

    assert numpy.allclose(found, naive(chains), atol=1e-12)
    without = [naive([chain for j, chain in enumerate(chains) if j != i])[2] for i in range(6)]
    middle = sum(without) / 6
    assert math.isclose(errors[2], math.sqrt(5 / 6 * sum((one - middle) ** 2 for one in without)), rel_tol=1e-9)
    _, errors, _ = partition.thermodynamic(chains, powers)
    without = [partition.thermodynamic(numpy.delete(chains, left_out, axis=0), powers)[0][2] for left_out in range(6)]
    assert math.isclose(errors[2], math.sqrt(5 / 6 * sum((one - numpy.mean(without)) ** 2 for one in without)), rel_tol=1e-9)


def test_errors_of_an_answer_that_holds_nearly_all_are_those_of_their_formula():
    """Without the answer of the largest records the sum of the others is e^-600 of it, which a difference would lose."""
    chains = numpy.array([[[-3.0, -2.0]], [[-603.0, -2.0]], [[-604.5, -2.0]]])
    _, errors = partition.stepping_stones(chains, [1.0, 2.0])
    without = [math.log((math.exp(-600) + math.exp(-601.5)) / 2) - 3, -3 - math.log(2), -3 - math.log(2)]
    middle = sum(without) / 3
    assert math.isclose(errors[1], math.sqrt(2 / 3 * sum((one - middle) ** 2 for one in without)), rel_tol=1e-9)


def ratio_errors(run, prompt, powers):
    """The jackknife of each log ratio, from the rounds that a run folder has."""
    chains = {id: values for (id, quantity), values in diagnostics.chains_of(run.events("round")).items() if quantity == "log_p0"}[prompt]
    found = []
    for rung in range(len(powers) - 1):
        terms = numpy.exp((powers[rung + 1] - powers[rung]) * (chains[:, :, rung] + 20))  # a scale that no ratio of them has
        without = [math.log(numpy.delete(terms, left_out, axis=0).mean()) for left_out in range(len(terms))]
        found.append(math.sqrt((len(terms) - 1) / len(terms) * sum((one - numpy.mean(without)) ** 2 for one in without)))
    return found


def test_a_summary_has_the_errors_of_its_ratios(tmp_path):
    """Those of one prompt, and of each of several; several together have none, for each has a Z of its own."""
    ladder = ["--model", WORKED_SUM, "--powers", "1,2,4", "--horizon", 28, "--block", 7, "--rounds", 3, "--seed", 3]
    text = command("sample", PROMPT, *ladder, "--samples", 5, "--out", tmp_path / "one", "--summary")
    run = tempera.RunFolder(tmp_path / "one")
    aims = ratio_errors(run, None, [1, 2, 4])
    assert [edge["log_z_ratio_error"] for edge in run.summary["edges"]] == pytest.approx(aims, rel=1e-9)
    assert all(f", error {aim:.2g}\n" in text for aim in aims) and "jackknife over the answers" in text
    prompts = tmp_path / "prompts.jsonl"
    prompts.write_text("".join(json.dumps({"id": name, "prompt": prompt}) + "\n" for name, prompt in (("a", PROMPT), ("b", "4+7?"))))
    command("sample", "--prompts", prompts, *ladder, "--samples", 3, "--out", tmp_path / "two")
    run = tempera.RunFolder(tmp_path / "two")
    for report in run.summary["prompts"]:
        assert [edge["log_z_ratio_error"] for edge in report["edges"]] == pytest.approx(ratio_errors(run, report["id"], [1, 2, 4]), rel=1e-9)
    assert all("log_z_ratio_error" not in edge for edge in run.summary["edges"])
    found = json.loads(command("sample", PROMPT, *ladder, "--samples", 1, "--json"))
    assert all("log_z_ratio_error" not in edge for edge in found["summary"]["edges"])


def test_exact_rejection_prints_what_it_proves_of_one_chain(tmp_path):
    """log Z of the summary is that of log_partition, and the bound is at most 0.05 by so many moves, and not by a tenth fewer."""
    model = TREE / "toy_models/late_payoff.json"
    text = command("sample", "", "--model", model, "--sampler", "exact-rejection", "--powers", 3, "--horizon", 5, "--samples", 40, "--seed", 2,
                   "--out", tmp_path / "run", "--summary")  # fmt: skip
    run = tempera.RunFolder(tmp_path / "run")
    (row,) = run.log_partition()
    told = run.summary["log_z"]
    assert [told["estimate"], told["low"], told["high"]] == pytest.approx([row.log_z, row.low, row.high], rel=1e-12) and told["confidence"] == 0.95
    chain = told["one_chain"]
    assert chain["horizon"] == 5 and chain["tv_at_most"] == 0.05
    assert partition.minorization(row.low, 5, int(chain["moves"])) <= 0.05 < partition.minorization(row.low, 5, int(0.9 * chain["moves"]))
    assert f"log Z: {row.log_z:.4g}, from {row.low:.4g} to {row.high:.4g} at a confidence of 95 %" in text
    assert f"TV at most (1 - Z/5)^N after N local moves from any start, as proved;\n0.05 after {chain['moves']:.0f} of them" in text
    # The exact distance from the worst start after so many moves is below it, as it is after fewer: `tempera exact` finds those.
    found = json.loads(command("exact", model, "--horizon", 5, "--power", 3, "--mixing", "1/20", "--no-matrix", "--json"))
    assert found["mixing"]["steps"] <= chain["moves"]


@pytest.mark.parametrize(("kept", "proposals"), [(400, 20000), (1, 10**6), (19990, 20000), (3, 4)])
def test_limits_of_a_share_are_where_its_tails_are(kept, proposals):
    """P(N <= n) and P(N >= n) at the two limits, by the terms of all numbers of successes; n below 2^20 rounds them by 10^-9."""

    def below(trials, most, share):
        whole = math.lgamma(trials + 1)
        logs = (whole - math.lgamma(j + 1) - math.lgamma(trials - j + 1) + j * math.log(share) + (trials - j) * math.log1p(-share) for j in range(most + 1))
        return math.fsum(math.exp(log) for log in logs)

    _, low, high = partition.rejection_share(kept, proposals, 0.9)
    assert below(proposals, kept - 1, low) == pytest.approx(0.95, rel=1e-7)
    assert below(proposals - 1, kept - 1, high) == pytest.approx(0.05, rel=1e-7)


@pytest.mark.parametrize("confidence", [0.05, 0.5, 0.9, 0.95, 0.999])
def test_the_interval_of_a_rung_has_its_confidence_about_the_estimate(confidence):
    """A normal number is within q standard errors of its mean with probability erf(q / sqrt 2), which is the confidence."""
    dice = numpy.random.default_rng(7)
    powers = [1.0, 1.5, 3.0]
    chains = dice.normal(-4, 1, size=(6, 7, 3))
    stones, errors = partition.stepping_stones(chains, powers)
    integral, _, _ = partition.thermodynamic(chains, powers)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = partition.of_ladder("a", chains, powers, confidence)
    for rung, row in enumerate(rows):
        assert (row.id, row.power, row.log_z, row.thermodynamic) == ("a", powers[rung], stones[rung], integral[rung])
        assert row.method == ("power 1" if rung == 0 else "stepping-stones")
        for low, high in ((row.low, row.log_z), (row.log_z, row.high)):
            errors_of_it = (high - low) / errors[rung] if rung else 0.0
            # The quantile has 15 digits, and the sums of two numbers below 10 round by 2^-49 of errors above 0.01.
            assert rung == 0 and low == high or math.isclose(math.erf(errors_of_it / math.sqrt(2)), confidence, rel_tol=1e-9)


@pytest.mark.parametrize("side", [-1, 1])
def test_two_estimates_that_differ_by_more_than_their_errors_are_warned_of(monkeypatch, side):
    """The bound is WARNING_ERRORS of both errors together and what the rule leaves; it is tried a part in 10^9 within it and beyond."""
    powers, error, own, left = [1.0, 2.0], 0.3, 0.4, 0.25
    bound = partition.WARNING_ERRORS * 0.5 + left + 1e-12
    for factor, is_warned in ((1 - 1e-9, False), (1 + 1e-9, True)):
        monkeypatch.setattr(partition, "stepping_stones", lambda *_: (numpy.array([0.0, side * factor * bound]), numpy.array([0.0, error])))
        monkeypatch.setattr(partition, "thermodynamic", lambda *_: (numpy.zeros(2), numpy.array([0.0, own]), numpy.array([0.0, left])))
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            partition.of_ladder(None, [], powers)
        assert [one.category for one in told] == [partition.PartitionWarning] * is_warned


def test_the_integral_is_that_of_its_rule():
    """h/2 (m_0 + m_1) + h²/12 (v_0 − v_1) from rung to rung, by loops; powers with unequal gaps, rungs with unequal spreads."""
    chance = random.Random(3)
    powers = [1, 1.3, 2.5, 4]
    chains = [[[-9 / power + chance.gauss(0, 3 / power) for power in powers] for _ in range(7)] for _ in range(3)]

    def integrals(of):
        total, left, found = 0.0, 0.0, [(0.0, 0.0)]
        for rung in range(3):
            (m_0, v_0), (m_1, v_1) = ((statistics.fmean(values), statistics.pvariance(values)) for values in
                                      ([draw[at] for chain in of for draw in chain] for at in (rung, rung + 1)))  # fmt: skip
            step = powers[rung + 1] - powers[rung]
            total += step / 2 * (m_0 + m_1) + step**2 / 12 * (v_0 - v_1)
            left += abs(step**2 / 12 * (v_0 - v_1))
            found.append((total, left))
        return found

    integral, errors, left = partition.thermodynamic(chains, powers)
    assert list(zip(integral, left)) == [pytest.approx(pair, rel=1e-12, abs=1e-12) for pair in integrals(chains)]
    without = [[one for one, _ in integrals(chains[:at] + chains[at + 1 :])] for at in range(3)]
    for rung in range(4):
        values = [of[rung] for of in without]
        assert errors[rung] == pytest.approx(math.sqrt(2 / 3 * sum((value - statistics.fmean(values)) ** 2 for value in values)), rel=1e-9, abs=1e-12)


def test_a_ladder_is_of_powers_above_0_that_rise():
    for powers in itertools.product((-1.0, 0.0, 0.5, 1.0, 2.0), repeat=2):
        chains = [[[-1.0, -1.0]] * 2] * 2
        if 0 < powers[0] < powers[1]:
            assert len(partition.of_ladder("a", chains, list(powers))) == 2
        else:
            with pytest.raises(tempera.BadInput, match="is not a ladder; give positive powers that rise"):
                partition.of_ladder("a", chains, list(powers))
    with pytest.raises(tempera.BadInput, match="is not a ladder"):
        partition.of_ladder("a", [[[]]], [])


def test_integration_of_a_normal_log_p0_is_exact():
    """log p0 normal with mean m + v (α − 1) at power α has log Z = (α − 1) m + (α − 1)² v / 2, which the rule has without a rest."""
    dice = numpy.random.default_rng(5)
    powers, draws = [1.0, 1.4, 2.0], 20000
    chains = numpy.stack([dice.normal(-9 + 2 * (a - 1), math.sqrt(2), size=(4, draws)) for a in powers], axis=2)
    integral, errors, left = partition.thermodynamic(chains, powers)
    for rung, power in enumerate(powers):
        aim = -9 * (power - 1) + (power - 1) ** 2
        assert abs(integral[rung] - aim) <= 5 * errors[rung] + 1e-12 and left[rung] < 0.02


def test_a_ladder_that_has_not_mixed_is_warned_of():
    dice = numpy.random.default_rng(5)
    stuck = numpy.stack([dice.normal(-9, 1, size=(20, 50)), dice.normal(-30, 1, size=(20, 50))], axis=2)
    with pytest.warns(partition.PartitionWarning, match="log Z at the power 2 is"):
        partition.of_ladder(None, stuck, [1.0, 2.0])


@pytest.mark.parametrize(("name", "horizon", "power", "restart"), [("four_state", 3, 2, None), ("unequal_lengths", 3, 2, None), ("late_payoff", 2, 3, None),
                                                                   ("unequal_lengths", 3, 2, "3/4,1/8,1/8")])  # fmt: skip
def test_the_minorization_is_above_the_exact_distance(name, horizon, power, restart):
    file = TREE / f"toy_models/{name}.json"
    law = [] if restart is None else ["--restart", restart]
    first = None if restart is None else float(Fraction(restart.split(",")[0]))
    log_z = exact_log_z(name, horizon, power)
    for start in exact.FiniteModel.open(file).base_law(horizon):
        found = json.loads(command("exact", file, "--horizon", horizon, "--power", power, "--kernel", "fixed", "--start", start, "--steps", 40, *law, "--json"))
        assert len(found["tv"]) == 41
        for moves, distance in enumerate(found["tv"]):
            assert float(Fraction(distance)) <= partition.minorization(log_z, horizon, moves, first) + 1e-12


@pytest.mark.parametrize("horizon", [1, 3, 8])
@pytest.mark.parametrize("moves", [0, 1, 40])
@pytest.mark.parametrize("z", [Fraction(1, 7), Fraction(3, 4), Fraction(1)])
def test_the_minorization_is_that_of_its_definition(z, horizon, moves):
    expected = float((1 - z / horizon) ** moves)
    assert partition.minorization(math.log(z), horizon, moves) == pytest.approx(expected, rel=1e-12, abs=1e-15)
    expected = float((1 - z * Fraction(2, 3)) ** moves)
    assert partition.minorization(math.log(z), horizon, moves, first=2 / 3) == pytest.approx(expected, rel=1e-12, abs=1e-15)


def test_what_gives_no_log_z_is_refused(tmp_path):
    command("sample", PROMPT, "--model", WORKED_SUM, "--powers", "1,2", "--horizon", 12, "--out", tmp_path / "one")
    command("sample", PROMPT, "--model", WORKED_SUM, "--powers", "1.5,2", "--horizon", 12, "--samples", 2, "--out", tmp_path / "above")
    command("sample", PROMPT, "--model", WORKED_SUM, "--sampler", "standard", "--horizon", 12, "--out", tmp_path / "standard")
    for name, told in (("one", "one answer"), ("above", "begin at 1.5"), ("standard", "gives no log Z")):
        with pytest.raises(tempera.BadInput, match=told):
            tempera.RunFolder(tmp_path / name).log_partition()
    for wrong in ((0, 4), (5, 4)):
        with pytest.raises(tempera.BadInput):
            partition.rejection_share(*wrong)
    with pytest.raises(tempera.BadInput, match="confidence"):
        partition.rejection_share(1, 2, 1.0)
    with pytest.raises(tempera.BadInput):
        partition.minorization(0.1, 3, 1)
    with pytest.raises(tempera.BadInput, match="^first: 1.5 is not a probability above 0; give that of a restart at the first position"):
        partition.minorization(-1, 3, 1, first=1.5)


@pytest.mark.parametrize("named", [False, True])
def test_a_run_gives_log_z_of_each_prompt_by_the_way_of_its_sampler(named):
    """From columns that are written out: of several prompts and answers, mixed, with loops for every sum; at the last power and the confidence."""
    for turn in range(20):
        chance = random.Random(turn)
        confidence = chance.choice([0.5, 0.9])
        ids = ["b", "a", "c"][: chance.randrange(1, 4)] if named else [None]
        moves = [{"id": chance.choice(ids), "accepted": chance.random() < 0.6, "proposals": chance.choice([None, 1, 5])} for _ in range(12)]
        moves += [{"id": name, "accepted": True, "proposals": 2} for name in ids]
        columns = {name: [move[name] for move in moves] for name in ("id", "accepted", "proposals") if (named or name != "id") and (turn % 3 or name != "proposals")}
        rows = partition.of_run({"sampler": "exact-rejection", "powers": [3.0]}, {"local_move": columns}.__getitem__, confidence)
        assert [row.id for row in rows] == list(dict.fromkeys(move["id"] for move in moves))
        for row in rows:
            own = [move for move in moves if move["id"] == row.id]
            proposals = sum((move["proposals"] or 1) if turn % 3 else 1 for move in own)
            told = partition.rejection_share(sum(move["accepted"] for move in own), proposals, confidence)
            assert [math.exp(value) for value in (row.log_z, row.low, row.high)] == pytest.approx(told, rel=1e-12)
            assert (row.power, row.method) == (3.0, "rejection")

        looks = [{"id": name, "sample": sample, "log_mean_weight": -chance.random(), "resampled": chance.random() < 0.5}
                 for name in ids for sample in range(3) for _ in range(chance.randrange(1, 6))]  # fmt: skip
        order = [(look["id"], look["sample"]) for look in looks]
        chance.shuffle(order)
        looks = [next(look for look in [one for one in looks if (one["id"], one["sample"]) == key][order[:place].count(key) :]) for place, key in enumerate(order)]
        columns = {name: [look[name] for look in looks] for name in ("id", "sample", "log_mean_weight", "resampled") if named or name != "id"}
        for sampler, powers in (("power-smc", [2.0]), ("ramped-smc", [1.5, 2.0])):
            rows = partition.of_run({"sampler": sampler, "powers": powers}, {"resampling": columns}.__getitem__, confidence)
            assert [row.id for row in rows] == list(dict.fromkeys(name for name, _ in order))
            for row in rows:
                estimates = []
                for sample in range(3):
                    own = [look for look in looks if (look["id"], look["sample"]) == (row.id, sample)]
                    # The weights begin anew at each resampling: those counted are the ones that it saw, and the last.
                    counted = [look for place, look in enumerate(own) if look["resampled"] or place == len(own) - 1]
                    estimates.append(math.exp(sum(look["log_mean_weight"] for look in counted)))
                mean = statistics.fmean(estimates)
                width = statistics.NormalDist().inv_cdf(0.5 + confidence / 2) * statistics.stdev(estimates) / math.sqrt(3)
                assert math.exp(row.log_z) == pytest.approx(mean, rel=1e-12) and math.exp(row.high) == pytest.approx(mean + width, rel=1e-12)
                assert math.exp(row.low) == pytest.approx(max(0.0, mean - width), rel=1e-9) and (row.power, row.method) == (2.0, "particles")

        draws = {name: [[[-chance.random() for _ in range(3)] for _ in range(4)] for _ in range(2 + number)] for number, name in enumerate(ids)}
        lines = [(name, sample, number, record) for number in range(4) for name in ids for sample, chain in enumerate(draws[name]) for record in [chain[number]]]
        columns = {"stage": [0] * len(lines), "round": [number + 1 for _, _, number, _ in lines], "sample": [sample for _, sample, _, _ in lines],
                   "log_p0": [record for *_, record in lines], "lengths": [[1, 2, 3]] * len(lines)}  # fmt: skip
        columns |= {"id": [name for name, *_ in lines]} if named else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows = partition.of_run({"powers": [1, 2, 4]}, {"round": columns}.__getitem__, confidence)
            assert rows == [row for name in ids for row in partition.of_ladder(name, draws[name], [1, 2, 4], confidence)]
