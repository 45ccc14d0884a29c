"""A page on a screen of some width, and how well its texts can be told from what is under them."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def opened(browser: Any, page: Path, width: int, scheme: str = "light") -> Any:
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": width < 600})
    browser.get(page.as_uri())
    return browser


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
