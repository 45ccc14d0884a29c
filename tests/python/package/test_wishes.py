"""The checks of arguments at their bounds: the last value that each takes, and the first that it refuses."""
import json
import math
from fractions import Fraction

import numpy as np
import pytest

from tempera import errors, wishes
from tempera.errors import BadInput


@pytest.mark.parametrize("check, least, most", [
    (wishes.token, 0, 2**32 - 1),
    (wishes.whole, 0, 2**64 - 1),
    (lambda name, value: wishes.whole(name, value, 3, 7), 3, 7),
    (wishes._at_least_one, 1, 2**64 - 1),
])
def test_whole_numbers_are_taken_from_the_least_to_the_most(check, least, most):
    for value in (least, most, np.uint64(most)):
        assert check("it", value) == int(value)
    for value in (least - 1, most + 1, float(least), str(least), None, True):
        with pytest.raises(BadInput, match="it: "):
            check("it", value)


def test_a_truth_is_one_of_two_values_however_it_is_written():
    for value in (False, True, 0, 1, np.False_, np.True_, np.int64(0), np.int64(1)):
        assert wishes.truth("it", value) is bool(value)
    for value in (-1, 2, 10**30, np.int64(2), 0.0, 1.0, math.nan, "yes", "", None, []):
        with pytest.raises(BadInput, match="it: .*neither True nor False"):
            wishes.truth("it", value)


def test_a_number_is_real_and_no_larger_than_a_float():
    for value in (0, -1.5, 10**308, Fraction(1, 3), np.float32(2.5), np.int8(-3), math.inf):
        assert wishes.number("it", value) == float(value)
    for value in (10**400, -(10**400), Fraction(10**400, 3), True, "1", None, 1j, [1], np.array([1.0])):
        with pytest.raises(BadInput, match="it: ") as caught:
            wishes.number("it", value)
        assert "\n" not in str(caught.value)


def test_a_message_is_a_role_and_a_content_and_nothing_else():
    good = {"role": "user", "content": "x"}
    assert wishes.raw_prompt([good, good]) == [("user", "x"), ("user", "x")]
    wrong = [{}, {"role": "user"}, {"content": "x"}, {**good, "name": "a"}, {**good, "": ""}, {"role": "user", "text": "x"}, 1, "x", None, [good]]
    for message in wrong:
        for messages, place in (([good, message], 2), ([message, good], 1), ([good, good, message, good], 3)):
            with pytest.raises(BadInput, match=f"^prompt, message {place}: it needs role and content alone"):
                wishes.raw_prompt(messages)
    for name in good:
        for value in (1, None, b"x", ["x"], "\ud800"):
            with pytest.raises(BadInput, match="^prompt, message 2: "):
                wishes.raw_prompt([good, {**good, name: value}])


def test_what_a_template_is_told_of_thinking_is_what_was_said_of_it_in_either_way():
    for said in (None, False, True, np.True_, 0):
        for given in ({}, {"enable_thinking": None}, {"enable_thinking": False}, {"enable_thinking": True}):
            told = {one for one in (said, given.get("enable_thinking")) if one is not None}
            if len(told) > 1:
                with pytest.raises(BadInput, match="^thinking: differs"):
                    wishes.chat_arguments(said, given)
                continue
            expected = {**given, "effort": "low", **({} if said is None else {"enable_thinking": bool(said)})}
            assert json.loads(wishes.chat_arguments(said, {**given, "effort": "low"})) == expected


