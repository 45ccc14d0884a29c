"""The user's own code, compiled from its text.

Python keeps what it has compiled in __pycache__ and takes it again while a file's size and the second of its last change
are the same. An edit of the same length within that second would be passed over without a word.
"""
from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
import types

_STANDARD_LIBRARY = os.path.dirname(os.path.realpath(os.__file__))


class TextLoader(importlib.machinery.SourceFileLoader):
    """Compiles a module from its text, and neither reads nor writes __pycache__."""

    def get_code(self, fullname):
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def _is_installed(folder):
    """True if a folder holds Python's library or installed packages: they are large and not edited."""
    parts = os.path.realpath(folder).split(os.sep)
    library = _STANDARD_LIBRARY.split(os.sep)
    return parts[: len(library)] == library or "site-packages" in parts or "dist-packages" in parts


_finder_of = importlib.machinery.FileFinder.path_hook(
    (importlib.machinery.ExtensionFileLoader, importlib.machinery.EXTENSION_SUFFIXES),
    (TextLoader, importlib.machinery.SOURCE_SUFFIXES),
)


def _hook(folder):
    if _is_installed(folder):
        raise ImportError(f"{folder} holds installed packages")
    return _finder_of(folder)


def import_from_text():
    """From now on what is imported is compiled from its text, unless it is an installed package."""
    if _hook not in sys.path_hooks:
        sys.path_hooks.insert(0, _hook)
        sys.path_importer_cache.clear()


def module_of(name: str, file: str, source: str | bytes | None = None) -> types.ModuleType:
    """The module that a file's text defines, under its name in sys.modules.

    source: the text, if it has been read before. Raises what the module raises.
    """
    import_from_text()
    loader = TextLoader(name, file)
    spec = importlib.util.spec_from_file_location(name, file, loader=loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    exec(loader.source_to_code(loader.get_data(file) if source is None else source, file), vars(module))
    return module
