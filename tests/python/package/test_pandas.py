"""What a run folder gives is what pandas takes. tests/python/check_wheels installs pandas; ./test alone does not."""
import pandas
from conftest import FLAGS, PROMPT, WORKED_SUM, command

import tempera


def test_columns_are_frames_as_they_are(tmp_path):
    command("sample", "--model", WORKED_SUM, *FLAGS, PROMPT, "--samples", "2", "--out", tmp_path / "run")
    run = tempera.RunFolder(tmp_path / "run")
    swaps = pandas.DataFrame(run.events("swap"))
    assert swaps.groupby("rung").accepted.mean().tolist() == [edge["accepted"] / edge["attempts"] for edge in run.summary["edges"]]
    samples = pandas.DataFrame(run.samples)
    assert samples.log_p0.tolist() == [answer.log_p0 for answer in run.answers()] and len(samples) == 2
