"""Exact laws and verdicts, against the command and against sums over all records in Python's own fractions."""
import itertools
import json
import random
from fractions import Fraction

import pytest
from conftest import TREE, command

import tempera
from tempera import check, exact, law

FOUR_STATE = TREE / "toy_models/four_state.json"


@pytest.fixture(scope="module")
def four_state():
    return exact.FiniteModel.open(FOUR_STATE)


def drawn_model(chance):
    """Rows of small fractions over three tokens, of which one or two are terminal."""
    def row():
        weights = [chance.randint(0, 4) for _ in "abe"]
        weights = weights if sum(weights) else [1, 0, 0]
        return {token: Fraction(weight, sum(weights)) for token, weight in zip("abe", weights)}

    terminal = ["e"] if chance.random() < 0.5 else ["b", "e"]
    rows = {prefix: row() for prefix in ("", "a")}
    if terminal == ["e"]:
        rows["b"] = row()
    return exact.FiniteModel(["a", "b", "e"], terminal, rows, row()), rows, terminal


def naive_law(model, horizon, prefix=()):
    """p0 of every record by its definition, product by product."""
    if len(prefix) == horizon or (prefix and prefix[-1] in model.terminal):
        return {" ".join(prefix): Fraction(1)}
    numbers = [model.vocabulary.index(token) for token in prefix]
    found = {}
    for token, p in model.next(numbers).items():
        for record, rest in naive_law(model, horizon, (*prefix, token)).items():
            found[record] = p * rest
    return found


def test_laws_are_products_over_tokens():
    chance = random.Random(1)
    for _ in range(20):
        model, rows, terminal = drawn_model(chance)
        assert dict(model.next()) == rows[""] and list(model.terminal) == terminal
        base = model.base_law(3)
        # A record of probability zero may be left out of the space.
        assert {record: p for record, p in base.items() if p} == {r: p for r, p in naive_law(model, 3).items() if p}
        for power in (1, 2, 3):
            powered = model.power_law(3, power)
            total = sum(p**power for p in base.values())
            assert dict(powered) == {record: p**power / total for record, p in base.items()}
        assert base.array().tolist() == [float(p) for p in base.values()]


def digits_of(number):
    """Its decimal digits, one after the other: Python writes an integer of at most 4,300 by itself."""
    found = []
    while number:
        number, digit = divmod(number, 10)
        found.append("0123456789"[digit])
    return "".join(reversed(found)) or "0"


def number_of(digits):
    """Horner's rule, digit by digit."""
    found = 0
    for digit in digits:
        found = found * 10 + int(digit)
    return found


