"""Downloads a model of the Hugging Face Hub into its cache, through huggingface_hub.

The package calls download(); the command holds this file's text and gives it to python3 (gpu/llm/models/hub_model.cpp).
"""

from __future__ import annotations

import re
import sys


def download(repository: str, file: str, revision: str, cache: str) -> str:
    """Downloads what tempera reads of a model, and returns where it is. Raises ImportError, and what huggingface_hub does."""
    from huggingface_hub import snapshot_download

    # A part of a split file names all of them.
    wanted = [re.sub(r"-\d{5}-of-(\d{5})\.gguf$", r"-*-of-\1.gguf", file)] if file else ["*.json", "*.jinja", "*.safetensors"]
    # Folders and these hold the same weights in other formats.
    others = None if file else ["*/*", "consolidated*"]
    return str(snapshot_download(repository, revision=revision, cache_dir=cache, allow_patterns=wanted, ignore_patterns=others))


if __name__ == "__main__":
    try:
        import huggingface_hub  # noqa: F401
    except ModuleNotFoundError:
        import site

        sys.path.append(site.getusersitepackages())
    try:
        download(*sys.argv[1:])
    except ModuleNotFoundError:
        sys.exit(3)
    except Exception as error:  # noqa: BLE001: whatever it is, the command says its first line
        lines = [line for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
        sys.exit(lines[0])
