"""Data files are read whole, and what is wrong in them is said with its file and place."""

from __future__ import annotations

import gzip
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from tempera.errors import BadInput
from tempera.eval.evaluation import Plan
from tempera.eval.input_files import WrongRecord, digest, read_records, read_text


def test_a_packed_file_that_is_torn_off_or_flipped_anywhere_is_refused(tmp_path: Path) -> None:
    packed = gzip.compress("a sentence, and ü\n".encode() * 3, mtime=0)
    path = tmp_path / "data.jsonl.gz"
    path.write_bytes(packed)
    assert read_text(path) == "a sentence, and ü\n" * 3
    for end in range(1, len(packed)):
        path.write_bytes(packed[:end])
        with pytest.raises(WrongRecord, match="data.jsonl.gz: is not a gzip file"):
            read_text(path)


# These pack to a stored block, to a block of fixed codes, and to one with codes of its own.
@pytest.mark.parametrize(("text", "level"), [("ü, 1\n" * 9, 0), ("ü, 1\n" * 9, 9), ("".join(f"{n * n}: a sentence, and ü\n" for n in range(99)), 9)])
def test_a_packed_file_with_a_flipped_byte_is_refused_or_has_its_text(tmp_path: Path, text: str, level: int) -> None:
    packed = gzip.compress(text.encode(), level, mtime=0)
    path = tmp_path / "data.jsonl.gz"
    refused = 0
    for place in range(len(packed)):
        for flip in (1, 16, 255):
            path.write_bytes(packed[:place] + bytes([packed[place] ^ flip]) + packed[place + 1 :])
            try:
                # Bytes of its header, such as the time, say nothing of the text.
                assert read_text(path) == text, place
            except WrongRecord as error:
                assert "data.jsonl.gz: is not a gzip file" in str(error) and "\n" not in str(error)
                refused += 1
    assert refused >= 3 * (len(packed) - 10)


@pytest.mark.parametrize("place", [1, 2, 3])
def test_what_is_no_record_is_named_by_its_place(tmp_path: Path, place: int) -> None:
    records = ["7" if number == place else f'{{"id": "{number}"}}' for number in (1, 2, 3)]
    lines = "\n".join(records) + "\n"
    for name, content, what in (
        ("array.json", f"[{', '.join(records)}]".encode(), "record"),
        ("lines.jsonl", lines.encode(), "line"),
        ("lines.jsonl.gz", gzip.compress(lines.encode()), "line"),
        ("array.json.gz", gzip.compress(f"[{', '.join(records)}]".encode()), "record"),
    ):
        (tmp_path / name).write_bytes(content)
        read = read_records(tmp_path / name)
        for number in range(1, place):
            assert next(read) == (f"{tmp_path / name}, {what} {number}", {"id": str(number)})
        with pytest.raises(WrongRecord, match=f"{name}, {what} {place}: is not a JSON object"):
            next(read)


@pytest.mark.parametrize("changed", [0, 1, 2])
def test_each_data_file_must_be_that_of_the_answers(tmp_path: Path, changed: int) -> None:
    files = [tmp_path / f"{number}.jsonl" for number in range(3)]
    for file in files:
        file.write_text("{}\n")
    values: dict[str, Any] = {one.name: "" for one in fields(Plan)}
    values.update(data=tuple(map(str, files)), data_digests=tuple(map(digest, files)))
    files[changed].write_text("{} \n")
    with pytest.raises(BadInput, match=f"{changed}.jsonl: is another file than the one that the answers were drawn for"):
        Plan(**values).read_task()
