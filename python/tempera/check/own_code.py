"""The user's own code, compiled from its text.

Python keeps what it has compiled in __pycache__ and takes it again while a file's size and the second of its last change
are the same. An edit of the same length within that second would be passed over without a word.
"""
from __future__ import annotations

import hashlib
import importlib.machinery
import importlib.util
import os
import sys
import types
from collections.abc import Callable

_STANDARD_LIBRARY = os.path.dirname(os.path.realpath(os.__file__))


class TextLoader(importlib.machinery.SourceFileLoader):
    """Compiles a module from its text, and neither reads nor writes __pycache__.

    `tell` is called with the file of each module that is imported so, and the SHA-256 of its text, before the module runs.
    """

    tell: Callable[[str, str], object] | None = None

    def get_code(self, fullname):
        path = self.get_filename(fullname)
        source = self.get_data(path)
        if TextLoader.tell is not None:
            TextLoader.tell(path, hashlib.sha256(source).hexdigest())
        return self.source_to_code(source, path)


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


def import_from_text() -> None:
    """From now on what is imported is compiled from its text, unless it is an installed package."""
    if _hook not in sys.path_hooks:
        sys.path_hooks.insert(0, _hook)
        sys.path_importer_cache.clear()


def refuse_stale() -> None:
    """Ends the program with a line if a module of the user's that is imported by now was taken from __pycache__ after its text changed."""
    for module in list(sys.modules.values()):
        loader, file = getattr(module, "__loader__", None), getattr(module, "__file__", None)
        if type(loader) is not importlib.machinery.SourceFileLoader or file is None or module.__name__.partition(".")[0] == "tempera":
            continue
        is_program = module.__name__ == "__main__"
        if is_program and module.__spec__ is None:
            continue  # a file that Python was given is compiled from its text
        if not _is_installed(os.path.dirname(file)) and loader.get_code(loader.name) != loader.source_to_code(loader.get_data(file), file):
            remedy = "delete __pycache__" if is_program else "import tempera.check first, or delete __pycache__"
            print(f"{file}: has changed since Python compiled it; {remedy}", file=sys.stderr)
            raise SystemExit(2)


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
