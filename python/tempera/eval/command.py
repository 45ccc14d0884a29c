"""The command line: run, grade, report."""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import sys
import textwrap
from collections.abc import Collection, Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from tempera.errors import BadInput, Bug, Error
from tempera.eval.evaluation import Evaluation, Plan
from tempera.eval.given_answers import GivenAnswers
from tempera.eval.grading import grade
from tempera.eval.input_files import digest
from tempera.eval.prompts import Template, shipped_templates, template_from, template_named, uses_chat
from tempera.eval.report.paper_values import paper_model
from tempera.eval.reporting import check_table_folder, report, report_together
from tempera.eval.running import estimate, merge, run
from tempera.eval.sampler_command import SamplerCommand, find_command
from tempera.eval.sampler_package import SamplerPackage, is_installed
from tempera.eval.samplers import SAMPLERS, Settings, check_preset, check_sampler, preset_named, sweep
from tempera.eval.sampling import Sampling
from tempera.eval.statistics import check_k
from tempera.eval.tasks import TASKS, read_task
from tempera.settings import default

if TYPE_CHECKING:
    from tempera.model import Model


# What decides which answers are drawn.
_OF_DRAWING = (
    "prompting", "thinking", "arithmetic", "template", "samplers", "preset", "powers", "horizon", "block", "rounds", "particles",
    "schedule", "seeds", "first_seed", "all_rungs", "matched", "pilot_problems", "sweep", "equal_powers",
)  # fmt: skip
# What says how this machine computes; no result depends on it.
_MACHINE = ("device", "threads", "batch", "cache_memory", "prefetch")


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise BadInput(self.prog, message, f"see {self.prog} --help")


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f'"{text}" is not a list of numbers') from None


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f'"{text}" is not a whole number above 0')
    return int(text)


def _each_k(text: str) -> tuple[int, ...]:
    return tuple(map(_positive, text.split(",")))


