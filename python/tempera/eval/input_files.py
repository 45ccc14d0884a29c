"""Data files, read strictly: what is wrong is said with its file, line and field."""

from __future__ import annotations

import gzip
import hashlib
import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tempera.errors import BadInput


_SPECIAL = ((stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"), (stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device"))


def require_no_special_file(path: Path, wanted: str = "file") -> None:
    """Refuses a pipe, a socket or a device at once: reading it may never end."""
    mode = path.stat().st_mode
    for is_so, name in _SPECIAL:
        if is_so(mode):
            raise BadInput(str(path), f"is {name}, and no {wanted}", f"give the name of a {wanted}")


def read_file(path: Path) -> bytes:
    """The bytes of a file. A pipe, a socket or a device is refused."""
    try:
        require_no_special_file(path)
        return path.read_bytes()
    except OSError as error:
        raise BadInput(str(path), f"cannot be read: {error.strerror}") from None


def read_text(path: Path) -> str:
    """The text of a file, unpacked if its name ends in .gz."""
    content = read_file(path)
    if path.suffix == ".gz":
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError) as error:
            raise BadInput(str(path), f"is no gzip file: {error}") from None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(str(path), f"is not UTF-8 at byte {error.start}") from None


def digest(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal digits."""
    return hashlib.sha256(read_file(path)).hexdigest()


def parse_json(text: str, where: str) -> Any:
    """A JSON document; a doubled key is refused."""

    def without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            names = [name for name, _ in pairs]
            doubled = next(name for name in names if names.count(name) > 1)
            raise BadInput(where, f'the field "{doubled}" is there twice')
        return found

    try:
        return json.loads(text, object_pairs_hook=without_doubles)
    except json.JSONDecodeError as error:
        raise BadInput(where, f"is no JSON: {error.msg} at column {error.colno}") from None


def read_records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each object of a JSONL file, or of a file that is one JSON array, with its file and line."""
    text = read_text(path)
    if text.lstrip().startswith("["):
        for number, record in enumerate(parse_json(text, str(path)), 1):
            yield _checked(f"{path}, record {number}", record)
        return
    # Not splitlines: a text in the JSON may hold U+2028 or another letter that ends a line for it.
    lines = text.removesuffix("\n").split("\n") if text else []
    for number, line in enumerate(lines, 1):
        where = f"{path}, line {number}"
        if not line.strip():
            raise BadInput(where, "is empty", "give one JSON object a line")
        yield _checked(where, parse_json(line, where))


def _checked(where: str, record: Any) -> tuple[str, dict[str, Any]]:
    if not isinstance(record, dict):
        raise BadInput(where, "is no JSON object")
    return where, record


def text_field(where: str, record: dict[str, Any], name: str) -> str:
    """A field that must be a text."""
    if name not in record:
        there = ", ".join(f'"{key}"' for key in record) or "none"
        raise BadInput(where, f'the field "{name}" is missing', f"the fields there are {there}")
    value = record[name]
    if not isinstance(value, str):
        raise BadInput(where, f'the field "{name}" is no text')
    return value


def text_or_number_field(where: str, record: dict[str, Any], name: str) -> str:
    """A field that is a text or a number, as text."""
    if isinstance(record.get(name), (int, float)) and not isinstance(record[name], bool):
        return str(record[name])
    return text_field(where, record, name)
