"""The settings of samplers, as the rows of settings/fields.hpp declare them.

    tempera presets --settings --json | python -m tempera.settings [--check] TREE

writes what repeats the rows in a source tree: the types of SamplerWishes, and _settings.py. With --check it writes nothing, and
fails if one of them is out of date. With --page in place of TREE it prints the page of the site that lists them.
"""

from __future__ import annotations

import functools
import json
import sys
from pathlib import Path
from typing import Any

from tempera._settings import TEXT

_TYPES = {
    "text": "str", "choice": "str", "count": "int", "limit": "int", "counts": "int | Sequence[int]", "weights": "Sequence[int]",
    "powers": "Powers", "number": "float", "truth": "bool", "texts": "str | Sequence[str]",
}  # fmt: skip
_MARK = "    # Written by python -m tempera.settings from settings/fields.hpp.\n"


@functools.cache
def described() -> dict[str, Any]:
    """All settings and samplers. The copy in this package serves what has neither extension nor command, such as `grade`."""
    found: dict[str, Any] = json.loads(TEXT)
    return found


def kinds() -> dict[str, str]:
    """The kind of each setting's value, by its name."""
    return {setting["key"]: setting["kind"] for setting in described()["settings"]}


def default(key: str) -> Any:
    """The value of a setting that is left open."""
    return next(setting["default"] for setting in described()["settings"] if setting["key"] == key)


def samplers_taking(key: str) -> tuple[str, ...]:
    """The samplers on which a setting has an effect."""
    return tuple(sampler["name"] for sampler in described()["samplers"] if key in sampler["takes"])


def takes(sampler: str, key: str) -> bool:
    """True if a setting has an effect on a sampler; no setting has one on an unknown sampler."""
    return sampler in samplers_taking(key)


def has_ladder(sampler: str) -> bool:
    """True for a sampler with a power for each rung."""
    return any(one["name"] == sampler and one["powers"] == "ladder" for one in described()["samplers"])


def _cell(setting: dict[str, Any]) -> str:
    value = setting["default"]
    if value is None:
        return ""
    shown = ", ".join(f"{power:g}" for power in value) if isinstance(value, list) else str(value)
    return shown + str(setting["default_more"])


def _range(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return " or ".join(schema["enum"]) if len(schema["enum"]) < 4 else ""
    one = schema.get("oneOf", [schema])[0]
    one = one.get("items", one)
    return f"{one['minimum']} to {one['maximum']}" if "minimum" in one else ""


def _page(found: dict[str, Any]) -> str:
    lines = [
        "# Settings of samplers",
        "",
        "This table is written from `settings/fields.hpp`, where each setting is declared. A flag is the setting's name with",
        "dashes: `--local-moves`. Python takes the name as a keyword argument, and config.json of a run folder has it as a key.",
        'HTTP: the object "tempera" of a request has it as a key, or the body itself. [sample.md](../howto/sample.md) explains the',
        "settings, and [samplers.md](samplers.md) the samplers.",
        "",
        "| setting | meaning | values | default | HTTP | config.json | samplers that take it |",
        "|---|---|---|---|---|---|---|",
    ]
    for setting in found["settings"]:
        takers = [sampler["name"] for sampler in found["samplers"] if setting["key"] in sampler["takes"]]
        name = f"`{setting['key']}`" + (f", `{setting['alias']}`" if "alias" in setting else "")
        lines.append(
            f"| {name} | {setting['help']} | {_range(setting['schema'])} | {_cell(setting)} | {'yes' if setting['body'] else 'body' if setting['beside'] else ''} "
            f"| {'yes' if setting['config'] else ''} | {'all' if len(takers) == len(found['samplers']) else ', '.join(takers)} |"
        )
    return "\n".join(lines) + "\n"


def _types(found: dict[str, Any], source: str) -> str:
    """The source of wishes.py with the annotations that the rows have."""
    before, _, rest = source.partition(_MARK)
    after = rest[rest.index("\n\n\n") :]
    lines = []
    for setting in found["settings"]:
        for name in (setting["key"], *([setting["alias"]] if "alias" in setting else [])):
            lines.append(f"    {name}: {_TYPES[setting['kind']]} | None")
    return before + _MARK + "\n".join(lines) + after


def _copy(found: dict[str, Any]) -> str:
    rows = {part: ",\n".join(json.dumps(one, ensure_ascii=False) for one in found[part]) for part in ("settings", "samplers")}
    return (
        '"""Written by python -m tempera.settings from settings/fields.hpp."""\n\n# ruff: noqa: E501\n'
        + f'TEXT = r"""{{"settings": [\n{rows["settings"]}],\n"samplers": [\n{rows["samplers"]}]}}"""\n'
    )


def main(arguments: list[str]) -> int:
    only_check = "--check" in arguments
    found = json.load(sys.stdin)
    if arguments == ["--page"]:
        print(_page(found), end="")
        return 0
    tree = Path(next(word for word in arguments if word != "--check"))
    wishes = tree / "python/tempera/wishes.py"
    wanted = {
        wishes: _types(found, wishes.read_text()),
        tree / "python/tempera/_settings.py": _copy(found),
    }
    late = [file for file, text in wanted.items() if not file.exists() or file.read_text() != text]
    for file in late:
        if only_check:
            print(f"{file}: is out of date; run tempera presets --settings --json | python -m tempera.settings {tree}", file=sys.stderr)
        else:
            file.write_text(wanted[file])
    return len(late) if only_check else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