def parser() -> argparse.ArgumentParser:
    """The parser of the three stages."""
    tasks = "\n".join(f"  {name:14} {source.description}; {source.files}" for name, source in TASKS.items())
    top = _Parser(prog="tempera eval", description="Benchmarks over tempera's samplers, in three stages.")
    stages = top.add_subparsers(dest="stage", required=True, metavar="STAGE", parser_class=_Parser)

    one = stages.add_parser(
        "run",
        help="draw answers",
        description="Draw answers into a folder, or resume a run that was ended.",
        epilog=f"tasks:\n{tasks}\n\nsamplers:\n"
        + textwrap.fill(", ".join(SAMPLERS), 78, initial_indent="  ", subsequent_indent="  ")
        + "\n\ntemplates:\n"
        + textwrap.fill(", ".join(shipped_templates()), 78, initial_indent="  ", subsequent_indent="  ")
        + "\n\nAll three stages, on 20 sums of the model that ships:\n"
        "  tempera eval run --task own --data toy_models/worked_sum/held_out.jsonl \\\n"
        "    --grader worked-sum --model toy_models/worked_sum --powers 1,1.6,2.5,4 \\\n"
        "    --horizon 28 --block 4 --rounds 3 --samplers standard,ppt --seeds 3 \\\n"
        "    --limit 20 --out sums\n"
        "  tempera eval grade sums\n  tempera eval report sums",
        formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(prog, width=80),
    )
    one.add_argument("--task", required=True, metavar="TASK", help="a benchmark by its name; the names are below")
    one.add_argument("--data", action="append", required=True, metavar="FILE", help="its data; again for each further file")
    one.add_argument("--subset", default="", help="of LiveCodeBench: 880, 167, 1055, 175 or FIRST..LAST (days); of MBPP: test")
    one.add_argument("--grader", default="", help="of a task of your own: exact, integer, number, letter, mathematics, worked-sum or FILE.py:FUNCTION")
    one.add_argument("--limit", type=_positive, default=0, metavar="N", help="only the first N problems")
    one.add_argument("--out", type=Path, metavar="FOLDER", help="the evaluation's folder")
    one.add_argument("--estimate", action="store_true", help="print what the runs will cost, by pilots of seconds, and draw nothing else")
    one.add_argument("--shard", default="", metavar="I/N", help="draw the Ith of N parts of every run; `merge` then makes the runs")
    one.add_argument("--answers", type=Path, metavar="FILE", help="take answers from a JSONL file and draw none")
    model = one.add_argument_group("model")
    model.add_argument("--model", default="", help="folder, file or name, as for `tempera sample`")
    model.add_argument("--prompting", choices=("paper", "chat", "raw"), help="with the model's chat template or without (default: as in the paper)")
    model.add_argument("--thinking", choices=("on", "off"), help="with the chat template: whether the model thinks first")
    model.add_argument("--arithmetic", help="as for `tempera sample`")
    model.add_argument("--template", metavar="NAME|FILE", help="what is asked; {problem} in it is the problem's place")
    sampler = one.add_argument_group("samplers")
    sampler.add_argument("--samplers", metavar="NAME,…", help="which samplers (default: ppt)")
    sampler.add_argument("--preset", default="", help="the paper's settings by name, as `tempera presets` lists them")
    sampler.add_argument("--powers", type=_numbers, help="the ladder; samplers of one power take the last")
    sampler.add_argument("--horizon", type=_positive, help="T (default: the preset's, at most context - prompt - 64)")
    sampler.add_argument("--block", type=_positive, help="B")
    sampler.add_argument("--rounds", type=_positive, help="N_m")
    sampler.add_argument("--particles", type=_positive, help="as for `tempera sample`")
    sampler.add_argument("--schedule", help="as for `tempera sample`")
    sampler.add_argument("--seeds", type=_positive, metavar="N", help="how many seeds (default: 1; the paper: 5)")
    sampler.add_argument("--first-seed", type=int, metavar="N", help="the first of them (default: 1)")
    sampler.add_argument("--all-rungs", action="store_true", help="draw every rung's record, so that all rungs vote; it takes K times as long")
    sampler.add_argument("--matched", action="store_true", help="choose rounds and particles so that each sampler takes ppt's decode tokens")
    sampler.add_argument("--pilot-problems", type=_positive, metavar="N", help="problems of a pilot, for --matched and --sweep ladder (default: 16)")
    sampler.add_argument("--sweep", choices=("replicas", "rounds", "ladder", "schedule"), help="an ablation of ppt in place of --samplers")
    sampler.add_argument("--equal-powers", type=_numbers, help="for --sweep ladder: the equi-accepting ladder (default: pilots find it, as `tempera ladder` does)")

    parts = stages.add_parser("merge", help="make the runs of their shards", description="Make every run of the shards that run --shard drew.")
    parts.add_argument("folder", type=Path, help="the evaluation's folder")

    two = stages.add_parser("grade", help="judge the answers", description="Judge what has not been judged.")
    two.add_argument("folder", type=Path, help="the evaluation's folder")
    two.add_argument("--workers", type=_positive, default=0, metavar="N", help="programs under test at a time (default: one a core)")
    two.add_argument("--again", action="store_true", help="judge everything again")

    three = stages.add_parser(
        "report",
        help="write what was found",
        description="Write report.html, results.csv, results.tex and results.json; of several evaluations also tables.html, .csv and .tex.",
    )
    three.add_argument("folder", type=Path, nargs="+", help="the evaluation's folder; of several, one table shows all tasks")
    three.add_argument("--out", type=Path, metavar="FOLDER", help="where the table of several evaluations goes")
    three.add_argument("--paper-model", metavar="NAME", help="the model of the paper's tables to show beside (default: by the model's name)")
    three.add_argument("--k", type=_each_k, default=(), metavar="K,…", help="show pass@k and avg@k for each of these, at most the number of seeds")
    for stage in (one, parts, two, three):
        stage.add_argument("--tempera", metavar="FILE", help="the command tempera (default: $TEMPERA, or on the path, else the package draws)")
    machine = one.add_argument_group("machine, on which the bits do not depend")
    for name in _MACHINE:
        machine.add_argument("--" + name.replace("_", "-"), help="as for `tempera sample`")
    return top


def _refuse_without_effect(given: argparse.Namespace) -> None:
    """Refuses options that would decide nothing: who gives one expects something of it."""

    def refuse(names: Sequence[str], when: str, remedy: str) -> None:
        for name in names:
            if getattr(given, name):
                raise BadInput("--" + name.replace("_", "-"), f"has no effect {when}", remedy)

    if given.estimate:
        refuse(("out", "shard", "answers", "matched"), "with --estimate", "which writes nothing; leave it out")
        if given.sweep == "ladder" and not given.equal_powers:
            raise BadInput("--estimate", "with --sweep ladder needs --equal-powers", "pilots of another kind find them; see tempera ladder")
    elif not given.out:
        raise BadInput("--out", "is missing", "give --out FOLDER, the evaluation's folder")
    if given.answers:
        refuse(("shard", *_OF_DRAWING, *_MACHINE), "with --answers", "nothing is drawn then; leave it out")
    if given.sweep:
        swept = {"rounds": ("rounds", "matched"), "schedule": ("schedule",)}.get(given.sweep, ())
        refuse(("samplers", *swept), f"with --sweep {given.sweep}", "which decides that; leave it out")
    if given.sweep != "ladder":
        refuse(("equal_powers",), "without --sweep ladder", "leave it out")
    if not given.matched and (given.sweep != "ladder" or given.equal_powers):
        refuse(("pilot_problems",), "without pilots", "they are drawn for --matched, and for --sweep ladder without --equal-powers")