@pytest.mark.parametrize("size", [511, 512, 513, 1025, 4_300, 4_301, 10_000])
def test_a_fraction_has_as_many_digits_as_it_needs(size):
    chance = random.Random(size)
    for begin in ("9", "1" + "0" * (size // 2 + 3)):
        above = (begin + "".join(chance.choices("0123456789", k=size)))[:size]
        below = "7" + "0" * (size // 3) + "".join(chance.choices("0123456789", k=size - size // 3 - 2)) + "3"
        number = Fraction(number_of(above))
        for value, written in ((number, above), (-number, "-" + above)):
            assert exact.fraction(written) == value and exact._text(value) == written
        ratio = number / number_of(below)
        assert exact.fraction(f"{above}/{below}") == ratio and exact.fraction(f"-{above}/{below}") == -ratio
        assert exact._text(-ratio) == f"-{digits_of(ratio.numerator)}/{digits_of(ratio.denominator)}"


def test_laws_of_ten_thousand_digits_are_exact():
    most = 10**490 + 7  # a weight that is given has 1,000 characters at most
    row = {"a": Fraction(most // 3, most), "b": Fraction(1, most), "e": Fraction(most - most // 3 - 1, most)}
    model = exact.FiniteModel(["a", "b", "e"], ["e"], {}, row)
    base = naive_law(model, 2)
    powered = model.power_law(2, 11)
    total = sum(p**11 for p in base.values())
    assert dict(powered) == {record: p**11 / total for record, p in base.items()}
    assert powered["b b"].denominator > 10**10_000
    assert f"'b b': {digits_of(powered['b b'].numerator)}/{digits_of(powered['b b'].denominator)}" in repr(powered)

    def ends_if_all_happen(case, state, lottery):
        return [[2]] if all(lottery.happens(row["a"]) for _ in range(9)) else state

    verdict = check.judge(ends_if_all_happen, model, 1, [5])
    q = row["a"] ** 9
    assert verdict.matrix.fractions == ((1 - q, 0, q), (0, 1 - q, q), (0, 0, 1)) and q.denominator > 10**4_400
    assert verdict.tv_one_step == q * (1 - row["e"] ** 5 / sum(p**5 for p in row.values()))
    chain = model.local_chain(1, 10, start="a", steps=1)
    moved = exact.Law(chain.matrix.states, chain.matrix.fractions[0])
    assert chain.total_variation[1] == exact.total_variation(moved, model.power_law(1, 10))


def test_a_chain_is_that_of_the_command(four_state):
    printed = json.loads(command("exact", FOUR_STATE, "--horizon", "2", "--power", "2", "--start", "a a", "--steps", "3", "--json"))
    chain = four_state.local_chain(2, 2, start="a a", steps=3)
    assert list(chain.matrix.states) == printed["states"]
    assert [[str(p) for p in row] for row in chain.matrix.fractions] == printed["matrix"]
    assert [str(p) for p in chain.target.values()] == printed["target"] and [str(p) for p in chain.base.values()] == printed["base"]
    assert (chain.invariant, chain.reversible, chain.irreducible) == (True, True, True) and chain.explanation == ""
    assert [str(d) for d in chain.total_variation] == printed["tv"]
    # The curve by hand: three moves from (a a).
    at = exact.Law(chain.matrix.states, [1, 0, 0])
    for distance in chain.total_variation:
        assert exact.total_variation(at, chain.target) == distance
        at = exact.Law(at.states, [sum(at[x] * chain.matrix[x, y] for x in at) for y in at])


def fractions_of(texts):
    return [fractions_of(one) if isinstance(one, list) else Fraction(one) for one in texts]


RANGES = {"restart": ["1/2", "1/3", "1/6"], "restart_range": "record"}
FLAGS = ["--restart", "1/2,1/3,1/6", "--restart-range", "record"]


def test_every_argument_of_a_chain_is_the_flag_of_its_name(four_state):
    """Each of them changes the chain, so that one in another's place, or left out, is seen."""
    ladder, seen = ["--powers", "1,2"], []
    for more, flags in (({}, []), (RANGES, FLAGS), ({"restart": RANGES["restart"]}, FLAGS[:2]), ({"restart": [0.25, "1/2", "1/4"]}, ["--restart", "1/4,1/2,1/4"]), ({"kernel": "truncating"}, ["--kernel", "truncating"])):
        printed = json.loads(command("exact", FOUR_STATE, "--horizon", 3, "--power", 3, "--start", "a e", "--steps", 4, *flags, "--json"))
        chain = four_state.local_chain(3, 3, start="a e", steps=4, **more)
        found = [[list(row) for row in chain.matrix.fractions], list(chain.target.fractions), list(chain.base.fractions), list(chain.total_variation)]
        assert found == [fractions_of(printed[name]) for name in ("matrix", "target", "base", "tv")]
        seen.append(chain.matrix.fractions)
    for more, flags in (({}, []), (RANGES, FLAGS), ({"restart": RANGES["restart"]}, FLAGS[:2]), ({**RANGES, "schedule": "deo"}, [*FLAGS, "--schedule", "deo"])):
        printed = json.loads(command("exact", FOUR_STATE, "--horizon", 3, *ladder, *flags, "--start", "a e|e", "--steps", 4, "--json"))
        joint = four_state.joint_chain(3, [1, 2], start="a e|e", steps=4, **more)
        assert list(joint.total_variation) == fractions_of(printed["tv"]) and len(joint.total_variation) == 5
        assert list(joint.records) == printed["states"]
        seen.append(joint.total_variation)
        printed = json.loads(command("exact", FOUR_STATE, "--horizon", 3, *ladder, *flags, "--mixing", "1/5", "--gap", "--cuts", "--json"))
        mixing = four_state.mixing(3, [1, 2], within="1/5", **more)
        assert [mixing.steps, list(mixing.gap), mixing.first_token_cut.flow] == [printed["mixing"]["steps"], fractions_of(printed["gap"]), Fraction(printed["cut"]["flow"])]
        seen.append((mixing.gap, mixing.first_token_cut))
        compiled = law.compiled(four_state, 3, [1, 2], **more)
        printed = json.loads(command("law", FOUR_STATE, "--horizon", 3, *ladder, *flags, "--json"))
        assert [list(row) for row in compiled.matrix.fractions] == fractions_of(printed["matrix"])
        seen.append(compiled.matrix.fractions)
    assert len(seen) == len(set(map(repr, seen)))
    # Defaults of arguments that are left out.
    assert four_state.local_chain(2, 2, start="e").total_variation == four_state.local_chain(2, 2, start="e", steps=10).total_variation
    assert len(four_state.joint_chain(2, [1, 2], start="e|e").total_variation) == 11 and four_state.joint_chain(2, [1, 2]).total_variation == ()
    assert four_state.joint_chain(2, [1, 2], schedule="adj", start="e|e") == four_state.joint_chain(2, [1, 2], start="e|e")
    assert four_state.mixing(2, [1, 2]) == four_state.mixing(2, [1, 2], within="1/4", gap=True, cuts=True, schedule="adj", restart_range="horizon")
    assert four_state.round_trips(2, [1, 2], 2) == four_state.round_trips(2, [1, 2], 2, schedule="adj") != four_state.round_trips(2, [1, 2], 2, schedule="deo")
    assert four_state.mixing(2, [2], within=None, cuts=False).gap and not four_state.mixing(2, [2], within=None, gap=False).gap


def test_a_law_and_a_matrix_give_what_stands_at_a_state():
    states, row = ["b", "a", "c"], [Fraction(1, 6), Fraction(1, 3), Fraction(1, 2)]
    one = exact.Law(states, row)
    assert (list(one), len(one), [one[x] for x in states], dict(one)) == (states, 3, row, dict(zip(states, row)))
    assert one.array().tolist() == [1 / 6, 1 / 3, 1 / 2] and "a" in one and "d" not in one and one.get("d") is None
    rows = [[Fraction(3 * x + y, 9) for y in range(3)] for x in range(3)]
    matrix = exact.Matrix(states, rows)
    for x, y in itertools.product(range(3), repeat=2):
        assert matrix[states[x], states[y]] == rows[x][y] == matrix.row(states[x])[states[y]]
    assert matrix.array().tolist() == [[float(p) for p in of] for of in rows] and len(matrix) == 3
    for wrong in (lambda: exact.Law(states, row[:2]), lambda: exact.Law(states, [*row, 0]), lambda: exact.Law(["a", "b", "a"], row), lambda: exact.Matrix(states, rows[:2]),
                  lambda: exact.Matrix(states, [*rows, rows[0]]), lambda: exact.Matrix(states, [*rows[:2], rows[2][:2]]), lambda: exact.Matrix(states[:2], rows),
                  lambda: matrix["a", "d"], lambda: matrix["d", "a"], lambda: matrix.row("d"), lambda: matrix["a"], lambda: matrix["a", "b", "c"], lambda: matrix["ab"]):  # fmt: skip
        with pytest.raises(tempera.BadInput):
            wrong()
    assert exact.total_variation({"a": "1/2", "b": "1/2"}, {"b": "1/3", "c": "2/3"}) == Fraction(2, 3)
    assert exact.total_variation({"a": 1}, {}) == exact.total_variation({}, {"a": 1}) == Fraction(1, 2)


def test_a_cut_has_its_definition():
    for mass, flow, within in itertools.product(("1/2", "1/3", "1/100"), (0, "1/7", "1/100"), (0, "1/4", "9/10")):
        cut = exact.Cut(("a",), Fraction(mass), Fraction(flow))
        assert cut.conductance == Fraction(flow) / Fraction(mass)
        bound = None if flow == 0 else max(Fraction(0), (1 - Fraction(mass) - Fraction(within)) * Fraction(mass) / Fraction(flow))
        assert cut.steps_at_least(within) == bound
    assert exact.Cut(("a",), Fraction(1, 3), Fraction(1, 9)).steps_at_least() == Fraction(5, 4)


def test_a_model_is_the_one_that_was_written_down():
    model = exact.FiniteModel(["a", "b", "e", "f"], ["f", "e"], {"": {"a": "1/2", "e": 0.5}, "a b": {"b": 1}}, {"f": "1/3", "b": Fraction(2, 3)})
    assert (model.name, model.vocabulary, model.terminal, repr(model)) == ("model", ("a", "b", "e", "f"), ("e", "f"), "FiniteModel('model')")
    rows = {(): [Fraction(1, 2), 0, Fraction(1, 2), 0], (0, 1): [0, 1, 0, 0], (0,): [0, Fraction(2, 3), 0, Fraction(1, 3)], (1, 1): [0, Fraction(2, 3), 0, Fraction(1, 3)]}
    again = exact.FiniteModel.parse(model.json(), "again")
    for prefix, row in rows.items():
        for one in (model, again):
            assert list(one.next(list(prefix)).fractions) == row and one.next(list(prefix)).states == model.vocabulary
    assert set(model.records(1)) == {"a", "e"} and set(model.base_law(1)) == {"a", "e"}
    smaller = model.smaller()
    assert smaller and all(isinstance(one, exact.FiniteModel) and one.json() != model.json() for one in smaller)
    with pytest.raises(tempera.BadInput):
        exact.FiniteModel(["a", "e"], ["e"], {"": {"a": 1}}).next([0])
    assert exact.FiniteModel(["a", "e"], ["e"], {}, {"a": 1}, name="own").name == "own"


def test_a_verdict_is_sound_if_it_ends_at_states_keeps_the_target_and_reaches_all():
    matrix = exact.Matrix(["a"], [[1]])
    for stochastic, invariant, reversible, irreducible in itertools.product((False, True), repeat=4):
        verdict = check.Verdict(stochastic, invariant, reversible, irreducible, Fraction(0), matrix, "")
        assert verdict.sound == all((stochastic, invariant, irreducible))


def test_a_kernel_gets_its_case_and_its_state_and_draws_by_its_weights(four_state):
    seen = []

    def step(case, state, lottery):
        seen.append((case.horizon, case.powers, state, case.model.json()))
        first = lottery.happens("1/3")
        second = lottery.draw([1, 0, "1/2", 0.5])
        return [[0, 0] if first else [0, 1] if second == 0 else [1] if second == 2 else list(state[0])]

    e = four_state.vocabulary.index("e")
    step_of_e = lambda case, state, lottery: [[e if token == 1 else token for token in one] for one in step(case, state, lottery)]  # noqa: E731
    verdict = check.judge(step_of_e, four_state, 2, ["3"])
    assert {one[0] for one in seen} == {2} and {one[1] for one in seen} == {(Fraction(3),)} and {one[3] for one in seen} == {four_state.json()}
    tokens = [tuple(four_state.vocabulary.index(name) for name in state.split()) for state in verdict.matrix.states]
    assert {one[2] for one in seen} == {(state,) for state in tokens}
    names = {"a a": Fraction(1, 3), "a e": Fraction(2, 3) * Fraction(1, 2), "e": Fraction(2, 3) * Fraction(1, 4)}
    for x in verdict.matrix.states:
        expected = {y: names.get(y, Fraction(0)) + (Fraction(2, 3) * Fraction(1, 4) if x == y else 0) for y in verdict.matrix.states}
        assert dict(verdict.matrix.row(x)) == expected
    seen.clear()
    check.judge(lambda case, state, lottery: seen.append((case.horizon, case.powers)) or state, four_state)
    assert set(seen) == {(2, (Fraction(2),))}
    seen.clear()
    check.judge(lambda case, state, lottery: seen.append((case.horizon, case.powers)) or state, four_state, 1, [1, 2])
    assert set(seen) == {(1, (Fraction(1), Fraction(2)))}


def test_what_is_within_the_margin_is_sound_for_each_call(four_state):
    """A step that sometimes keeps its state for a wrong answer: a mass that is off by less than the margin counts as equal."""
    def off(case, state, lottery):
        return [[0, 0]] if lottery.happens("1/1000") else local_move(case, state, lottery)

    assert not check.judge(off, four_state).sound and check.judge(off, four_state, within="1/100").sound
    assert check.fault(off, four_state, within="1/100") == "" and "flows" in check.fault(off, four_state)
    with pytest.raises(tempera.BadInput, match="^step: samples its target on this case"):
        check.shrink(off, four_state, within="1/100")
    found = check.shrink(off, four_state, within="1/100000")
    assert str(found) == f"{found.verdict.explanation}\non horizon {found.case.horizon}, {found.case.model.json()}"
    assert found.case.powers and not found.verdict.sound and not check.judge(off, found.case.model, found.case.horizon, found.case.powers, within="1/100000").sound


def test_the_truncating_kernel_is_not_invariant(four_state):
    chain = four_state.local_chain(2, 2, kernel="truncating")
    assert not chain.invariant and "not invariant" in chain.explanation


def test_a_ladder_is_that_of_the_command(four_state):
    for schedule in ("adj", "deo"):
        printed = json.loads(command("exact", FOUR_STATE, "--horizon", "2", "--powers", "1,2,4", "--schedule", schedule,
                                     "--round-trips", "3", "--json"))
        chain = four_state.joint_chain(2, [1, 2, 4], schedule=schedule)
        assert [str(a) for a in chain.swap_acceptance] == printed["swap_acceptance"]
        assert (chain.invariant, chain.reversible, chain.irreducible) == tuple(printed[k] for k in ("invariant", "reversible", "irreducible"))
        trips = four_state.round_trips(2, [1, 2, 4], 3, schedule=schedule)
        assert [str(n) for n in trips.expected] == printed["round_trips"]["expected"]
        assert str(trips.formula) == printed["round_trips"]["formula"]


def test_mixing_is_that_of_the_command(four_state):
    for flags, powers, schedule in ((["--power", "2"], [2], "adj"), (["--powers", "1,2"], [1, 2], "deo")):
        order = ["--schedule", schedule] if len(powers) > 1 else []
        printed = json.loads(command("exact", FOUR_STATE, "--horizon", "2", *flags, *order, "--gap", "--mixing", "1/9", "--cuts", "--json"))
        found = four_state.mixing(2, powers, within="1/9", schedule=schedule)
        assert (found.steps, found.worst_start) == (printed["mixing"]["steps"], printed["mixing"]["worst_start"])
        for ends, name in ((found.before, "before"), (found.after, "after")):
            assert [str(end) for end in ends] == printed["mixing"][name]
        assert [str(end) for end in found.gap] == printed["gap"]
        for cut, name, members in ((found.first_token_cut, "cut", "first_tokens"), (found.any_cut, "any_cut", "states")):
            said = printed[name]
            assert [list(cut.classes), str(cut.mass), str(cut.flow), str(cut.conductance)] == [
                said[key] for key in (members, "mass", "flow", "conductance")]
            assert str(cut.steps_at_least("1/9")) == said["steps_at_least"]
    alone = four_state.mixing(2, [2], within=None, gap=False, cuts=False)
    assert alone == exact.Mixing(None, None, None, None, None, None, None)
    still = exact.Cut(("a",), Fraction(1, 2), Fraction(0))
    assert still.steps_at_least() is None and exact.Cut(("a",), Fraction(1, 2), Fraction(1, 2)).steps_at_least("3/4") == 0
    with pytest.raises(tempera.BadInput, match="^within: is 1; give a distance"):
        four_state.mixing(2, [2], within=1)


def test_the_compiled_law_is_that_of_the_command(four_state):
    for powers in ([2], [1, 2]):
        flags = ["--power", "2"] if len(powers) == 1 else ["--powers", "1,2"]
        printed = json.loads(command("law", FOUR_STATE, "--horizon", "2", *flags, "--json"))
        found = law.compiled(four_state, 2, powers)
        assert [[str(p) for p in row] for row in found.matrix.fractions] == printed["matrix"]
        assert [str(p) for p in found.stationary.values()] == printed["stationary"]
        for name in ("tv_to_target", "tv_own", "tv_one_step", "worst_entry"):
            assert float(getattr(found, name)) == pytest.approx(float(printed[name]), rel=1e-6)
        assert 0 < found.tv_own < 1e-12 and all(sum(row) == 1 for row in found.matrix.fractions)
    uneven = TREE / "toy_models/unequal_lengths.json"  # float32 rounds its rows
    printed = json.loads(command("law", uneven, "--horizon", "2", "--power", "2", "--json"))
    found = law.compiled(exact.FiniteModel.open(uneven), 2, [2])
    distances = [getattr(found, name) for name in ("tv_to_target", "tv_own", "tv_one_step", "worst_entry")]
    assert len({f"{float(one):.6e}" for one in distances}) == 4
    assert [f"{float(one):.6e}" for one in distances] == [printed[name] for name in ("tv_to_target", "tv_own", "tv_one_step", "worst_entry")]
    move = law.local_move(four_state, 2, 2)
    assert move.fractions == law.compiled(four_state, 2, [2]).matrix.fractions


def local_move(case, state, lottery, score_the_way_back_along=lambda x, y: x):
    """The paper's local move: restart, regenerate at the power, accept by the ratio of normalizers."""
    ((x,), model, power) = (state, case.model, case.powers[0])
    terminal = {model.vocabulary.index(token) for token in model.terminal}

    def powered(prefix):
        return [p**power for p in model.next(prefix).values()]

    r = lottery.draw([1] * case.horizon)
    if r >= len(x):
        return state
    y = list(x[:r])
    forward = Fraction(1)
    while len(y) < case.horizon and not (y and y[-1] in terminal):
        weights = powered(y)
        forward *= sum(weights)
        y.append(lottery.draw(weights))
    back = Fraction(1)
    along = score_the_way_back_along(list(x), y)
    for t in range(r, len(along)):
        back *= sum(powered(along[:t]))
    return [y if lottery.happens(min(Fraction(1), forward / back)) else list(x)]


def wrong_way_back(case, state, lottery):
    """Scores the way back to the old answer along the new one."""
    return local_move(case, state, lottery, lambda x, y: y)


def test_a_sound_step_is_found_sound(four_state):
    verdict = check.judge(local_move, four_state, horizon=2, powers=[2])
    assert verdict.sound and verdict.reversible and verdict.tv_one_step == 0
    assert verdict.matrix.fractions == four_state.local_chain(2, 2).matrix.fractions
    assert check.fault(local_move, four_state) == ""


def test_a_wrong_step_is_shown_on_the_smallest_model():
    model = exact.FiniteModel(["a", "b", "e"], ["e"], {
        "": {"a": "1/3", "b": "1/3", "e": "1/3"}, "a": {"a": "1/2", "e": "1/2"}, "b": {"b": "1/4", "e": "3/4"}}, {"e": 1})
    verdict = check.judge(wrong_way_back, model, horizon=3, powers=[2])
    assert not verdict.sound and not verdict.invariant and verdict.tv_one_step > 0
    failure = check.shrink(wrong_way_back, model, horizon=3, powers=[2])
    assert failure.case.horizon <= 2 and failure.tried > 0 and not failure.verdict.sound
    assert not check.judge(wrong_way_back, failure.case.model, failure.case.horizon, failure.case.powers).sound
    assert "flows" in check.fault(wrong_way_back, model, horizon=3) and "next" in str(failure)


def test_what_a_step_raises_leaves_the_judge(four_state):
    def broken(case, state, lottery):
        raise RuntimeError("of the user's own")

    with pytest.raises(RuntimeError, match="of the user's own"):
        check.judge(broken, four_state)


def test_bad_input_is_one_line(tmp_path):
    for build in (
        lambda: exact.FiniteModel(["a", "e"], ["e"], {"": {"a": "1/2", "e": "1/3"}}),
        lambda: exact.FiniteModel.parse("{"),
        lambda: exact.FiniteModel.open(tmp_path / "none.json"),
        lambda: exact.FiniteModel.open(FOUR_STATE).local_chain(2, 2, kernel="fixt"),
        lambda: exact.FiniteModel.open(FOUR_STATE).local_chain(2, 2, restart=["1/2"]),
        lambda: exact.FiniteModel.open(FOUR_STATE).joint_chain(2, [2, 1]),
        lambda: exact.FiniteModel.open(FOUR_STATE).power_law(2, "1/2"),
        lambda: law.compiled(exact.FiniteModel.open(FOUR_STATE), 0, [2]),
        lambda: law.compiled(exact.FiniteModel.open(FOUR_STATE), 2, ["a"]),
        lambda: law.local_move(exact.FiniteModel.open(FOUR_STATE), 2, None),
        lambda: exact.FiniteModel.open(FOUR_STATE).power_law(2, "a"),
        lambda: exact.FiniteModel.open(FOUR_STATE).power_law(2, "1/0"),
        lambda: exact.FiniteModel.open(FOUR_STATE).power_law(2, float("inf")),
        lambda: exact.FiniteModel.open(FOUR_STATE).power_law(2, float("nan")),
        lambda: exact.FiniteModel.open(FOUR_STATE).joint_chain(2, [1, None]),
        lambda: exact.total_variation({"a": "x"}, {"a": 1}),
    ):
        with pytest.raises(tempera.BadInput) as error:
            build()
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("model", ["four_state", "unequal_lengths", "several_terminals", "zero_probabilities"])
@pytest.mark.parametrize("power", [2, 3])
def test_a_kernel_whose_tries_fail_in_many_ways_is_judged_where_they_are_merged(model, power):
    """Each record of p0 is kept with p0 to an exponent; each is a way to fail."""
    judged = exact.FiniteModel.open(TREE / f"toy_models/{model}.json")

    def kernel(exponent, key):
        def step(case, state, lottery):
            law = case.model.base_law(case.horizon)
            while True:
                lottery.merge(key)
                drawn = lottery.draw(law.fractions)
                if lottery.happens(law.fractions[drawn] ** exponent):
                    return [[case.model.vocabulary.index(name) for name in law.states[drawn].split()]]

        return step

    assert check.fault(kernel(power - 1, "try"), judged, powers=[power]) == ""
    assert check.fault(kernel(power, "try"), judged, powers=[power]) != ""
    for wrong in (1, None, b"try", "\ud800"):
        with pytest.raises(tempera.BadInput, match="^key: "):
            check.fault(kernel(power - 1, wrong), judged, powers=[power])
