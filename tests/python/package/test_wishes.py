"""The checks of arguments at their bounds: the last value that each takes, and the first that it refuses."""
import json
import math
from fractions import Fraction

import numpy as np
import pytest

from tempera import wishes
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