def _settings(given: argparse.Namespace, preset: dict[str, object]) -> list[Settings]:
    powers = given.powers or tuple(float(power) for power in preset.get("powers", default("powers")))  # type: ignore[attr-defined]
    base = Settings(
        label="ppt",
        sampler="ppt",
        powers=powers,
        horizon=given.horizon,
        block=given.block or preset.get("block"),  # type: ignore[arg-type]
        rounds=given.rounds or preset.get("rounds", default("rounds")),  # type: ignore[arg-type]
        schedule=given.schedule or default("schedule"),
        particles=given.particles or default("particles"),
        preset=given.preset,
    )
    if given.sweep:
        return sweep(given.sweep, base, given.equal_powers or ())
    names = [check_sampler(name) for name in (given.samplers or "ppt").split(",")]
    if len(set(names)) != len(names):
        raise BadInput("--samplers", "a sampler is there twice")
    if given.matched and "ppt" not in names:
        raise BadInput("--matched", "needs ppt among the samplers", "its decode tokens are what is matched")
    return [Settings(**{**base.__dict__, "label": name, "sampler": name}) for name in names]


def _require_horizon(given: argparse.Namespace, presets: Collection[str]) -> None:
    """Refuses to guess T: what a run without one would take cuts nearly every answer of a benchmark."""
    if given.horizon or given.preset:
        return
    task = "aime" if given.task.startswith("aime") else given.task
    fitting = [name for name in presets if name.partition("/")[2] == task]
    raise BadInput("--horizon", "is missing", "give it, or a --preset" + (f", such as {fitting[0]}" if fitting else ""))


def _plan(given: argparse.Namespace, sampling: Sampling) -> Plan:
    task = read_task(given.task, [Path(path) for path in given.data], given.subset, given.grader)
    task.grader.close()
    chat = uses_chat(given.prompting or "paper", task, given.model)
    default = template_named(task.template if chat else task.raw_template)
    template = template_from(given.template) if given.template else default
    flags = ["--model", given.model] + (["--chat"] if chat else [])
    for name in ("thinking", "arithmetic"):
        value = getattr(given, name)
        if value:
            flags += [f"--{name}", value]
    if given.answers:
        label = given.answers.stem
        samplers = [Settings(label, "given", (1.0,), None, None, 0)]
        flags, chat, template = [], False, Template("", "")
    else:
        preset: dict[str, object] = {}
        if given.preset:
            known = sampling.presets()
            # Whichever of its names is given: the same evaluation.
            given.preset = preset_named(given.preset, known)
            check_preset(given.preset, given.task, paper_model(given.model), known)
            preset = known[given.preset]
        samplers = _settings(given, preset)
        _require_horizon(given, () if given.preset or given.horizon else sampling.presets())
    first = 1 if given.first_seed is None else given.first_seed
    return Plan(
        task=given.task,
        data=tuple(str(Path(path).resolve()) for path in given.data),
        data_digests=tuple(digest(Path(path)) for path in given.data),
        subset=given.subset,
        grader=given.grader if ".py:" not in given.grader else str(Path(given.grader).resolve()),
        limit=given.limit,
        model=given.model,
        model_flags=tuple(flags),
        chat=chat,
        template=template.name,
        template_text=template.text,
        preset=given.preset,
        seeds=tuple(range(first, first + (given.seeds or 1))),
        samplers=tuple(samplers),
        all_rungs=given.all_rungs,
        matched=given.matched,
        pilot_problems=given.pilot_problems or 16,
        sweep=given.sweep or "",
        answers_digest=digest(given.answers) if given.answers else "",
    )


def _run(given: argparse.Namespace) -> None:
    _refuse_without_effect(given)
    if given.answers:
        sampling: Sampling = GivenAnswers(given.answers)
    elif not given.model:
        raise BadInput("--model", "is missing", "or give --answers, a file of answers")
    else:
        sampling = _samplers(given, None)
    plan = _plan(given, sampling)
    if not given.answers:
        sampling = _samplers(given, plan)
    if given.estimate:
        print(estimate(Evaluation(Path(), plan), sampling), end="")
        return
    is_new = not (given.out / "settings.json").exists()
    evaluation = Evaluation.make(given.out, plan)
    try:
        run(evaluation, sampling, given.shard)
    except Error:
        if is_new:
            evaluation.remove_if_empty()
        raise
    if given.shard:
        print(f"{given.out}: shard {given.shard}; once all are drawn: tempera eval merge {shlex.quote(str(given.out))}")
        return
    print(f"{given.out}: {len(plan.samplers) * len(plan.seeds)} runs; next: tempera eval grade {given.out}")


