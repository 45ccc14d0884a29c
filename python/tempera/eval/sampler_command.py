"""The samplers by the command `tempera sample`, run as a process."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tempera import run_files
from tempera.errors import BadInput
from tempera.eval.run_folders import RunFolders, make_way, naming_problems
from tempera.eval.samplers import Settings, decimal
from tempera.eval.sampling import Asked, Prompt, Scoring

_SECONDS_BETWEEN_LOOKS = 0.2


def find_command(given: str | None = None) -> str:
    """The command: as given, else $TEMPERA, else on the path, else in the build folder of this source tree."""
    built = [Path(__file__).parents[3] / "build" / folder / "tempera" for folder in ("release", ".")]
    for candidate in (given, os.environ.get("TEMPERA"), shutil.which("tempera"), *map(str, built)):
        if candidate and os.access(candidate, os.X_OK) and Path(candidate).is_file():
            return candidate
        if candidate and candidate in (given, os.environ.get("TEMPERA")):
            raise BadInput(candidate, "is not a program that can be run", "--tempera names the command")
    raise BadInput("tempera", "neither the command nor the package's compiled half is found", "build the command, name it with --tempera or $TEMPERA, or pip install . in its source tree")


class SamplerCommand(RunFolders, Scoring):
    """`tempera sample --prompts FILE --out FOLDER`; a run that was ended goes on with `--resume`.

    `model_flags` are the options that say what the model is and how it reads: --model, --chat, --thinking,
    --arithmetic; `machine_flags` those that decide no bit: --device, --threads, --batch, --cache-memory.
    `shard` is "I/N": only that shard of each run is drawn, into FOLDER.shards, and `merge` makes FOLDER of all of them.
    """

    def __init__(self, command: str, model_flags: list[str], machine_flags: list[str], shard: str = "") -> None:
        self._command = command
        self._model_flags = model_flags
        self._machine_flags = machine_flags
        self._shard = shard

    def _ask(self, *arguments: str, given: str = "") -> str:
        done = subprocess.run([self._command, *arguments], input=given, capture_output=True, text=True, encoding="utf-8")
        if done.returncode:
            raise BadInput("tempera", _message(done.stderr))
        return done.stdout

    def presets(self) -> dict[str, dict[str, Any]]:
        return {preset["name"]: preset for preset in json.loads(self._ask("presets", "--json"))}

    def draw(self, prompts: list[Prompt], asked: Asked, folder: Path, progress: Callable[[int], None]) -> None:
        if make_way(folder):
            arguments = ["sample", "--resume", str(folder), *self._machine_flags]
        else:
            file = folder.with_name(folder.name + ".prompts.jsonl")
            _write_prompts(prompts, file)
            folder = _shards_of(folder) if self._shard else folder
            # Evaluations deal their runs themselves: a launcher's environment says nothing of one alone.
            arguments = ["sample", "--prompts", str(file), "--out", str(folder), "--confidence"]
            arguments += ["--shard", self._shard or "none", *self._flags_of(asked)]
        try:
            self._watch(arguments, folder, progress)
        except BadInput as error:
            raise naming_problems(error, rf"\S*{re.escape(folder.name.removesuffix('.shards'))}\.prompts\.jsonl, line (\d+)", prompts, 1) from None

    def _flags_of(self, asked: Asked) -> list[str]:
        flags = [*self._model_flags, *asked.settings.flags(), *self._machine_flags]
        flags += ["--seed", str(asked.seed), "--samples", str(asked.settings.samples)]
        if asked.output_rung is not None:
            flags += ["--output-rung", str(asked.output_rung)]
        return flags

    def estimate(self, prompts: list[Prompt], asked: Asked) -> dict[str, Any]:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "prompts.jsonl"
            _write_prompts(prompts, file)
            found: dict[str, Any] = json.loads(self._ask("sample", "--prompts", str(file), *self._flags_of(asked), "--estimate", "--json"))
        return found

    def ladder(self, prompts: list[Prompt], settings: Settings, file: Path) -> tuple[float, ...]:
        _write_prompts(prompts, file)
        asked = ["--from", decimal(settings.powers[0]), "--to", decimal(settings.powers[-1]), "--replicas", str(len(settings.powers))]
        for name, size in (("--horizon", settings.asked_horizon(self.presets)), ("--block", settings.block)):
            if size is not None:
                asked += [name, str(size)]
        machine = _pairs_named(self._machine_flags, "--device", "--threads", "--cache-memory")
        found = json.loads(self._ask("ladder", "--prompts", str(file), *self._model_flags, *asked, *machine, "--json"))
        return tuple(found["powers"])

    def merge(self, folder: Path) -> None:
        """Makes a run's folder of its shards."""
        self._ask("merge", str(_shards_of(folder)), "--out", str(folder))

    def _watch(self, arguments: list[str], folder: Path, progress: Callable[[int], None]) -> None:
        errors = folder.with_name(folder.name + (f".{self._shard.replace('/', '-of-')}" if self._shard else "") + ".errors")
        with errors.open("w+", encoding="utf-8") as stream:
            # In a group of its own, so that Ctrl-C reaches it once, from here: a second signal ends it unsaved.
            process = subprocess.Popen(
                [self._command, *arguments], stdout=subprocess.DEVNULL, stderr=stream, start_new_session=True
            )
            try:
                while process.poll() is None:
                    time.sleep(_SECONDS_BETWEEN_LOOKS)
                    progress(self.done(folder))
            except BaseException:
                process.terminate()  # it saves every round that has ended
                process.wait()
                raise
            stream.seek(0)
            said = stream.read()
        if process.returncode != 0:
            raise BadInput("tempera sample", _message(said) or f"ended with exit code {process.returncode}")
        errors.unlink()

    def tokens(self, text: str) -> list[int]:
        model = self._flags_named("--model")
        # One newline at the end of what it reads is left out.
        found: list[int] = json.loads(self._ask("tokens", *model, "--json", "-", given=text + "\n"))["ids"]
        return found

    def score(self, tokens: list[int], power: float) -> tuple[list[float], list[float]]:
        flags = self._flags_named("--model", "--arithmetic") + ["--powers", decimal(power), "--json"]
        scores = json.loads(self._ask("score", *flags, "--tokens", ",".join(map(str, tokens))))
        return scores["log_p"], [of_powers[0] for of_powers in scores["log_z"]]

    def _flags_named(self, *names: str) -> list[str]:
        return _pairs_named(self._model_flags, *names)

    def done(self, folder: Path) -> int:
        if self._shard:
            folder = _shards_of(folder) / f"shard-{self._shard.replace('/', '-of-')}"
        return super().done(folder)


def _pairs_named(flags: list[str], *names: str) -> list[str]:
    """Those options of a list that have these names, each with its value."""
    return [word for at, name in enumerate(flags) if name in names for word in flags[at : at + 2]]


def _write_prompts(prompts: list[Prompt], file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps({"id": prompt.id, "prompt": prompt.text}, ensure_ascii=False) for prompt in prompts)
    beside = file.with_name(f"{file.name}.{os.getpid()}")  # shards write it at the same time, and all the same
    beside.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    beside.replace(file)


def _shards_of(folder: Path) -> Path:
    """Where the shards of a run are drawn: beside its folder, which their merge makes."""
    return folder if folder.name.endswith(".shards") else folder.with_name(folder.name + ".shards")


def _message(said: str) -> str:
    """The last line of an error, without the command's name before it."""
    lines = [line for line in said.strip().splitlines() if line.strip()]
    return lines[-1].removeprefix("tempera: ") if lines else ""
