"""Every page of the site in headless Chromium, wide and narrow, light and dark. TEMPERA_PAGE_PICTURES names a folder for pictures."""

from __future__ import annotations

import base64
import os
import pathlib
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.support.ui import WebDriverWait

from chromium import chromium

TREE = pathlib.Path(__file__).resolve().parents[4]
HTML = TREE / "build/site/html"
PICTURES = os.environ.get("TEMPERA_PAGE_PICTURES")
SCREENS = [(1280, "light"), (1280, "dark"), (768, "light"), (375, "light"), (375, "dark")]
# The contrast of a page's text with its background; WCAG asks for 4.5.
CONTRAST = """
const light = (text) => {
  const parts = text.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255).map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
};
const a = light(getComputedStyle(document.querySelector("article p")).color), b = light(getComputedStyle(document.body).backgroundColor);
return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
"""
# Elements that reach beyond the screen, but for those in a box that scrolls.
BEYOND = """
return [...document.querySelectorAll("article *")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1
  && !e.closest(".table-wrapper, pre, .highlight, dt, .headerlink")).map((e) => e.tagName + ": " + e.textContent.trim().slice(0, 60)).slice(0, 3);
"""


@pytest.fixture(scope="module")
def pages() -> list[pathlib.Path]:
    done = subprocess.run([sys.executable, str(TREE / "docs/build")], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return sorted(page for page in HTML.rglob("*.html") if "_static" not in page.parts)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as driver:
        yield driver


def show(browser: Any, page: pathlib.Path, width: int, scheme: str) -> None:
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600})
    browser.get(page.as_uri())


@pytest.mark.parametrize("width, scheme", SCREENS)
def test_no_page_is_wider_than_its_screen(browser: Any, pages: list[pathlib.Path], width: int, scheme: str) -> None:
    assert len(pages) > 60
    wrong = []
    for page in pages:
        show(browser, page, width, scheme)
        if browser.execute_script("return document.documentElement.scrollWidth") > width or browser.execute_script(BEYOND):
            wrong.append((str(page.relative_to(HTML)), browser.execute_script(BEYOND)))
        if page.parent.name == "tutorials":
            assert browser.execute_script(CONTRAST) >= 7, page
        if PICTURES:
            picture = browser.execute_cdp_cmd("Page.captureScreenshot", {})
            name = str(page.relative_to(HTML)).replace("/", "-").removesuffix(".html")
            pathlib.Path(PICTURES, f"{name}-{width}-{scheme}.png").write_bytes(base64.b64decode(picture["data"]))
    assert wrong == []
    errors = [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE" and "favicon" not in entry["message"]]
    assert errors == []


def test_a_page_that_is_too_wide_is_seen(browser: Any, pages: list[pathlib.Path]) -> None:
    show(browser, pages[0], 375, "light")
    browser.execute_script("document.querySelector('article').insertAdjacentHTML('beforeend', '<div style=\"width:2000px\">wide</div>')")
    assert browser.execute_script(BEYOND) == ["DIV: wide"]


def test_the_site_can_be_searched(browser: Any, pages: list[pathlib.Path]) -> None:
    browser.get((HTML / "search.html").as_uri() + "?q=counterexample")
    WebDriverWait(browser, 120, 0.1, [StaleElementReferenceException]).until(lambda _: "Your first counterexample" in browser.find_element("id", "search-results").text)
