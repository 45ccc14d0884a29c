"""The earlier name of tempera.check, for one version."""

import warnings
from typing import Any

from tempera import check

warnings.warn("tempera_check is tempera.check now: import that", FutureWarning, stacklevel=2)


def __getattr__(name: str) -> Any:
    return getattr(check, name)
