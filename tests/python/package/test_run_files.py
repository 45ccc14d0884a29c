"""The files of a run that is under way, cut at every byte, and of one that is damaged."""
import json

import pytest

from tempera import run_files
from tempera.errors import BadInput

RECORDS = [{"kind": "round", "n": 1}, {"kind": "swap", "text": "ü\u2028\"kind\":\"round\""}, {"kind": "round", "n": [2, 3]}]
LINES = [json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for record in RECORDS]


@pytest.mark.parametrize("mark", ["", run_files.mark_of("round"), run_files.mark_of("swap"), run_files.mark_of("none")])
def test_a_file_has_its_whole_lines_wherever_it_is_cut(tmp_path, mark):
    whole = b"".join(LINES)
    for end in range(len(whole) + 1):
        (tmp_path / "samples.jsonl").write_bytes(whole[:end])
        count = whole[:end].count(b"\n")
        expected = [record for record, line in zip(RECORDS[:count], LINES) if not mark or mark.encode() in line]
        assert list(run_files.lines(tmp_path, "samples.jsonl", mark)) == expected
        assert run_files.answers_so_far(tmp_path) == count


def test_a_text_is_no_mark_of_its_line():
    """A quotation mark within a text has a backslash before it."""
    assert [run_files.mark_of("round").encode() in line for line in LINES] == [True, False, True]


def test_what_is_not_there_has_no_lines(tmp_path):
    assert list(run_files.lines(tmp_path, "samples.jsonl")) == [] and run_files.answers_so_far(tmp_path) == 0
    with pytest.raises(BadInput, match="summary.json: is not there; the run has not ended"):
        run_files.document(tmp_path, "summary.json")


@pytest.mark.parametrize("damaged", [b"7\n", b"[]\n", b"{\n", b"\n", b"\xff\n", b"null\n", b"{} {}\n"])
def test_a_line_that_is_no_record_is_named_by_its_place(tmp_path, damaged):
    for place in range(len(LINES) + 1):
        (tmp_path / "events.jsonl").write_bytes(b"".join([*LINES[:place], damaged, *LINES[place:]]))
        read = run_files.lines(tmp_path, "events.jsonl")
        for record in RECORDS[:place]:
            assert next(read) == record
        with pytest.raises(BadInput, match=f"events.jsonl, line {place + 1}: is damaged"):
            next(read)
    (tmp_path / "summary.json").write_bytes(damaged)
    with pytest.raises(BadInput, match="summary.json: is damaged"):
        run_files.document(tmp_path, "summary.json")
