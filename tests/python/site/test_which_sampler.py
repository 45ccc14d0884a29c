"""The picture of docs/explanation/when_ppt_helps.md is what the command draws, and its sentences hold of the exact figures."""

from __future__ import annotations

import json
import pathlib
import subprocess

import pytest

from test_site import TEMPERA, TREE

MODELS = ("bimodal", "four_state", "late_payoff", "unequal_lengths")


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, dict[str, tuple[float, float]]]]:
    """The picture, and of each model (tokens, TV) by sampler."""
    picture = tmp_path_factory.mktemp("picture") / "which.svg"
    files = [str(pathlib.Path("toy_models") / f"{name}.json") for name in MODELS]
    asked = [TEMPERA, "compare", *files, "--powers", "1,2,4", "--rounds", "4", "--json", "--plot", str(picture)]
    found = json.loads(subprocess.run(asked, capture_output=True, text=True, check=True, cwd=TREE).stdout)["models"]
    figures = {
        name: {row["sampler"]: (float(row["decode_tokens_decimal"]), float(row["tv_decimal"])) for row in model["samplers"]}
        for name, model in zip(MODELS, found)
    }
    return picture.read_text(), figures


def test_the_picture_is_what_the_command_draws(compared: tuple[str, object]) -> None:
    assert (TREE / "docs/explanation/which_sampler.svg").read_text() == compared[0]


def test_the_table_says_what_the_laws_say(compared: tuple[str, dict[str, dict[str, tuple[float, float]]]]) -> None:
    figures = compared[1]
    for name in MODELS:
        assert figures[name]["exact-rejection"][1] == 0
        near = {sampler: tokens for sampler, (tokens, tv) in figures[name].items() if tv <= 0.02}
        cheapest = min(near, key=lambda sampler: near[sampler])
        assert cheapest == ("ppt" if name == "late_payoff" else "exact-rejection")
    assert round(figures["late_payoff"]["ppt"][0]) == 49 and round(figures["late_payoff"]["exact-rejection"][0]) == 64
    assert round(figures["bimodal"]["exact-rejection"][0]) == 361 and set(near) and {
        sampler for sampler, (_, tv) in figures["bimodal"].items() if tv <= 0.02
    } == {"exact-rejection"}  # fmt: skip
