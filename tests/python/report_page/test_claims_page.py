"""The page of `tempera verify --report` in headless Chromium: both widths are used, formulas are set, and links lead to what they name.

TEMPERA_PAGE_PICTURES names a folder for pictures of the page, to be looked at. `./test --all` runs this.
"""

from __future__ import annotations

import base64
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from on_screen import CONTRASTS, opened

ROOT = Path(__file__).parents[3]
TEMPERA = os.environ.get("TEMPERA", str(ROOT / "build/release/tempera"))
PICTURES = os.environ.get("TEMPERA_PAGE_PICTURES")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("claims") / "report.html"
    # Every claim decided, as a reader has it.
    done = subprocess.run([TEMPERA, "verify", "--report", str(file)], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    return file


# Each claim with its parts; how wide the page is; what is beyond the screen and does not scroll by itself.
BOXES = """
const box = element => { const b = element.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; };
const scrolls = element => { for (let e = element; e; e = e.parentElement) if (getComputedStyle(e).overflowX === "auto") return true; return false; };
return [
  [...document.querySelectorAll("article.claim")].map(claim => [claim.id, box(claim), [...claim.children].map(box)]),
  document.documentElement.scrollWidth,
  [...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > arguments[0] + 1 && !scrolls(e)).map(e => e.outerHTML.slice(0, 80)),
];
"""


def faults_of(browser: Any, width: int) -> list[str]:
    """What is wrong of the page that is open, in words."""
    claims, whole, beyond = browser.execute_script(BOXES, width)
    faults = [f"beyond the screen: {one}" for one in beyond]
    if whole > width:
        faults.append(f"the page is {whole} wide")
    for name, claim, parts in claims:
        if len(parts) != 2:
            faults.append(f"{name} has {len(parts)} parts")
            continue
        (left, right), inner = parts, claim[2] - claim[0]
        if claim[2] - claim[0] < 0.85 * width:
            faults.append(f"{name} leaves a part of the screen empty")
        if width >= 960:  # what is claimed, and beside it what became of it
            if abs(left[1] - right[1]) > 1 or left[2] > right[0]:
                faults.append(f"{name} does not stand side by side")
            if min(left[2] - left[0], right[2] - right[0]) < 0.4 * inner:
                faults.append(f"{name} leaves a half empty")
        else:
            if right[1] < left[3] - 1:
                faults.append(f"{name} has parts that overlap")
            if min(left[2] - left[0], right[2] - right[0]) < 0.85 * inner:
                faults.append(f"{name} does not use its width")
    return faults if len(claims) > 250 else [*faults, f"the page has {len(claims)} claims"]


@pytest.mark.parametrize("width", [1280, 390])
def test_every_claim_uses_the_width_of_the_screen(browser: Any, page: Path, width: int) -> None:
    assert faults_of(opened(browser, page, width), width) == []
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


@pytest.mark.parametrize(("width", "style"), [
    (1280, ".claim { display: block; }"),
    (1280, ".claim { grid-template-columns: 70ch; }"),
    (1280, "body { max-width: 60rem; }"),
    (1280, ".claim > div + div { width: 20rem; }"),
    (390, ".claim { min-width: 30rem; }"),
    (390, ".claim { display: grid; grid-template-columns: 1fr 1fr; }"),
    (390, ".claim p { overflow-x: visible; }"),
])
def test_a_style_that_is_spoilt_is_noticed(browser: Any, page: Path, width: int, style: str) -> None:
    opened(browser, page, width).execute_script("document.head.append(Object.assign(document.createElement('style'), {textContent: arguments[0]}))", style)
    assert faults_of(browser, width)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_can_be_told_from_the_page(browser: Any, page: Path, scheme: str) -> None:
    texts, _ = opened(browser, page, 1280, scheme).execute_script(CONTRASTS)
    assert len(texts) > 500 and min(contrast for _, contrast in texts) >= 4.5, min(texts, key=lambda one: one[1])


# The formulas that are no MathML or take no room, of all; and the links that lead nowhere.
FORMULAS_AND_LINKS = """
const formulas = [...document.querySelectorAll("math")];
return [
  formulas.length,
  formulas.filter(m => m.namespaceURI !== "http://www.w3.org/1998/Math/MathML" || m.getBoundingClientRect().width < 3).map(m => m.outerHTML.slice(0, 80)),
  [...document.querySelectorAll("a[href^='#']")].filter(a => !document.getElementById(a.hash.slice(1))).map(a => a.hash),
];
"""


def test_formulas_are_set_and_links_lead_somewhere(browser: Any, page: Path) -> None:
    number, unset, lost = opened(browser, page, 1280).execute_script(FORMULAS_AND_LINKS)
    assert number > 300 and unset == [] and lost == []


@pytest.mark.parametrize("width", [1280, 390])
def test_the_statement_of_a_theorem_is_seen_where_its_link_leads(browser: Any, page: Path, width: int) -> None:
    link = opened(browser, page, width).find_element("css selector", ".claim a[href^='#theorem-']")
    browser.execute_script("arguments[0].click()", link)
    top, bottom, text = browser.execute_script(
        "const b = document.querySelector('details:target pre').getBoundingClientRect();"
        "return [b.top, b.bottom, document.querySelector('details:target pre').textContent]")
    assert 0 <= top < 1000 and bottom > top + 10 and len(text) > 20


def test_pictures(browser: Any, page: Path) -> None:
    """The top of the page in each width, in the folder that is named, and nowhere else."""
    for width in (1280, 390):
        opened(browser, page, width)
        shot = base64.b64decode(browser.execute_cdp_cmd("Page.captureScreenshot", {})["data"])
        assert shot.startswith(b"\x89PNG")
        if PICTURES:
            Path(PICTURES, f"claims-{width}.png").write_bytes(shot)
