"""A report's pages in headless Chromium: nothing is cut, nothing overlaps, and both colour schemes can be read.

TEMPERA_PAGE_PICTURES names a folder for pictures of the pages, to be looked at. `./test --all` runs this.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver

from tempera.eval.command import main

ROOT = Path(__file__).parents[3]
TEMPERA = os.environ.get("TEMPERA", str(ROOT / "build/release/tempera"))
MODEL = ROOT / "toy_models/worked_sum"
PICTURES = os.environ.get("TEMPERA_PAGE_PICTURES")
LADDER = ["--powers", "1,1.6,2.5,4", "--horizon", "28", "--block", "4"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))
    driver.set_page_load_timeout(60)
    yield driver
    driver.quit()


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


def opened(browser: Any, page: Path, width: int, scheme: str = "light") -> Any:
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": width < 600})
    browser.get(page.as_uri())
    return browser


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


# The contrast of each text and of each curve with what is under it, as WCAG has it.
CONTRASTS = """
const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
function channels(colour) {
  canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data];
}
function luminance([r, g, b]) {
  const [x, y, z] = [r, g, b].map(c => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * x + 0.7152 * y + 0.0722 * z;
}
function under(element) {
  for (let e = element; e; e = e.parentElement) { const c = channels(getComputedStyle(e).backgroundColor); if (c[3] === 255) return c; }
  return [255, 255, 255, 255];
}
function contrast(colour, element) {
  const [a, b] = [luminance(channels(colour)), luminance(under(element))].sort((x, y) => y - x);
  return (a + 0.05) / (b + 0.05);
}
const texts = [...document.querySelectorAll("h1, h2, h3, p, td, th, small, li, pre")].map(e => [e.textContent.slice(0, 40), contrast(getComputedStyle(e).color, e)]);
const plotted = [...document.querySelectorAll("svg text")].map(e => [e.textContent, contrast(getComputedStyle(e).fill, e)]);
const curves = [...document.querySelectorAll("svg polyline, svg path, svg .legend line")].map(e => [e.outerHTML.slice(0, 60), contrast(getComputedStyle(e).stroke, e)]);
return [[...texts, ...plotted], curves];
"""


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
