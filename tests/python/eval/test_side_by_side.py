"""Several evaluations in one table: the paper's rows and values beside ours, by task."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from conftest import Page, write_records
from pylatexenc.latexwalker import LatexWalker

from tempera.eval.command import main

QUESTIONS = [("4+7+9?", "20"), ("3+8+6+2?", "19"), ("1+2+3?", "6")]


def evaluation(folder: Path, task: str, tempera: str, model: Path, *more: str) -> str:
    """Sums asked as if they were a benchmark's, answered, judged; its folder."""
    count, question = (1319, "question") if task == "gsm8k" else (30, "problem")
    records = [{question: QUESTIONS[n % 3][0], "answer": ("#### " if task == "gsm8k" else "") + QUESTIONS[n % 3][1]} for n in range(count)]
    data = write_records(folder / f"{task}.jsonl", records)
    files = ["--data", str(data)] * (2 if task == "aime" else 1)
    out = str(folder / f"{task}{len(more)}")
    asked = ["run", "--task", task, *files, "--model", str(model), "--prompting", "raw", "--template", "plain", "--limit", "3"]
    asked += ["--powers", "1,1.6,2.5,4", "--horizon", "28", "--block", "4", "--rounds", "3", "--samplers", "ppt,standard,best-of-n,uncoupled-ladder"]
    assert main([*asked, "--tempera", tempera, "--out", out, *more]) == 0 and main(["grade", out]) == 0
    return out


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory, tempera: str, worked_sum: Path) -> list[str]:
    folder = tmp_path_factory.mktemp("two")
    return [evaluation(folder, "gsm8k", tempera, worked_sum, "--seeds", "2"), evaluation(folder, "aime", tempera, worked_sum)]


@pytest.fixture(scope="module")
def tables(folders: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("table") / "tables"
    assert main(["report", *folders, "--out", str(out)]) == 0
    return out


def rows(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def test_each_cell_has_our_figures_and_the_papers(tables: Path, folders: list[str]) -> None:
    paper = json.loads((Path(__file__).parents[3] / "proofs/paper_tables.json").read_text())
    of_tasks = paper["tab:main-results-extended"]
    found = {(row["task"], row["sampler"], row["paper sampler"]): row for row in rows(tables / "tables.csv")}
    for folder, task, column in zip(folders, ("GSM8K", "AIME 24&25"), ("GSM8K", "AIME 24&25"), strict=True):
        own = {row["sampler"]: row for row in rows(Path(folder) / "results.csv")}
        for label, name in (("ppt", "PPT"), ("standard", "Standard")):
            row = found[task, label, name]
            assert {key: row[key] for key in ("pass@1", "sd", "low", "high", "n", "seeds")} == {key: own[label][key] for key in ("pass@1", "sd", "low", "high", "n", "seeds")}
            assert row["paper"] == of_tasks["groups"]["Qwen3-8B"][name][of_tasks["columns"].index(column)]
            assert row["paper sd"] == paper["tab:main-results-extended, deviations"]["groups"]["Qwen3-8B"][name][of_tasks["columns"].index(column)]
            assert row["differs from the paper"] == own[label]["differs from the paper"] and "the first 3 problems" in row["differs from the paper"]
    # A row of the paper that nobody ran has its values alone; a value of another of its tables has no deviation.
    grpo = found["GSM8K", "", "GRPO"]
    assert (grpo["pass@1"], grpo["n"], grpo["paper"]) == ("", "", "94.6")
    best = found["AIME 24&25", "best-of-n", "Best-of-N"]
    assert (best["paper table"], best["paper sd"]) == ("tab:compute-matched-app", "")


def test_every_table_names_the_template(tables: Path) -> None:
    for row in rows(tables / "tables.csv"):
        assert (row["template"], row["prompting"]) == ("plain", "raw")
    for name in ("tables.html", "tables.tex"):
        text = (tables / name).read_text().replace("\\", "").replace("&amp;", "&")
        assert "GSM8K: template plain, raw; AIME 24&25: template plain, raw" in text


def test_the_page_numbers_what_differs(tables: Path) -> None:
    text = (tables / "tables.html").read_text()
    page = Page()
    page.feed(text)
    page.close()
    assert page.open == [] and page.loads == []
    notes = re.findall(r"<li>(.*?)</li>", text)
    marks = {int(number) for group in re.findall(r"<sup>(.*?)</sup>", text) for number in group.split(",")}
    assert marks == set(range(1, len(notes) + 1)) and len(set(notes)) == len(notes)
    assert "n = 3, 2 seeds" in text and "n = 3, 1 seed<" in text and "GRPO (the paper&#x27;s alone)" in text
    # Seeds of one task are no note of the other.
    cell = re.search(r"<td>ppt</td><td>.*?<sup>(.*?)</sup>", text)
    assert cell is not None and "2 seeds (the paper: 5)" in [notes[int(number) - 1] for number in cell.group(1).split(",")]


def test_the_latex_table_has_a_row_for_each_sampler(tables: Path) -> None:
    text = (tables / "tables.tex").read_text()
    body = text[text.index("\\midrule") : text.index("\\bottomrule")]
    ours = ["ppt", "standard", "best-of-n", "uncoupled-ladder"]
    alone = [f"{name} (the paper's alone)" for name in ("Lower Temperature", "Power Sampling", "PowerSMC", "GRPO")]
    assert [line.partition(" & ")[0] for line in body.splitlines()[1:]] == ours + alone
    assert LatexWalker(text, tolerant_parsing=False).get_latex_nodes()[2] == len(text)
    assert all(line.count("&") == 4 for line in body.splitlines()[1:]) and "AIME 24\\&25: n = 3, 1 seed" in text


def test_what_no_table_can_show_is_one_line(
    folders: list[str], tables: Path, tempera: str, worked_sum: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    again = evaluation(tmp_path, "gsm8k", tempera, worked_sum, "--first-seed", "7")
    capsys.readouterr()
    for arguments, said in (
        (folders, "--out: is missing; several evaluations are shown in one table"),
        ([folders[0], "--out", str(tmp_path / "x")], "--out: has no effect on one evaluation"),
        ([*folders, "--out", folders[0]], "is an evaluation; give --out a folder for the table alone"),
        ([*folders, again, "--out", str(tmp_path / "x")], f"{folders[0]} and {again}: are both of GSM8K and {worked_sum}"),
        ([folders[0], str(tables), "--out", str(tmp_path / "x")], f"{tables}: is not an evaluation"),
    ):
        assert main(["report", *arguments]) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1 and error.startswith("tempera eval: ") and said in error, error
    assert not (tmp_path / "x").exists()
