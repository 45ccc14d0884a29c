"""Columns of every mixture of values: an array of numbers alone or of truths alone, else a list."""
import itertools

import numpy as np

from tempera.run_folder import columns

VALUES = {"whole": 3, "real": 2.5, "truth": True, "text": "a", "none": None, "list": [1]}


def test_a_column_is_an_array_of_numbers_or_of_truths_else_a_list():
    for kinds in itertools.chain(itertools.product(VALUES, repeat=1), itertools.product(VALUES, repeat=2), itertools.product(VALUES, repeat=3)):
        values = [VALUES[kind] for kind in kinds]
        found = columns([{"n": value} for value in values])["n"]
        is_array = set(kinds) <= {"whole", "real"} or set(kinds) == {"truth"}
        assert isinstance(found, np.ndarray) == is_array, kinds
        assert list(found) == values


def test_what_a_record_lacks_is_none_wherever_it_is():
    for lacking in range(3):
        records = [{"n": number, "more": number} for number in range(3)]
        del records[lacking]["more"]
        found = columns(records)
        assert list(found["n"]) == [0, 1, 2]
        assert found["more"] == [None if number == lacking else number for number in range(3)]