def run_own(model: Model, arguments: Sequence[str]) -> None:
    """The stage `run` with these arguments, from a model that this program has. `--model` names it in the report."""
    from tempera.model import require_model

    require_model(model)
    if isinstance(arguments, str):
        raise BadInput("arguments", "is a text", 'give a list, such as ["--task", "gsm8k", "--out", "folder"]')
    given = parser().parse_args(["run", *arguments])
    for name in ("arithmetic", "device", "tempera", "answers", "estimate"):
        if getattr(given, name):
            raise BadInput(f"--{name}", "has no effect on a model of Python's", "leave it out")
    given.own_model = model
    given.model = given.model or "a model of Python's"
    _run(given)


def _samplers(given: argparse.Namespace, plan: Plan | None) -> Sampling:
    """The sampler: the command, else this package's extension, which gives the same bytes. Without a plan, only its presets.
    A model of this program's own is drawn from here."""
    if getattr(given, "own_model", None) is not None:
        return _package(given, plan)
    try:
        command = find_command(given.tempera)
    except BadInput:
        if given.tempera or os.environ.get("TEMPERA") or not is_installed():
            raise
        return _package(given, plan)
    machine = [word for name in _MACHINE if getattr(given, name) for word in ("--" + name.replace("_", "-"), getattr(given, name))]
    return SamplerCommand(command, list(plan.model_flags) if plan else [], machine, given.shard)


def _package(given: argparse.Namespace, plan: Plan | None) -> Sampling:
    if given.shard:
        raise BadInput("--shard", "needs the command tempera", "build it, and name it with --tempera")
    numbers = {}
    for name in ("threads", "batch", "cache_memory", "prefetch"):
        text = getattr(given, name)
        if text is not None and not text.isdigit():
            raise BadInput("--" + name.replace("_", "-"), f'"{text}" is not a whole number')
        if text is not None:
            numbers[name] = int(text)
    if "threads" in numbers:
        from tempera.native import set_threads

        set_threads(numbers.pop("threads"))
    thinking = None if given.thinking is None else given.thinking == "on"
    model = getattr(given, "own_model", None) or given.model
    return SamplerPackage(model, given.arithmetic, plan is not None and plan.chat, thinking, given.device, numbers)


def _reader(evaluation: Evaluation, given: argparse.Namespace) -> Sampling:
    """The reader of run folders, which does not need the command itself."""
    if any(settings.sampler == "given" for settings in evaluation.plan.samplers):
        return GivenAnswers()
    return SamplerCommand(given.tempera or "tempera", [], [])


def _merge(given: argparse.Namespace) -> None:
    command = SamplerCommand(find_command(given.tempera), [], [])
    count = merge(Evaluation.open(given.folder), command.merge)
    print(f"{given.folder}: {count} runs; next: tempera eval grade {given.folder}")


def _grade(given: argparse.Namespace) -> None:
    evaluation = Evaluation.open(given.folder)
    failed = grade(evaluation, _reader(evaluation, given), given.workers, given.again)
    print(f"{given.folder}: all answers are judged; next: tempera eval report {given.folder}")
    if failed:
        print(f"{given.folder}: {failed} of them not to the end: they count as wrong, and the report lists them", file=sys.stderr)


def _report(given: argparse.Namespace) -> None:
    check_table_folder(given.out, given.folder)
    found = []
    evaluations = [Evaluation.open(folder) for folder in given.folder]
    for evaluation in evaluations:
        for k in given.k:
            check_k(k, len(evaluation.plan.seeds))
    for evaluation in evaluations:
        results, said = report(evaluation, _reader(evaluation, given), given.paper_model, given.k)
        found.append(results)
        print(said)
    if given.out:
        print(report_together(found, given.out))


def _ended(number: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a stage; 0, or 2 after one line on what is wrong, and 3 if that is a bug of tempera."""
    signal.signal(signal.SIGTERM, _ended)
    try:
        given = parser().parse_args(arguments)
        {"run": _run, "merge": _merge, "grade": _grade, "report": _report}[given.stage](given)
    except Error as error:
        # What draws names its own option.
        print(f"tempera eval: {error}".replace("give the prompt as plain text, in the form that the model wants, to sample or /v1/completions", "give --prompting raw"), file=sys.stderr)
        return 3 if isinstance(error, Bug) else 2
    except BrokenPipeError:
        return 2
    except OSError as error:
        print(f"tempera eval: {error.filename or 'output'}: {error.strerror}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("tempera eval: stopped; the same command resumes it", file=sys.stderr)
        return 130
    return 0