@pytest.mark.parametrize("letter", ["a", "ü", "€"])
def test_a_path_is_of_fewer_bytes_than_the_system_takes(letter):
    size = len(letter.encode())
    longest = letter * (4095 // size) + "a" * (4095 % size)  # PATH_MAX counts the NUL at its end
    assert wishes.path("it", longest) == longest
    for wrong in ("a" + longest, longest + letter, "a\0b", "\0", "", "\ud800", 1, None):
        with pytest.raises(BadInput, match="^it: "):
            wishes.path("it", wrong)


@pytest.mark.parametrize("check, taken, refused", [
    (wishes.confidence, [5e-324, 0.5, math.nextafter(1, 0)], [0, 1, -5e-324, math.nextafter(1, 2), math.nan, math.inf]),
    (lambda value: wishes._seconds("it", value), [0, 5e-324, 1e6], [-5e-324, math.nextafter(1e6, math.inf), math.nan, math.inf, -1]),
    (lambda value: wishes.finite("it", value), [-1.7976931348623157e308, 0, 1.7976931348623157e308], [math.nan, math.inf, -math.inf]),
])
def test_numbers_are_taken_up_to_their_bounds(check, taken, refused):
    for value in taken:
        assert check(value) == value
    for value in refused:
        with pytest.raises(BadInput):
            check(value)


@pytest.mark.parametrize("values", [[], (), np.array([])])
def test_weights_are_one_at_least(values):
    assert wishes._weights("it", [7]) == [7]
    with pytest.raises(BadInput, match="it: are an empty list"):
        wishes._weights("it", values)


def refused(call):
    with pytest.raises(BadInput) as caught:
        call()
    return str(caught.value)


def test_a_bound_is_told_as_people_write_it():
    for most, told in ((7, "7"), (255, "255"), (65535, "65535"), (2**17 - 1, "2^17 - 1"), (2**32 - 1, "2^32 - 1"), (2**32, "4294967296"), (2**64 - 1, "2^64 - 1"), (10**6, "1000000")):
        assert refused(lambda: wishes.whole("it", -1, 0, most)) == f"it: -1 is not a whole number from 0 to {told}"  # noqa: B023
    assert refused(lambda: wishes.whole("it", 2, 3, 7)) == "it: 2 is not a whole number from 3 to 7"


def test_lists_are_checked_one_by_one_and_sets_and_texts_are_none():
    doubled = lambda name, value: wishes.whole(name, value) * 2  # noqa: E731
    for values in ([1, 2], (1, 2), range(1, 3), np.array([1, 2]), iter([1, 2])):
        assert wishes.several("it", values, doubled, "[1]") == [2, 4]
    for wrong in ("12", b"12", bytearray(b"12"), {1, 2}, frozenset([1]), {1: 2}, 1, None, np.array(3)):
        assert refused(lambda: wishes.several("it", wrong, doubled, "[1, 2]")).endswith(" is not a list; give one such as [1, 2]")  # noqa: B023
    assert refused(lambda: wishes.several("it", [1, -2], doubled, "[1]")).startswith("it: -2 ")


def test_names_and_texts_are_as_they_are():
    assert (wishes.identity("it", 7), wishes.identity("it", "7a"), wishes.identity("it", np.int64(3))) == ("7", "7a", "3")
    assert wishes.not_empty("it", " ") == " " and wishes.text("it", "") == "" and wishes.called("it", len) is len
    assert refused(lambda: wishes.text("it", "ab\udc80")) == "it: character 3 is '\\udc80', half of a surrogate pair; give text that UTF-8 can hold"
    assert wishes._limit("it", -1) == 0 and wishes._limit("it", 0) == 0 and wishes._limit("it", 5) == 5 and refused(lambda: wishes._limit("it", -2))
    for value, expected in ((2, [2.0]), (np.float64(1.5), [1.5]), (Fraction(1, 2), [0.5]), ([1, 2], [1.0, 2.0]), (np.array([1.0, 4.0]), [1.0, 4.0])):
        assert wishes._powers("it", value) == expected and all(type(one) is float for one in wishes._powers("it", value))
    assert wishes._counts("it", 3) == 3 and wishes._counts("it", (3, 0)) == [3, 0] and wishes._stops("it", "ab") == ["ab"] and wishes._stops("it", ("a", "b")) == ["a", "b"]


def test_what_is_left_out_is_none_and_a_length_has_two_names():
    given = {"powers": 2, "horizon": None, "max_tokens": 8, "seed": None, "stop": "x", "top_k": -1, "rounds": [1, 2], "batch": 3, "early_rejection": np.True_, "sampler": "ppt"}
    assert wishes.checked(given, wishes.SAMPLER) == {"powers": [2.0], "horizon": 8, "stop": ["x"], "top_k": 0, "rounds": [1, 2], "early_rejection": True, "sampler": "ppt"}
    assert wishes.checked(given, wishes.LAYOUT) == {"batch": 3} and wishes.checked({"horizon": 8, "max_tokens": 8}, wishes.SAMPLER) == {"horizon": 8}
    assert wishes.checked({"max_tokens": 8}, ("horizon",)) == {}
    assert refused(lambda: wishes.checked({"horizon": 7, "max_tokens": 8}, wishes.SAMPLER)) == "max_tokens: 8 differs from horizon, 7; give one of them"
    for name, wrong in (("batch", 0), ("under_way", 0), ("cache_memory", -1), ("seed", -1), ("powers", "1"), ("stop", 1), ("early_rejection", 2), ("rounds", [-1]), ("restart_weights", [])):
        assert refused(lambda: wishes.checked({name: wrong}, (name,))).startswith(f"{name}: ")  # noqa: B023
    wishes.check_names(["powers", "seed"], ("seed", "powers"), "f")
    for wrong, told in (("power", r"f\(\) has no argument 'power'; did you mean 'powers'\?$"), ("zzz", r"f\(\) has no argument 'zzz'$")):
        with pytest.raises(TypeError, match=told):
            wishes.check_names(["seed", wrong], ("seed", "powers"), "f")


def test_a_prompt_is_one_or_several():
    message = {"role": "user", "content": "x"}
    for one in ("", "text", [1, 2], (1,), np.array([1, 2]), [np.int64(3)], [message], (message, message)):
        assert wishes.is_one(one), one
    for many in ([], ["a"], ["a", [1]], [[1], [2]], [[message]], [np.array([1])], (prompt for prompt in ["a"]), iter([1])):
        assert not wishes.is_one(many), many
    for wrong in (1, None, message, b"a", {1}, 1.5):
        assert refused(lambda: wishes.is_one(wrong)).startswith("prompt: ") and refused(lambda: wishes.raw_prompt(wrong)).startswith("prompt: ")  # noqa: B023
    assert wishes.raw_prompt(np.array([1, 2])) == [1, 2] and wishes.raw_prompt([]) == [] and wishes.raw_prompt("a") == "a"
    assert refused(lambda: wishes.raw_prompt([1, 2**32])).startswith("prompt: 4294967296 is not")


def test_an_error_is_one_line_of_its_parts():
    for parts, line in (((("a",)), "a"), (("a", "b"), "a: b"), (("a", "", "c"), "a; c"), (("a", "b", "c"), "a: b; c"), (("a\n b", "c\t\td"), "a b: c d")):
        error = BadInput(*parts)
        assert str(error) == line and (error.place, error.problem, error.remedy) == (*parts, "", "")[:3]
    for size in (199, 200, 201, 1000):
        shown = errors.shown("x" * (size - 2))
        assert len(shown) == min(size, 200) and shown.endswith("…") == (size > 200) and shown.startswith("'xx")
    for name, kinds in (("ModelError", (ArithmeticError,)), ("DeviceError", (RuntimeError,)), ("Bug", (RuntimeError,)), ("BadInput", (ValueError,))):
        assert issubclass(getattr(errors, name), (*kinds,)) and issubclass(getattr(errors, name), errors.Error)
