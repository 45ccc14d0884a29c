"""A packed file that was torn off anywhere is refused by its name, and whole it is read."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from tempera.eval.input_files import WrongRecord, read_text


def test_a_packed_file_that_is_torn_off_or_flipped_anywhere_is_refused(tmp_path: Path) -> None:
    packed = gzip.compress("a sentence, and ü\n".encode() * 3, mtime=0)
    path = tmp_path / "data.jsonl.gz"
    path.write_bytes(packed)
    assert read_text(path) == "a sentence, and ü\n" * 3
    for end in range(1, len(packed)):
        path.write_bytes(packed[:end])
        with pytest.raises(WrongRecord, match="data.jsonl.gz: is not a gzip file"):
            read_text(path)
