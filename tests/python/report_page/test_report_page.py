"""A report's pages in headless Chromium: nothing is cut, nothing overlaps, and both colour schemes can be read.

TEMPERA_PAGE_PICTURES names a folder for pictures of the pages, to be looked at. `./test --all` runs this.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
from pathlib import Path
from typing import Any

import pytest
from on_screen import CONTRASTS, opened

from tempera.eval.command import main

ROOT = Path(__file__).parents[3]
TEMPERA = os.environ.get("TEMPERA", str(ROOT / "build/release/tempera"))
MODEL = ROOT / "toy_models/worked_sum"
PICTURES = os.environ.get("TEMPERA_PAGE_PICTURES")
LADDER = ["--powers", "1,1.6,2.5,4", "--horizon", "28", "--block", "4"]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Every kind of page: all samplers, each sweep, several evaluations, and answers of another program with a long name."""
    folder = tmp_path_factory.mktemp("pages")
    found = {}

    def stages(name: str, *more: str, task: tuple[str, ...] = ("--task", "own", "--grader", "worked-sum"), data: Path = MODEL / "held_out.jsonl") -> str:
        out = str(folder / name)
        asked = ["run", *task, "--data", str(data), "--out", out, "--limit", "6", *more]
        if "--answers" not in more:
            asked += ["--tempera", TEMPERA, "--model", str(MODEL), *LADDER]
        assert main(asked) == 0 and main(["grade", out]) == 0 and main(["report", out]) == 0
        found[name] = folder / name / "report.html"
        return out

    every = "standard,low-temperature,power-sampling,fixed-horizon,power-smc,ppt,uncoupled-ladder,uncoupled-ladder-by-likelihood,best-of-n"
    stages("samplers", "--samplers", every, "--seeds", "2", "--all-rungs", "--rounds", "3")
    for kind in ("replicas", "ladder", "schedule"):
        stages(kind, "--sweep", kind, "--rounds", "2")
    stages("rounds", "--sweep", "rounds")
    answers = folder / "the_answers_of_another_program_whose_file_has_a_long_name.jsonl"
    answers.write_text("".join(json.dumps({"id": f"held_out-{n}", "answer": "=1"}) + "\n" for n in range(1, 7)))
    stages("answers", "--answers", str(answers))
    questions = folder / "gsm8k.jsonl"
    questions.write_text("".join(json.dumps({"question": "1+2?", "answer": "#### 3"}) + "\n" for _ in range(1319)))
    benchmark = stages("gsm8k", "--prompting", "raw", "--template", "plain", "--rounds", "2", task=("--task", "gsm8k"), data=questions)
    assert main(["report", str(folder / "samplers"), benchmark, "--out", str(folder / "tables")]) == 0
    return {**found, "tables": folder / "tables/tables.html"}


NAMES = ("samplers", "replicas", "ladder", "schedule", "rounds", "answers", "gsm8k", "tables")


# What is written in each plot, with its box on the screen and that of the plot.
TEXTS = """
return [...document.querySelectorAll("svg.plot")].map(plot => {
  const box = element => { const b = element.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; };
  return [box(plot), [...plot.querySelectorAll("text")].map(text => [text.textContent, box(text)])];
});
"""


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", [1280, 390])
def test_every_text_of_a_plot_is_whole_and_alone(browser: Any, pages: dict[str, Path], name: str, width: int) -> None:
    plots = opened(browser, pages[name], width).execute_script(TEXTS)
    assert plots or name == "tables"
    for (left, top, right, bottom), texts in plots:
        assert texts
        for text, box in texts:
            assert left - 1 <= box[0] and box[2] <= right + 1 and top - 1 <= box[1] and box[3] <= bottom + 1, (text, box, (left, top, right, bottom))
            assert box[3] - box[1] >= 9, (text, box)  # it can be read
        for (one, a), (other, b) in itertools.combinations(texts, 2):
            apart = a[2] <= b[0] + 1 or b[2] <= a[0] + 1 or a[3] <= b[1] + 1 or b[3] <= a[1] + 1
            assert apart, (one, other, a, b)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_is_as_wide_as_the_screen(browser: Any, pages: dict[str, Path], name: str, width: int) -> None:
    """A table that is wider scrolls by itself."""
    assert opened(browser, pages[name], width).execute_script("return document.documentElement.scrollWidth") <= width
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["samplers", "ladder", "tables"])
def test_texts_and_curves_can_be_told_from_the_page(browser: Any, pages: dict[str, Path], name: str, scheme: str) -> None:
    texts, curves = opened(browser, pages[name], 1280, scheme).execute_script(CONTRASTS)
    assert len(texts) > 20 and min(contrast for _, contrast in texts) >= 4.5, min(texts, key=lambda one: one[1])
    assert all(contrast >= 3 for _, contrast in curves), min(curves, key=lambda one: one[1])


def test_pictures(browser: Any, pages: dict[str, Path]) -> None:
    """One of each page in each scheme and width, in the folder that is named, and nowhere else."""
    for name, width, scheme in itertools.product(NAMES, (1280, 390), ("light", "dark")):
        opened(browser, pages[name], width, scheme)
        size = browser.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        shot = base64.b64decode(browser.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})["data"])
        assert shot.startswith(b"\x89PNG") and size["height"] > 300
        if PICTURES:
            Path(PICTURES, f"{name}-{width}-{scheme}.png").write_bytes(shot)
