"""The three stages on the trained model that ships, with the command as it is built."""

from __future__ import annotations

import csv
import html
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Page, needs_sandbox, write_at_one_time
from pylatexenc.latexwalker import LatexEnvironmentNode, LatexWalker

from tempera.errors import BadInput
from tempera.eval.command import main

LADDER = ["--powers", "1,1.6,2.5,4", "--horizon", "28", "--block", "4", "--rounds", "3"]


def sums(worked_sum: Path, tempera: str, out: Path, *more: str, limit: int = 4) -> list[str]:
    return [
        "run", "--task", "own", "--data", str(worked_sum / "held_out.jsonl"), "--grader", "worked-sum",
        "--model", str(worked_sum), "--tempera", tempera, "--limit", str(limit), "--out", str(out), *LADDER, *more,
    ]  # fmt: skip


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def table(path: Path) -> dict[str, dict[str, str]]:
    with path.open() as file:
        return {row["sampler"]: row for row in csv.DictReader(file)}


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory, tempera: str, worked_sum: Path) -> Path:
    out = tmp_path_factory.mktemp("evaluation") / "sums"
    asked = sums(worked_sum, tempera, out, "--samplers", "ppt,standard,best-of-n,uncoupled-ladder", "--seeds", "2", "--all-rungs", "--particles", "3")
    assert main(asked) == 0
    assert main(["grade", str(out)]) == 0
    assert main(["report", str(out)]) == 0
    return out


def test_answers_are_those_of_the_command(evaluated: Path, tempera: str, worked_sum: Path, tmp_path: Path) -> None:
    prompts = tmp_path / "p.jsonl"
    prompts.write_text(
        "".join(
            json.dumps({"id": f"held_out-{n}", "prompt": record["prompt"]}) + "\n"
            for n, record in enumerate(lines(worked_sum / "held_out.jsonl")[:4], 1)
        )
    )
    asked = [tempera, "sample", "--prompts", prompts, "--model", worked_sum, *LADDER, "--seed", "2", "--out", tmp_path / "run"]
    subprocess.run(asked, check=True, stdout=subprocess.DEVNULL)
    assert lines(tmp_path / "run/samples.jsonl") == lines(evaluated / "answers/ppt/seed-2/run/samples.jsonl")


def test_verdicts_are_those_of_the_models_own_rule(evaluated: Path, worked_sum: Path) -> None:
    gold = {f"held_out-{n}": record["answer"] for n, record in enumerate(lines(worked_sum / "held_out.jsonl"), 1)}
    seen = set()
    for name in ("ppt", "standard"):
        for seed in (1, 2):
            drawn = {sample["id"]: sample for sample in lines(evaluated / f"answers/{name}/seed-{seed}/run/samples.jsonl")}
            for grade in lines(evaluated / f"grades/{name}/seed-{seed}.jsonl"):
                text = drawn[grade["id"]]["text"]
                right = text.endswith("=" + gold[grade["id"]] + "<|end|>")
                assert grade["correct"] == right
                seen.add(right)
    assert seen == {True, False}


def test_the_other_rungs_records_are_those_of_the_same_run(evaluated: Path) -> None:
    for name in ("ppt", "uncoupled-ladder"):
        folder = evaluated / f"answers/{name}/seed-1"
        last: dict[str, list[float]] = {}
        for event in lines(folder / "run/events.jsonl"):
            if event["kind"] == "round":
                last[event["id"]] = event["log_p0"]
        for rung in (1, 2, 3):
            for sample in lines(folder / f"rung-{rung}/samples.jsonl"):
                assert sample["log_p0"] == last[sample["id"]][rung - 1]


def test_best_of_n_returns_the_likeliest_of_n_answers_of_the_model(evaluated: Path) -> None:
    drawn = lines(evaluated / "answers/best-of-n/seed-1/run/samples.jsonl")
    assert len(drawn) == 12
    for grade in lines(evaluated / "grades/best-of-n/seed-1.jsonl"):
        assert grade["log_p0"] == max(sample["log_p0"] for sample in drawn if sample["id"] == grade["id"])
        assert grade["vote_correct"] is not None


def test_the_report_has_the_figures_of_the_grades(evaluated: Path) -> None:
    rows = table(evaluated / "results.csv")
    for name, label in (("ppt", "ppt"), ("best-of-n", "best-of-n, N = 3")):
        grades = [lines(evaluated / f"grades/{name}/seed-{seed}.jsonl") for seed in (1, 2)]
        right = sum(grade["correct"] for of_seed in grades for grade in of_seed)
        assert rows[label]["pass@1"] == f"{100 * right / 8:.1f}"
        assert (rows[label]["n"], rows[label]["seeds"], rows[label]["task"]) == ("4", "2", "held_out")
        votes = sum(grade["vote_correct"] for of_seed in grades for grade in of_seed)
        assert rows[label]["vote"] == f"{100 * votes / 8:.1f}"
        tokens = [json.loads((evaluated / f"answers/{name}/seed-{seed}/run/summary.json").read_text())["decode_tokens"] for seed in (1, 2)]
        assert rows[label]["decode tokens"] == f"{sum(tokens) / 8:.0f}"
    ppt = next(one for one in json.loads((evaluated / "results.json").read_text())["samplers"] if one["settings"]["label"] == "ppt")
    summaries = [json.loads((evaluated / f"answers/ppt/seed-{seed}/run/summary.json").read_text()) for seed in (1, 2)]
    for number, edge in enumerate(ppt["edges"]):
        assert edge["accepted"] == sum(summary["edges"][number]["accepted"] for summary in summaries)
    assert ppt["round_trips"] == sum(summary["round_trips"] for summary in summaries)
    samples = [sample for seed in (1, 2) for sample in lines(evaluated / f"answers/ppt/seed-{seed}/run/samples.jsonl")]
    assert sorted(ppt["log_likelihoods"]) == sorted(sample["log_p0"] / len(sample["tokens"]) for sample in samples)
    assert len(ppt["confidences"]) == 8 and all(value < 0 for value in ppt["confidences"])


