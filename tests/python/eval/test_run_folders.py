"""A run folder's columns where its events are silent."""

from __future__ import annotations

import json
from pathlib import Path

from tempera.eval.run_folders import _last_confidences


def test_the_confidence_is_that_of_the_last_round_or_none(tmp_path: Path) -> None:
    def confidences(rounds: list[dict[str, object]], log_p0: float = -2.0) -> dict[tuple[str, int], float]:
        sample = {"id": "a", "sample": 0, "log_p0": log_p0}
        (tmp_path / "samples.jsonl").write_text(json.dumps(sample) + "\n")
        events = [json.dumps({"kind": "round", "id": "a", "sample": 0, **one}, separators=(",", ":")) for one in rounds]
        (tmp_path / "events.jsonl").write_text("".join(line + "\n" for line in events))
        return _last_confidences(tmp_path)

    known = {"log_p0": [-3.0, -2.0], "confidence": [0.1, 0.2]}
    silent = {"log_p0": [-3.0, -2.0]}
    elsewhere = {"log_p0": [-3.0, -4.0], "confidence": [0.3, 0.4]}
    for first in (known, silent, elsewhere):
        assert confidences([first, known]) == {("a", 0): 0.2}
        assert confidences([first, silent]) == {}
        assert confidences([first, elsewhere]) == {}
    assert confidences([]) == {}
