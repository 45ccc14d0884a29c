"""Data files, read strictly: what is wrong is said with its file, line and field."""

from __future__ import annotations

import contextlib
import csv
import gzip
import hashlib
import io
import json
import stat
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from tempera.errors import BadInput


class WrongRecord(BadInput):
    """Data that are not in the form that is asked for; who reads them says which form that is."""


_SPECIAL = ((stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"), (stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device"))


def require_no_special_file(path: Path, wanted: str = "file") -> None:
    """Refuses a pipe, a socket or a device at once: reading it may never end."""
    mode = path.stat().st_mode
    for is_so, name in _SPECIAL:
        if is_so(mode):
            raise BadInput(str(path), f"is {name}, and no {wanted}", f"give the name of a {wanted}")


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """The file, to be read. A pipe, a socket or a device is refused."""
    try:
        require_no_special_file(path)
        with path.open("rb") as file:
            yield file
    except OSError as error:
        raise BadInput(str(path), f"cannot be read: {error.strerror}") from None


def read_file(path: Path) -> bytes:
    """The bytes of a file. A pipe, a socket or a device is refused."""
    with _opened(path) as file:
        return file.read()


def read_text(path: Path) -> str:
    """The text of a file, unpacked if its name ends in .gz."""
    content = read_file(path)
    if path.suffix == ".gz":
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise WrongRecord(str(path), f"is not a gzip file: {error}") from None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise WrongRecord(str(path), f"is not UTF-8 at byte {error.start}") from None


def digest(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal digits."""
    found = hashlib.sha256()
    with _opened(path) as file:
        while part := file.read(1 << 20):
            found.update(part)
    return found.hexdigest()


def parse_json(text: str, where: str) -> Any:
    """A JSON document; a doubled key is refused, and so is a number that JSON does not have."""

    def without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            names = [name for name, _ in pairs]
            doubled = next(name for name in names if names.count(name) > 1)
            raise WrongRecord(where, f'the field "{doubled}" is there twice')
        return found

    def no_number(name: str) -> NoReturn:
        raise WrongRecord(where, f"is not JSON: {name} is not a number")

    try:
        return json.loads(text, object_pairs_hook=without_doubles, parse_constant=no_number)
    except BadInput:
        raise
    except json.JSONDecodeError as error:
        raise WrongRecord(where, f"is not JSON: {error.msg} at column {error.colno}") from None
    except RecursionError:
        raise WrongRecord(where, "is nested too deeply") from None
    except ValueError:  # a whole number of more digits than Python reads
        raise WrongRecord(where, "holds a number of too many digits") from None


def read_records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each object of a JSONL file, or of a file that is one JSON array, with its file and line."""
    for record, content in stored_records(path):
        yield record.where, content


@dataclass(frozen=True)
class StoredRecord:
    """A record of a data file, with its file and line. `read` gives it once more."""

    where: str
    read: Callable[[], dict[str, Any]]


def stored_records(path: Path) -> Iterator[tuple[StoredRecord, dict[str, Any]]]:
    """As read_records, with a function that reads a record once more. JSONL is read one line at a time."""
    if path.suffix == ".gz" or _is_array(path):
        for where, content in _records_of(read_text(path), path):
            yield StoredRecord(where, partial(_checked, where, content)), content
        return
    offset = 0
    with _opened(path) as file:
        # A line ends at its newline alone: U+2028 may be within a text.
        for number, line in enumerate(file, 1):
            read = partial(_line_at, path, number, offset, len(line))
            yield StoredRecord(f"{path}, line {number}", read), _record_of(line, path, number, offset)
            offset += len(line)


def _is_array(path: Path) -> bool:
    with _opened(path) as file:
        while part := file.read(4096):
            if text := part.lstrip():
                return text.startswith(b"[")
    return False


def _records_of(text: str, path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    if text.lstrip().startswith("["):
        for number, record in enumerate(parse_json(text, str(path)), 1):
            where = f"{path}, record {number}"
            yield where, _checked(where, record)
        return
    for number, line in enumerate(io.BytesIO(text.encode("utf-8")), 1):
        yield f"{path}, line {number}", _record_of(line, path, number, 0)


def _record_of(line: bytes, path: Path, number: int, offset: int) -> dict[str, Any]:
    """The object of a line that begins at a byte of its file."""
    where = f"{path}, line {number}"
    try:
        text = line.decode("utf-8").removesuffix("\n")
    except UnicodeDecodeError as error:
        raise WrongRecord(str(path), f"is not UTF-8 at byte {offset + error.start}") from None
    if not text.strip():
        raise WrongRecord(where, "is empty", "give one JSON object a line")
    return _checked(where, parse_json(text, where))


def _line_at(path: Path, number: int, offset: int, length: int) -> dict[str, Any]:
    with _opened(path) as file:
        file.seek(offset)
        return _record_of(file.read(length), path, number, offset)


def _checked(where: str, record: Any) -> dict[str, Any]:
    if not isinstance(record, dict):
        raise WrongRecord(where, "is not a JSON object")
    return record


def rows(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Each row of a CSV file that is not empty, with its file and last line."""
    reader = csv.reader(io.StringIO(read_text(path), newline=""))
    try:
        for row in reader:
            if row:
                yield f"{path}, line {reader.line_num}", row
    except csv.Error as error:
        raise WrongRecord(f"{path}, line {reader.line_num}", f"is not CSV: {error}") from None


def _field(where: str, record: dict[str, Any], name: str) -> Any:
    if name not in record:
        there = ", ".join(f'"{key}"' for key in record) or "none"
        raise WrongRecord(where, f'the field "{name}" is missing', f"the fields there are {there}")
    return record[name]


def _text(where: str, what: str, value: Any) -> str:
    if not isinstance(value, str):
        raise WrongRecord(where, f"{what} is not text")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise WrongRecord(where, f"{what} holds half a character, U+{ord(value[error.start]):04X}") from None
    return value


def text_field(where: str, record: dict[str, Any], name: str) -> str:
    """A field that must be a text."""
    return _text(where, f'the field "{name}"', _field(where, record, name))


def whole_number_field(where: str, record: dict[str, Any], name: str) -> int:
    """A field that must be a whole number."""
    value = _field(where, record, name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise WrongRecord(where, f'the field "{name}" is not a whole number')
    return value


def texts_field(where: str, record: dict[str, Any], name: str) -> list[str]:
    """A field that must be a list of texts."""
    values = _field(where, record, name)
    if not isinstance(values, list):
        raise WrongRecord(where, f'the field "{name}" is not a list')
    return [_text(where, f'entry {number} of the field "{name}"', value) for number, value in enumerate(values, 1)]


def text_or_number_field(where: str, record: dict[str, Any], name: str) -> str:
    """A field that is a text or a number, as text."""
    if isinstance(record.get(name), (int, float)) and not isinstance(record[name], bool):
        return str(record[name])
    return text_field(where, record, name)
