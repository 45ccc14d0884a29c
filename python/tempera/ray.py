"""Many answers over a Ray cluster: one actor for each device, prompts as blocks, the lines of one process.

    import tempera.ray

    lines = tempera.ray.sample("questions.jsonl", ["--model", "Qwen3-8B", "--samples", "4"], gpus=1)

An answer depends on the model, the settings, the seed, its prompt with the prompt's id, and its sample, and never on
what is drawn beside it. So a block may be drawn anywhere, and again where a node was lost, to the same bytes; nodes may
come and go while the work is under way. Ray Data deals the blocks out and gives a lost one to another actor. A block whose
process a signal ended is begun again there.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Union

from tempera.errors import BadInput
from tempera.eval.sampler_command import find_command
from tempera.wishes import finite, path, several, text, whole

#: A file of prompts, or of each {"id": …, "prompt": …} or {"id": …, "messages": […]}.
Prompts = Union[str, "os.PathLike[str]", Iterable[Mapping[str, Any]]]

# What decides where answers go, or which of them are drawn: sample() says that itself.
_NOT_FOR_BLOCKS = ("--out", "--resume", "--shard", "--prompts", "--prompt-file", "--json", "--summary")

# In the place of a sample: the line is why the block was refused.
_REFUSED = -1

# How often a block is begun whose process a signal ends, such as that of a machine without memory left.
_TURNS = 3


def read_prompts(prompts: Prompts) -> list[dict[str, Any]]:
    """The prompts, each with an id and a text, or an id and the messages of a conversation, as `tempera sample --prompts` takes
    them. Raises BadInput for anything else, and for an id that is there twice.
    """
    if isinstance(prompts, (str, os.PathLike)):
        where = path("prompts", prompts)
        try:
            written = Path(where).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise BadInput(where, f"cannot be read ({error})", "give a file of prompts, one a line") from None
        listed: list[Any] = []
        for number, line in enumerate(_lines_of(written), 1):
            try:
                listed.append(json.loads(line))
            except ValueError:
                raise BadInput(f"{where}, line {number}", "is not JSON", 'write {"id": "…", "prompt": "…"}') from None
    else:
        where, listed = "prompts", several("prompts", prompts, lambda _, prompt: prompt, '[{"id": "a", "prompt": "…"}]')
    found: list[dict[str, Any]] = []
    ids: set[str] = set()
    for number, prompt in enumerate(listed, 1):
        if not _is_prompt(prompt):
            raise BadInput(f"{where}, prompt {number}", "is not an id and a prompt", 'write {"id": "…", "prompt": "…"}')
        if prompt["id"] in ids:
            raise BadInput(f"{where}, prompt {number}", f'the id "{prompt["id"]}" is there twice', "give each its own")
        ids.add(prompt["id"])
        found.append(dict(prompt))
    if not found:
        raise BadInput(where, "holds no prompt", 'write {"id": "…", "prompt": "…"} on each line')
    return found


def _lines_of(text: str) -> list[str]:
    """Lines of JSON: a text in one may hold what str.splitlines takes for the end of a line, such as U+2028."""
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _is_prompt(prompt: Any) -> bool:
    if not isinstance(prompt, Mapping) or not isinstance(prompt.get("id"), str):
        return False
    if set(prompt) == {"id", "prompt"}:
        return isinstance(prompt["prompt"], str)
    return set(prompt) == {"id", "messages"} and isinstance(prompt["messages"], list)


def _check_flags(flags: Any) -> list[str]:
    listed = several("flags", flags, text, '["--model", "m"]')
    for flag in listed:
        if flag.split("=")[0] in _NOT_FOR_BLOCKS:
            raise BadInput(flag, "is not for blocks", "tempera.ray.sample draws all prompts and returns their lines")
    if "--model" not in [flag.split("=")[0] for flag in listed]:
        raise BadInput("--model", "is missing", "give it among the flags")
    return listed


class _Device:
    """An actor of Ray Data: draws the answers to one block of prompts at a time."""

    def __init__(self, command: str | None, flags: list[str]) -> None:
        self._command = find_command(command)
        self._flags = flags

    def __call__(self, block: dict[str, Any]) -> dict[str, list[Any]]:
        places = [int(place) for place in block["place"]]
        with tempfile.TemporaryDirectory(prefix="tempera-block-") as folder:
            file = Path(folder) / "prompts.jsonl"
            file.write_text("".join(f"{line}\n" for line in block["prompt"]), encoding="utf-8")
            for turn in range(_TURNS):
                out = Path(folder) / f"run-{turn}"
                asked = [self._command, "sample", "--prompts", str(file), "--out", str(out), "--shard", "none", *self._flags]
                done = subprocess.run(asked, capture_output=True, text=True, encoding="utf-8")
                if done.returncode >= 0:
                    break
            if done.returncode == 2:
                # A wrong input: raised here it would be a traceback of Ray's, with the line somewhere in it.
                refusal = done.stderr.strip().splitlines()[-1].removeprefix("tempera: ")
                return {"place": places[:1], "sample": [_REFUSED], "line": [refusal]}
            if done.returncode:
                ended = f"was ended by signal {-done.returncode}" if done.returncode < 0 else f"ended with exit code {done.returncode}"
                raise RuntimeError((done.stderr.strip().splitlines() or [f"{self._command} {ended}"])[-1])
            drawn = _lines_of((out / "samples.jsonl").read_text(encoding="utf-8"))
        samples = len(drawn) // len(places)
        return {
            "place": [place for place in places for _ in range(samples)],
            "sample": [sample for _ in places for sample in range(samples)],
            "line": drawn,
        }


def _blocks(prompts: list[dict[str, Any]], flags: list[str], command: str | None, **layout: Any) -> Any:
    import ray.data  # type: ignore[import-not-found,import-untyped,unused-ignore]

    block = layout["block"]
    # A prompt is its line of JSON, whatever it holds.
    rows = [{"place": place, "prompt": json.dumps(prompt, ensure_ascii=False)} for place, prompt in enumerate(prompts)]
    # Ray's own blocks are those of this deal: what is lost with a node is drawn again, and nothing else.
    dealt = ray.data.from_items(rows, override_num_blocks=max(1, -(-len(rows) // block)))
    return dealt.map_batches(
        _Device,
        fn_constructor_args=(command, flags),
        batch_size=block,
        batch_format="numpy",
        # Without an upper bound the pool grows with the cluster. Ray Data starts actors anew without end, and their tasks.
        compute=ray.data.ActorPoolStrategy(min_size=1, max_size=layout["devices"]),
        num_cpus=layout["cpus"],
        num_gpus=layout["gpus"] or None,
    )


def iterate(
    prompts: Prompts,
    flags: Sequence[str],
    *,
    devices: int | None = None,
    block: int = 8,
    gpus: float = 0,
    cpus: float = 1,
    command: str | None = None,
) -> Iterator[dict[str, Any]]:
    """The answers as blocks end, each {"place", "sample", "line"}: the place of its prompt, from 0, and its line.

    prompts: a file of prompts, or the prompts, as for `tempera sample --prompts`.
    flags: those of `tempera sample` that say what is drawn: --model, --powers, --samples, --seed …
    devices: the most actors at a time (as many as the cluster has room for, also as it grows), each with `gpus` and `cpus`.
    block: prompts that an actor draws at once, and draws again if its node is lost.
    command: the program tempera on the nodes; else $TEMPERA there, or the one on the path.

    Ray must be running (ray.init). Raises BadInput, also for what the command refuses, and what Ray raises for a block that fails
    otherwise.
    """
    block = whole("block", block, 1)
    if devices is not None:
        devices = whole("devices", devices, 1)
    for name, share in (("gpus", gpus), ("cpus", cpus)):
        if finite(name, share) < 0:
            raise BadInput(name, f"{share} is below 0", "give how many of them an actor has")
    if command is not None:
        path("command", command)
    listed = read_prompts(prompts)
    checked = _check_flags(flags)
    layout = {"devices": devices, "block": block, "gpus": gpus, "cpus": cpus}
    for row in _blocks(listed, checked, command, **layout).iter_rows():
        if row["sample"] == _REFUSED:
            raise BadInput(row["line"])
        yield row


def sample(prompts: Prompts, flags: Sequence[str], *, out: str | os.PathLike[str] | None = None, **layout: Any) -> list[str]:
    """The lines of samples.jsonl that `tempera sample --prompts … --out …` writes, in its order and to the last byte.

    out: a file for them; it is there whole or not at all. Other arguments are those of iterate().
    """
    where = None if out is None else path("out", out)
    drawn = {(row["place"], row["sample"]): row["line"] for row in iterate(prompts, flags, **layout)}
    lines = [drawn[key] for key in sorted(drawn)]
    if where is not None:
        beside = Path(f"{where}.part")
        try:
            beside.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
            beside.replace(where)
        except OSError as error:
            raise BadInput(where, f"cannot be written ({error.strerror})", "give another file") from None
    return lines
