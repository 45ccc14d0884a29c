"""Headless Chromium for the tests of pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from chromium import chromium


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    with chromium() as driver:
        yield driver