def test_pass_and_avg_at_k_are_in_every_result(evaluated: Path, worked_sum: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ("report.html", "results.csv", "results.tex", "results.json")
    before = {name: (evaluated / name).read_bytes() for name in names}
    answers, other = tmp_path / "one.jsonl", tmp_path / "one"
    answers.write_text('{"id": "held_out-1", "answer": "=1"}\n')
    data = ["--task", "own", "--data", str(worked_sum / "held_out.jsonl"), "--grader", "worked-sum", "--limit", "1"]
    assert main(["run", *data, "--answers", str(answers), "--out", str(other)]) == 0
    # Of several evaluations none is written where k is too large for one.
    for folders, k, there in (([evaluated], 3, 2), ([evaluated, other], 2, 1)):
        assert main(["report", *map(str, folders), "--k", f"1,{k}", *(["--out", str(tmp_path / "both")] if len(folders) > 1 else [])]) == 2
        said = f"tempera eval: pass@{k}: takes {k} answers to each problem, and there {'are 2' if there == 2 else 'is 1'}; give k from 1 to {there}, or run with more --seeds\n"
        assert capsys.readouterr().err == said
    for wrong in ("0", "x", "1,,2", "-1", "1.5"):
        assert main(["report", str(evaluated), "--k", wrong]) == 2
        assert "is not a whole number above 0" in capsys.readouterr().err
    assert {name: (evaluated / name).read_bytes() for name in names} == before
    try:
        assert main(["report", str(evaluated), "--k", "1,2"]) == 0
        said = capsys.readouterr().out
        rows = table(evaluated / "results.csv")
        document = json.loads((evaluated / "results.json").read_text())
        page, latex = ((evaluated / name).read_text() for name in ("report.html", "results.tex"))
        solved = set()
        for result, (label, row) in zip(document["samplers"], rows.items(), strict=True):
            name = result["settings"]["label"]
            grades = [{grade["id"]: grade["correct"] for grade in lines(evaluated / f"grades/{name}/seed-{seed}.jsonl")} for seed in (1, 2)]
            either = sum(any(of_seed[one] for of_seed in grades) for one in grades[0]) / 4
            mean = sum(of_seed[one] for of_seed in grades for one in of_seed) / 8
            assert result["at_k"] == {"pass@1": mean, "avg@1": mean, "pass@2": either, "avg@2": mean}
            cells = [f"{100 * mean:.1f}", f"{100 * either:.1f}", f"{100 * mean:.1f}"]
            assert [row["avg@1"], row["pass@2"], row["avg@2"]] == cells and row["pass@1"] == f"{100 * mean:.1f}"
            assert next(line for line in said.splitlines() if line.startswith(label)).split()[-3:] == cells
            assert "<td>" + "</td><td>".join(cells) + "</td></tr>" in page and " & " + " & ".join(cells) + " \\\\" in latex
            solved.add(either != mean)
        assert solved == {True, False}
        assert "avg@1   pass@2    avg@2" in said and "<th>avg@1 %</th><th>pass@2 %</th><th>avg@2 %</th>" in page
        assert "all choices of k of the 2 answers" in page and "& decode tokens & avg@1 & pass@2 & avg@2 \\\\" in latex
    finally:
        assert main(["report", str(evaluated)]) == 0
    assert {name: (evaluated / name).read_bytes() for name in names} == before


def test_the_page_is_whole_and_loads_nothing(evaluated: Path) -> None:
    page = Page()
    page.feed((evaluated / "report.html").read_text())
    page.close()
    assert page.open == [] and page.loads == []
    assert (evaluated / "results.tex").read_text().count("\\\\") == 5


def test_the_tables_are_latex(evaluated: Path) -> None:
    """Read by pylatexenc's strict reader: every brace, environment and sign of mathematics is closed."""
    text = (evaluated / "results.tex").read_text()
    nodes, _, read = LatexWalker(text, tolerant_parsing=False).get_latex_nodes()
    assert read == len(text)
    (tabular,) = (node for node in nodes if isinstance(node, LatexEnvironmentNode))
    rows = tabular.latex_verbatim().partition("\\toprule")[2].split("\\\\")[:-1]
    assert [row.replace("\\&", "").count("&") for row in rows] == [6] * 5


def test_a_second_run_of_the_same_settings_draws_nothing(evaluated: Path, tempera: str, worked_sum: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in evaluated.rglob("samples.jsonl")}
    asked = sums(worked_sum, tempera, evaluated, "--samplers", "ppt,standard,best-of-n,uncoupled-ladder", "--seeds", "2", "--all-rungs", "--particles", "3")
    assert main(asked) == 0
    assert {path: path.stat().st_mtime_ns for path in evaluated.rglob("samples.jsonl")} == before


@pytest.mark.parametrize("more", [["--seeds", "3"], ["--rounds", "2", "--seeds", "2"], ["--template", "boxed-answer", "--seeds", "2"]])
def test_other_settings_in_one_folder_are_refused(
    evaluated: Path, tempera: str, worked_sum: Path, more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    asked = sums(worked_sum, tempera, evaluated, "--samplers", "ppt,standard,best-of-n,uncoupled-ladder", "--all-rungs", "--particles", "3", *more)
    assert main(asked) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "holds an evaluation of other settings" in said


def test_a_killed_run_goes_on_to_the_same_answers(tmp_path: Path, tempera: str, worked_sum: Path) -> None:
    # Of many problems, so that a busy machine does not end the run before it is killed.
    asked = sums(worked_sum, tempera, tmp_path / "killed", "--samplers", "ppt", limit=200)
    started = subprocess.Popen([sys.executable, "-m", "tempera.eval", *asked], env={**os.environ, "PYTHONPATH": str(ROOT / "python")})
    run = tmp_path / "killed/answers/ppt/seed-1/run"
    while not (run / "checkpoint").exists():
        time.sleep(0.01)
        assert started.poll() is None
    # As a power failure does it: the stage and its child end at once.
    children = [child for thread in Path(f"/proc/{started.pid}/task").iterdir() for child in (thread / "children").read_text().split()]
    assert children
    for process in [started.pid, *map(int, children)]:
        os.kill(process, signal.SIGKILL)
    assert started.wait() == -signal.SIGKILL
    # The child is no child of ours: it holds the folder until the system has ended it.
    while subprocess.run(["ps", "-o", "stat=", "-p", ",".join(children)], capture_output=True, text=True).stdout.strip("Z+ls<N\n "):
        time.sleep(0.01)
    assert not (run.with_name("run.done")).exists()
    assert main(["grade", str(tmp_path / "killed")]) == 2
    assert main(asked) == 0
    assert main(sums(worked_sum, tempera, tmp_path / "whole", "--samplers", "ppt", limit=200)) == 0
    assert (run / "samples.jsonl").read_bytes() == (tmp_path / "whole/answers/ppt/seed-1/run/samples.jsonl").read_bytes()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_run_saved_and_in_one_line(tmp_path: Path, tempera: str, worked_sum: Path, number: int) -> None:
    asked = sums(worked_sum, tempera, tmp_path / "ended", "--samplers", "ppt", limit=200)
    started = subprocess.Popen(
        [sys.executable, "-m", "tempera.eval", *asked],
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        stderr=subprocess.PIPE,
        text=True,
        # It takes Ctrl-C even if these tests run in the background.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    run = tmp_path / "ended/answers/ppt/seed-1/run"
    while not (run / "checkpoint").exists():
        time.sleep(0.01)
        assert started.poll() is None
    started.send_signal(number)
    assert started.wait() == 128 + number
    assert started.stderr is not None
    said = started.stderr.read()
    started.stderr.close()
    assert said == ("tempera eval: stopped; the same command resumes it\n" if number == signal.SIGINT else "")
    assert main(asked) == 0 and len(lines(run / "samples.jsonl")) == 200


def test_grading_goes_on_after_half_a_line(evaluated: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = evaluated / "grades/ppt/seed-1.jsonl"
    whole = path.read_text()
    path.write_text("".join(whole.splitlines(keepends=True)[:2]) + whole.splitlines()[2][:20])
    assert main(["report", str(evaluated)]) == 2
    assert main(["grade", str(evaluated)]) == 0
    assert path.read_text() == whole
    # Verdicts that are there stay, right or wrong, and are made anew when asked for.
    turned = whole.replace('"correct": true', '"correct": null').replace('"correct": false', '"correct": true').replace('"correct": null', '"correct": false')
    assert turned != whole
    path.write_text(turned)
    assert main(["grade", str(evaluated)]) == 0 and path.read_text() == turned
    assert main(["grade", str(evaluated), "--again"]) == 0
    assert path.read_text() == whole
    for spoilt in ("no grade\n", '{"id": "held_out-1"}\n', "[]\n"):
        path.write_text(spoilt + whole)
        capsys.readouterr()
        assert main(["grade", str(evaluated)]) == 2
        assert "seed-1.jsonl, line 1: is not a grade of this version; remove the file" in capsys.readouterr().err
    path.unlink()
    assert main(["grade", str(evaluated)]) == 0 and path.read_text() == whole


def test_matched_samplers_take_about_the_tokens_of_ppt(tmp_path: Path, tempera: str, worked_sum: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "matched"
    samplers = "ppt,fixed-horizon,best-of-n,uncoupled-ladder"
    asked = sums(worked_sum, tempera, out, "--samplers", samplers, "--matched", "--pilot-problems", "8", limit=8)
    assert main(asked) == 0
    said = capsys.readouterr().err
    assert all(f"{name}:" in said for name in samplers.split(",")[1:]) and "decode tokens an answer, and ppt takes" in said
    matched = json.loads((out / "matched.json").read_text())
    assert [row["label"] for row in matched["samplers"]] == samplers.split(",")[1:]
    assert list(matched["samplers"][2]["pilots"])[0] == "3"  # an uncoupled ladder begins at ppt's own rounds
    for row in matched["samplers"]:
        # The nearest of all amounts that were tried, and within one amount's cost.
        distances = [abs(cost - matched["ppt_decode_tokens_per_answer"]) for cost in row["pilots"].values()]
        assert abs(row["decode_tokens"] - matched["ppt_decode_tokens_per_answer"]) == min(distances)
        assert min(distances) < 0.2 * matched["ppt_decode_tokens_per_answer"]
    config = json.loads((out / "answers/fixed-horizon/seed-1/run/config.json").read_text())
    assert config["rounds"] == [matched["samplers"][0]["amount"]] != [3]


@pytest.mark.parametrize(
    ("kind", "title", "labels", "points"),
    [
        ("replicas", "Sweep over replicas K", ["K = 1", "K = 2", "K = 3", "K = 4", "K = 5"], [1, 2, 3, 4, 5]),
        ("rounds", "Sweep over rounds N_m", ["rounds 1", "rounds 2", "rounds 4", "rounds 8", "rounds 10"], [1, 2, 4, 8, 10]),
    ],
)
def test_a_sweep_is_drawn_and_plotted(tmp_path: Path, tempera: str, worked_sum: Path, kind: str, title: str, labels: list[str], points: list[int]) -> None:
    out = tmp_path / "sweep"
    asked = [word for word in sums(worked_sum, tempera, out, "--sweep", kind) if kind != "rounds" or word not in ("--rounds", "3")]
    assert main(asked) == 0
    assert main(["grade", str(out)]) == 0 and main(["report", str(out)]) == 0
    assert list(table(out / "results.csv")) == labels
    text = (out / "report.html").read_text()
    section = text[text.index(f"<h2>{title}</h2>") :].partition("<h2>")[2].partition("<h2>")[0]
    # One plot by the number and one by the cost, with a dot for each.
    assert section.count("<circle") == 2 * len(points) and "decode tokens an answer" in section
    if kind == "rounds":
        drawn = [json.loads((out / "answers" / label.replace(" ", "-") / "seed-1/run/config.json").read_text())["rounds"] for label in labels]
        assert drawn == [[amount] for amount in points]


def test_the_equi_accepting_ladder_of_a_sweep_is_found_by_pilots(tmp_path: Path, tempera: str, worked_sum: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "sweep"
    asked = sums(worked_sum, tempera, out, "--sweep", "ladder", "--pilot-problems", "3")
    assert main([*asked, "--shard", "1/2"]) == 2 and "--shard: needs pilots first" in capsys.readouterr().err
    assert main(asked) == 0
    said = capsys.readouterr().err
    powers = json.loads((out / "ladder.json").read_text())["powers"]
    assert len(powers) == 5 and powers[0] == 1 and powers[-1] == 4 and powers == sorted(set(powers))
    assert said == f"ladder equi-accepting: powers {', '.join(f'{power:g}' for power in powers)} (pilots of 3 problems)\n"
    config = json.loads((out / "answers/ladder-equi-accepting/seed-1/run/config.json").read_text())
    assert config["powers"] == powers
    # It is what `tempera ladder` finds for the first three problems.
    found = json.loads(subprocess.run(
        [tempera, "ladder", "--model", worked_sum, "--prompts", out / "pilots/ladder.prompts.jsonl", "--from", "1", "--to", "4",
         "--replicas", "5", "--horizon", "28", "--block", "4", "--json"], check=True, capture_output=True, text=True).stdout)  # fmt: skip
    assert [round(power, 6) for power in found["powers"]] == powers
    assert len(lines(out / "pilots/ladder.prompts.jsonl")) == 3
    assert main(asked) == 0 and capsys.readouterr().err == ""  # found once


@pytest.mark.parametrize(
    ("kind", "title", "labels", "plots"),
    [
        ("ladder", "Sweep over ladders", ["ladder random", "ladder arithmetic", "ladder geometric", "ladder equi-accepting"], ["power α_k", "swaps accepted", "round trips an answer"]),
        ("schedule", "Sweep over schedules of swaps", ["schedule adj", "schedule deo"], ["swaps accepted", "round trips an answer"]),
    ],
)
def test_sweeps_of_kinds_plot_swaps_and_round_trips(
    tmp_path: Path, tempera: str, worked_sum: Path, kind: str, title: str, labels: list[str], plots: list[str]
) -> None:
    out = tmp_path / "sweep"
    assert main(sums(worked_sum, tempera, out, "--sweep", kind)) == 0
    assert main(["grade", str(out)]) == 0 and main(["report", str(out)]) == 0
    text = (out / "report.html").read_text()
    page = Page()
    page.feed(text)
    assert page.open == []
    section = text[text.index(f"<h2>{title}</h2>") :].partition("<h2>Paired")[0]
    assert [plot in section for plot in plots] == [True] * len(plots) and section.count("<svg") >= len(plots)
    # A dot for each edge of each ladder, at the share that the table of swaps gives.
    for label in labels:
        swaps = section[section.index("edge of rungs") :]
        summary = json.loads((out / "answers" / label.replace(" ", "-") / "seed-1/run/summary.json").read_text())
        shares = [edge["accepted"] / edge["attempts"] for edge in summary["edges"] if edge["attempts"]]
        dots = swaps[: swaps.index("</svg>")].count(f"<title>{label}: ")
        assert dots == len(shares) and all(f"<title>{label}: {share:.4g}</title>" in swaps for share in shares)
        assert label in section[section.index("round trips an answer") :]


def test_answers_of_another_program_are_graded(tmp_path: Path, worked_sum: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = tmp_path / "mine.jsonl"
    gold = lines(worked_sum / "held_out.jsonl")
    answers.write_text("".join(json.dumps({"id": f"held_out-{n}", "answer": "=" + (record["answer"] if n % 4 else "0")}) + "\n" for n, record in enumerate(gold, 1)))
    asked = ["run", "--task", "own", "--data", str(worked_sum / "held_out.jsonl"), "--grader", "worked-sum", "--answers", str(answers)]
    assert main([*asked, "--out", str(tmp_path / "out")]) == 0
    assert main(["grade", str(tmp_path / "out")]) == 0 and main(["report", str(tmp_path / "out")]) == 0
    assert table(tmp_path / "out/results.csv")["mine"]["pass@1"] == "75.0"
    for field, said in (
        ('"gold": "2"', 'the field "gold" has no meaning here'), ('"tokens": 0', '"tokens" is not a whole number above 0'),
        ('"tokens": true', '"tokens" is not a whole'), ('"log_p0": "-1"', '"log_p0" is not a number'), ('"terminated": 1', '"terminated" is not true or false'),
    ):  # fmt: skip
        answers.write_text(f'{{"id": "held_out-1", "answer": "=1", {field}}}\n')
        assert main([*asked, "--out", str(tmp_path / "other")]) == 2
        error = capsys.readouterr().err
        assert "line 1: " in error and said in error and error.count("\n") == 1
        assert not (tmp_path / "other").exists()


def test_answers_of_equal_length_and_time_are_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, answers = tmp_path / "d.jsonl", tmp_path / "mine.jsonl"
    data.write_text('{"prompt": "?", "answer": "a"}\n')
    asked = ["run", "--task", "own", "--data", str(data), "--answers", str(answers), "--out", str(tmp_path / "out")]
    for answer, code in (("a", 0), ("a", 0), ("b", 2), ("a", 0)):
        write_at_one_time(answers, json.dumps({"id": "d-1", "answer": answer}) + "\n")
        assert main(asked) == code, answer
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "holds an evaluation of other settings (answers digest)" in said


@pytest.mark.parametrize(
    ("body", "failure"),
    [
        ("raise ValueError('two\\nlines')", "crashed: ValueError: two lines"),
        ("import os; os._exit(3)", "crashed: the grader's process ended"),
        ("return 1", "crashed: TypeError: judge gave int, not True or False"),
        ("import time; time.sleep(99)", "timed out after 0.5 s"),
    ],
)
def test_a_grader_that_fails_is_told_and_listed_apart(
    tmp_path: Path, worked_sum: Path, body: str, failure: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from tempera.eval.graders.limited_worker import LimitedWorker

    ask = LimitedWorker.ask

    def ask_in_time(worker: LimitedWorker, *question: str) -> object:
        # However busy the machine is, the answers beside the sleeping one are judged.
        worker.seconds = 0.5 if "sleep" in body and question[-1] == "a" else 600.0
        return ask(worker, *question)

    monkeypatch.setattr(LimitedWorker, "ask", ask_in_time)
    (tmp_path / "own.py").write_text(f"def judge(text, answer):\n    if answer == 'a': {body}\n    return True\n")
    data, answers, out = tmp_path / "d.jsonl", tmp_path / "mine.jsonl", tmp_path / "out"
    data.write_text("".join(json.dumps({"prompt": "?", "answer": answer}) + "\n" for answer in "abc"))
    answers.write_text("".join(json.dumps({"id": f"d-{n}", "answer": "x"}) + "\n" for n in (1, 2, 3)))
    asked = ["run", "--task", "own", "--data", str(data), "--grader", f"{tmp_path / 'own.py'}:judge", "--answers", str(answers), "--out", str(out)]
    assert main(asked) == 0 and main(["grade", str(out)]) == 0
    assert capsys.readouterr().err == f"{out}: 1 of them not to the end: they count as wrong, and the report lists them\n"
    assert main(["report", str(out)]) == 0
    assert "not judged to the end, and counted as wrong: 1; the page lists them" in capsys.readouterr().out
    assert [(grade["correct"], grade["failure"]) for grade in lines(out / "grades/mine/seed-1.jsonl")] == [(False, failure), (True, ""), (True, "")]
    row = table(out / "results.csv")["mine"]
    assert (row["pass@1"], row["graders failed"]) == ("66.7", "1")
    listed = (out / "report.html").read_text().partition("could not be judged to the end")[2]
    assert html.escape(failure) in listed and "<td>d-1</td>" in listed and "<td>d-2</td>" not in listed


def test_the_verdicts_of_a_grader_that_has_changed_are_not_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    grader, data, answers, out = (tmp_path / name for name in ("own.py", "d.jsonl", "mine.jsonl", "out"))
    data.write_text("".join(json.dumps({"prompt": "?", "answer": answer}) + "\n" for answer in "abc"))
    answers.write_text("".join(json.dumps({"id": f"d-{n}", "answer": "a"}) + "\n" for n in (1, 2, 3)))
    asked = ["run", "--task", "own", "--data", str(data), "--grader", f"{grader}:judge", "--answers", str(answers), "--out", str(out)]

    def right() -> list[bool]:
        return [grade["correct"] for grade in lines(out / "grades/mine/seed-1.jsonl")]

    # Both texts have one length and one time, so nothing but their bytes tells them apart.
    write_at_one_time(grader, "def judge(text, answer):\n    return text == answer\n")
    assert main(asked) == 0 and main(["grade", str(out)]) == 0 and main(["report", str(out)]) == 0
    assert right() == [True, False, False] and capsys.readouterr().err == ""
    # What is judged stays as long as the grader does; half a file of verdicts goes on.
    grades = out / "grades/mine/seed-1.jsonl"
    grades.write_text("".join(grades.read_text().splitlines(keepends=True)[:2]).replace("true", "false"))
    assert main(["grade", str(out)]) == 0 and right() == [False, False, False] and capsys.readouterr().err == ""
    write_at_one_time(grader, "def judge(text, answer):\n    return text != answer\n")
    # The same run goes on, for no answer depends on the grader; a report of verdicts that are none is refused.
    assert main(asked) == 0
    assert main(["report", str(out)]) == 2
    said = f"tempera eval: {grader}:judge: the grader has changed since it judged the answers; tempera eval grade {out}\n"
    assert capsys.readouterr().err == said
    assert main(["grade", str(out)]) == 0
    assert right() == [False, True, True]
    assert capsys.readouterr().err == f"{grader}:judge: the grader has changed, so all answers are judged again\n"
    assert main(["report", str(out)]) == 0 and main(["grade", str(out)]) == 0 and capsys.readouterr().err == ""


def test_the_verdicts_of_a_grader_are_not_kept_either_if_what_it_imports_has_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of what is imported for a later answer, by a function when it is called."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "rules"))
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    (tmp_path / "rules").mkdir()
    grader, data, answers, out = (tmp_path / name for name in ("own.py", "d.jsonl", "mine.jsonl", "out"))
    data.write_text("".join(json.dumps({"prompt": "?", "answer": answer}) + "\n" for answer in "ab"))
    answers.write_text("".join(json.dumps({"id": f"d-{n}", "answer": "a"}) + "\n" for n in (1, 2)))
    asked = ["run", "--task", "own", "--data", str(data), "--grader", f"{grader}:judge", "--answers", str(answers), "--out", str(out)]
    write_at_one_time(grader, "def judge(text, answer):\n    import first_rule\n    return first_rule.right(answer)\n")
    texts = {
        "first_rule": [f"def right(answer):\n    if answer == 'a': return {right}\n    import second_rule\n    return second_rule.RIGHT\n"
                       for right in ("True ", "False")],
        "second_rule": ["RIGHT = False\n", "RIGHT = True \n"],
    }  # fmt: skip

    def write_rules(**which: int) -> None:
        for name, text in texts.items():
            write_at_one_time(tmp_path / "rules" / f"{name}.py", text[which.get(name, 0)])

    write_rules()
    assert main(asked) == 0 and main(["grade", str(out)]) == 0 and main(["report", str(out)]) == 0
    assert [grade["correct"] for grade in lines(out / "grades/mine/seed-1.jsonl")] == [True, False] and capsys.readouterr().err == ""
    for which, right in (({"second_rule": 1}, [True, True]), ({"first_rule": 1}, [False, False])):
        write_rules(**which)
        assert main(["report", str(out)]) == 2
        said = f"tempera eval: {grader}:judge: the grader has changed since it judged the answers; tempera eval grade {out}\n"
        assert capsys.readouterr().err == said
        assert main(["grade", str(out)]) == 0
        assert capsys.readouterr().err == f"{grader}:judge: the grader has changed, so all answers are judged again\n"
        assert [grade["correct"] for grade in lines(out / "grades/mine/seed-1.jsonl")] == right
        assert main(["report", str(out)]) == 0 and main(["grade", str(out)]) == 0 and capsys.readouterr().err == ""
    # One that is gone has changed, too.
    (tmp_path / "rules/second_rule.py").unlink()
    assert main(["report", str(out)]) == 2
    assert "the grader has changed" in capsys.readouterr().err


@pytest.mark.parametrize("changed, named", [("template", "template text"), ("data", "data digests")])
def test_a_template_or_a_task_of_equal_length_and_time_is_another(
    tmp_path: Path, worked_sum: Path, capsys: pytest.CaptureFixture[str], changed: str, named: str
) -> None:
    texts = {"template": ["1+{problem}", "2+{problem}"], "data": [json.dumps({"prompt": "4+7?", "answer": answer}) for answer in ("12", "13")]}
    asked = ["run", "--task", "own", "--grader", "worked-sum", "--model", str(worked_sum), "--powers", "1", "--samplers", "standard", "--horizon", "6",
             "--out", str(tmp_path / "out")]  # fmt: skip
    for name, written in texts.items():
        write_at_one_time(tmp_path / name, written[0])
        asked += [f"--{name}", str(tmp_path / name)]
    assert main(asked) == 0 and main(asked) == 0
    capsys.readouterr()
    write_at_one_time(tmp_path / changed, texts[changed][1])
    assert main(asked) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "holds an evaluation of other settings" in said and named in said


def test_a_preset_is_one_by_each_of_its_names(tmp_path: Path, tempera: str, worked_sum: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = sums(worked_sum, tempera, tmp_path / "out", "--preset", "Qwen3-8B/math500", "--seeds", "2", limit=1)
    assert main(asked) == 0
    plan = json.loads((tmp_path / "out/settings.json").read_text())
    assert plan["preset"] == plan["samplers"][0]["preset"] == "qwen3/math500"
    # Its family's name makes the same evaluation.
    asked[asked.index("Qwen3-8B/math500")] = "qwen3/math500"
    assert main(asked) == 0


def test_a_first_run_that_is_refused_leaves_the_folder_to_the_next(
    tmp_path: Path, tempera: str, worked_sum: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    refused = sums(worked_sum, tempera, out, "--samplers", "ppt")
    refused[refused.index("28")] = "99999"
    assert main(refused) == 2 and "99999" in capsys.readouterr().err and not out.exists()
    out.mkdir()
    assert main(refused) == 2 and not list(out.glob("*"))
    capsys.readouterr()
    asked = sums(worked_sum, tempera, out, "--samplers", "ppt")
    assert main(asked) == 0
    # What has answers is never taken away.
    assert main(refused) == 2 and "holds an evaluation of other settings" in capsys.readouterr().err
    assert main(["grade", str(out)]) == 0


def test_a_problem_that_cannot_be_asked_is_named(tmp_path: Path, tempera: str, worked_sum: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "d.jsonl"
    data.write_text("".join(json.dumps({"id": name, "prompt": prompt, "answer": "1"}) + "\n" for name, prompt in (("good", "1+2?"), ("bad", "one?"))))
    asked = ["run", "--task", "own", "--data", str(data), "--model", str(worked_sum), "--tempera", tempera, "--horizon", "8", "--out", str(tmp_path / "out")]
    assert main(asked) == 2
    assert capsys.readouterr().err.startswith('tempera eval: tempera sample: problem "bad": "o" has no token in ')
    assert not (tmp_path / "out").exists()


def test_a_first_run_that_fails_after_an_answer_leaves_it(tmp_path: Path, tempera: str, worked_sum: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tempera.eval.sampler_command import SamplerCommand

    whole = SamplerCommand.draw

    def fails_at_the_second(self: Any, prompts: Any, asked: Any, folder: Path, progress: Any) -> None:
        if "standard" in str(folder):
            raise BadInput("tempera sample", "no space is left")
        whole(self, prompts, asked, folder, progress)

    monkeypatch.setattr(SamplerCommand, "draw", fails_at_the_second)
    asked = sums(worked_sum, tempera, tmp_path / "out", "--samplers", "ppt,standard")
    assert main(asked) == 2 and (tmp_path / "out/answers/ppt/seed-1/run/samples.jsonl").exists()
    monkeypatch.undo()
    assert main(asked) == 0


WRONG = [
    (["run", "--task", "own"], "the following arguments are required"),
    (["run", "--task", "gms8k", "--data", "x", "--model", "m", "--out", "{out}"], "did you mean gsm8k?"),
    (["run", "--task", "own", "--data", "{data}", "--out", "{out}"], "--model: is missing"),
    (["run", "--task", "mbpp", "--data", "{data}", "--model", "{model}", "--horizon", "28", "--out", "{out}"], 'held_out.jsonl, line 1: the field "task_id" is missing'),
    (["run", "--task", "mmlu", "--data", "{data}", "--model", "{model}", "--horizon", "28", "--out", "{out}"], 'held_out.jsonl, line 1: the field "question" is missing'),
    (["run", "--task", "arc", "--data", "{data}", "--model", "{model}", "--horizon", "28", "--out", "{out}"], 'held_out.jsonl, line 1: the field "question" is missing'),
    (["run", "--task", "own", "--data", "{data}", "--model", "m", "--samplers", "ptt", "--out", "{out}"], 'no sampler "ptt"'),
    (["run", "--task", "own", "--data", "{data}", "--model", "{model}", "--preset", "qwen", "--out", "{out}"], 'no preset "qwen"'),
    (["run", "--task", "own", "--data", "{data}", "--model", "Qwen3.5-9B", "--preset", "qwen3/gpqa", "--out", "{out}"], "and the model is Qwen3.5-9B; give --preset qwen3.5/gpqa"),
    (["run", "--task", "own", "--data", "{data}", "--model", "{model}", "--preset", "qwen3/gpqa", "--out", "{out}"], "64 to leave free and a horizon of 1 exceed the 64 positions of the model"),
    (["run", "--task", "own", "--data", "{data}", "--model", "{model}", "--horizon", "28", "--prompting", "chat", "--out", "{out}"], 'no "chat_template": the model knows no conversations'),
    (["run", "--task", "own", "--data", "{data}", "--model", "{model}", "--horizon", "28", "--prompting", "chat", "--out", "{out}"], "give --prompting raw"),
    (["run", "--task", "own", "--data", "{data}", "--model", "{model}", "--out", "{out}"], "--horizon: is missing; give it, or a --preset"),
    (["run", "--task", "own", "--data", "{data}", "--model", "nowhere", "--horizon", "28", "--out", "{out}"], "nowhere"),
    (["run", "--task", "own", "--data", "{data}", "--model", "{model}", "--horizon", "99999", "--out", "{out}"], "99999"),
    (["run", "--task", "own", "--data", "{data}", "--model", "{model}", "--samplers", "standard", "--matched", "--out", "{out}"], "needs ppt"),
    (["run", "--task", "own", "--data", "{data}", "--model", "{model}", "--horizon", "28", "--out", "/dev/null/x"], "/dev/null"),
    (["run", "--task", "own", "--data", "{data}", "--model", "{model}", "--rounds", "0", "--out", "{out}"], "is not a whole number above 0"),
    *(
        (["run", "--task", "own", "--data", "{data}", "--answers", "a.jsonl", "--out", "{out}", *more], f"{more[0]}: has no effect with --answers")
        for more in (["--matched"], ["--seeds", "3"], ["--sweep", "rounds"], ["--samplers", "ppt"], ["--batch", "3"], ["--prompting", "chat"])
    ),
    *(
        (["run", "--task", "own", "--data", "{data}", "--model", "{model}", "--out", "{out}", *more], said)
        for more, said in (
            (["--sweep", "rounds", "--rounds", "3"], "--rounds: has no effect with --sweep rounds"),
            (["--sweep", "rounds", "--matched"], "--matched: has no effect with --sweep rounds"),
            (["--sweep", "schedule", "--schedule", "deo"], "--schedule: has no effect with --sweep schedule"),
            (["--sweep", "ladder", "--samplers", "ppt"], "--samplers: has no effect with --sweep ladder"),
            (["--equal-powers", "1,2"], "--equal-powers: has no effect without --sweep ladder"),
            (["--pilot-problems", "3"], "--pilot-problems: has no effect without pilots"),
            (["--sweep", "ladder", "--equal-powers", "1,2", "--pilot-problems", "3"], "--pilot-problems: has no effect without pilots"),
        )
    ),
    (["grade", "{out}"], "is not an evaluation"),
    (["report", "{out}"], "is not an evaluation"),
    (["judge"], "invalid choice"),
]


@pytest.mark.parametrize(("arguments", "said"), WRONG)
def test_a_wrong_command_is_one_line_and_exit_code_2(
    arguments: list[str], said: str, tmp_path: Path, worked_sum: Path, tempera: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEMPERA", tempera)
    names = {"{out}": str(tmp_path / "out"), "{data}": str(worked_sum / "held_out.jsonl"), "{model}": str(worked_sum)}
    assert main([names.get(argument, argument) for argument in arguments]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and error.startswith("tempera eval: ") and said in error


def test_a_command_that_is_not_there_is_named(tmp_path: Path, worked_sum: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = sums(worked_sum, str(tmp_path / "tempera"), tmp_path / "out")
    assert main(asked) == 2
    assert "is not a program that can be run" in capsys.readouterr().err


@needs_sandbox
def test_code_is_not_judged_without_a_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from tempera.eval.sandbox import bubblewrap

    data, answers = tmp_path / "h.jsonl", tmp_path / "a.jsonl"
    problem = {"prompt": "def f(x):\n", "entry_point": "f", "canonical_solution": "    return x\n", "test": "def check(f): assert f(1) == 1\n"}
    data.write_text("".join(json.dumps(problem | {"task_id": f"H/{n}"}) + "\n" for n in range(164)))
    answers.write_text("".join(json.dumps({"id": f"H/{n}", "answer": "    return x\n"}) + "\n" for n in range(164)))
    asked = ["run", "--task", "humaneval", "--data", str(data), "--answers", str(answers), "--limit", "2", "--out", str(tmp_path / "out")]
    assert main(asked) == 0
    bubblewrap._why_not.cache_clear()
    with monkeypatch.context() as without:
        without.setenv("PATH", str(tmp_path))
        assert main(["grade", str(tmp_path / "out")]) == 2
    assert "the sandbox: bubblewrap is not installed" in capsys.readouterr().err
    bubblewrap._why_not.cache_clear()
    assert main(["grade", str(tmp_path / "out")]) == 0
    assert [grade["correct"] for grade in lines(tmp_path / "out/grades/a/seed-1.jsonl")] == [True, True]
