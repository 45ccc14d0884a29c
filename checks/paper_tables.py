"""What the tables of the paper's source print, cell by cell, and where that differs from
proofs/paper_tables.json. Read by checks/claims."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple


class Place(NamedTuple):
    """Where paper_tables.json has a cell."""

    label: str
    group: str
    row: str
    column: str

    def __str__(self) -> str:
        return f"{self.label}, {self.group}, {self.row}, {self.column}"


class Printed(NamedTuple):
    """A number as it is printed; no text is a dash."""

    text: str | None
    bold: bool


#: The cells that some tables print, or that paper_tables.json has.
Cells = dict[Place, Printed]

# Names of the paper's that are written in another way elsewhere, and what paper_tables.json calls them.
ALIASES = {
    "MATH 500": "MATH500", "Human Eval": "HumanEval", "LCB": "LCB v5", "LiveCodeBench": "LCB v5",
    "LiveCodeBench v5": "LCB v5", "GPQA-D": "GPQA", "GPQA-Diamond": "GPQA", "PPT with DEO": "DEO", "PPT with ADJ": "ADJ",
    "Truncating, K=1": "Truncating, K = 1", "Fixed-horizon, K=1": "Fixed-horizon, K = 1", "Acc. ": "Accuracy",
    "Hit cap. ": "Hit capacity", "Single-chain": "Single chain", "Uncoupled ladder (Likelihood/Coldest Rung)": "Uncoupled ladder",
}  # fmt: skip
# The group of a table that has one and does not head it.
ONE_GROUP = {
    "tab:qwen35-9b": "Qwen3.5-9B", "tab:compute-matched-main": "Qwen3-8B", "tab:swap-acceptance": "acceptance",
    "fig:condensed-tv-summary": "four-state", "tab:ppt-hyperparams-qwen3-4b": "Qwen3",
    "tab:ppt-hyperparams-qwen35-9b": "Qwen3.5-9B",
}  # fmt: skip
REPORTED = ("GPT-5", "Opus 4.5", "GLM 4.7")
# Sentences that print the values of a figure or a list, with the places of those values in them.
SENTENCES = {
    "fig:local_update_ablation": [
        ("by $4$ steps ($+{gain/MATH500/4 steps}$ on MATH500, $+{gain/HumanEval/4 steps}$ on HumanEval), and the best "
         "results come at $10$ steps ($+{gain/MATH500/10 steps}$ and $+{gain/HumanEval/10 steps}$)"),
    ],
    "fig:replica_tradeoff": [
        ("$K=4$, gains ${text/MATH500/gain of K = 4}$ and ${text/HumanEval/gain of K = 4}$ percentage points over $K=1$, "
         "while $K=5$ peaks at $+{text/MATH500/gain of K = 5}$ and $+{text/HumanEval/gain of K = 5}$."),
        ("with $K=4$, the total cost is only ${text/MATH500/cost of K = 4}\\times$ and "
         "${text/HumanEval/cost of K = 4}\\times$ that of a single chain on MATH500 and HumanEval, respectively."),
    ],
    "sec:exp-settings": [
        ("There are {items/MATH/problems} problems total, with {items/MATH/training} training problems and "
         "{items/MATH/test} test problems."),
        "{MATH500} is a fixed subset of {items/MATH500/problems} problems",
        "HumanEval is a set of {items/HumanEval/problems} handwritten programming problems",
        "which consists of {items/GPQA/problems} questions",
        "We evaluate on the standard {items/GSM8K/problems}-problem test split.",
        "We evaluate on the combined ${items/AIME 24&25/problems}$-problem set",
    ],
}  # fmt: skip


def plain(source: str) -> str:
    """The words that a piece of a table prints."""
    text = re.sub(r"\\(hspace|vspace|rowcolor|cmidrule\(lr\))\*?\{[^{}]*\}", " ", source)
    text = re.sub(r"\\multicolumn\{\d+\}\{[^{}]*(?:\{\}[^{}]*)*\}|\\multirow\{\d+\}\{\*\}|\\textcolor\{\w+\}", " ", text)
    text = re.sub(r"\\begin\{tabular\}\[b\]\{@\{\}l@\{\}\}|\\end\{tabular\}", " ", text)
    text = text.replace("\\\\", " ").replace("{,}", "").replace("\\&", "&").replace("~", " ").replace("\\,", "").replace("\\ ", " ")
    text = re.sub(r"\\(?:method|PPT)\b(\{\})?", "PPT ", text)
    text = text.replace("\\textemdash", "--")
    text = re.sub(r"\$\^\{\\dagger\}\$|\\(?:up|down)arrow|\\(?:textbf|small|tiny|shortstack|sd|toprule|midrule|bottomrule|hline)(?![a-z])", "", text)
    text = re.sub(r"\\[()]|[{}$]", "", text)
    return re.sub(r"\s+", " ", text).strip()


def named(source: str) -> str:
    """A row's or a column's name as paper_tables.json has it."""
    text = plain(source)
    text = re.sub(r" ?\((?:Ours|K[=>]\d|default|fixed-horizon, K>1|Power Sampling|GiB|sec)\)", "", text).strip()
    text = re.sub(r"\bPPT (?!with)", "PPT", text)
    for suffix in ("", " "):
        text = ALIASES.get(text + suffix, text)
    return text


def split(source: str, mark: str) -> list[str]:
    """The parts between marks that are inside no braces and no environment."""
    parts, depth, begin, at = [], 0, 0, 0
    while at < len(source):
        if source.startswith(mark, at) and depth == 0:
            parts.append(source[begin:at])
            at = begin = at + len(mark)
            continue
        if source.startswith(("\\begin{", "\\end{"), at):
            depth += 1 if source.startswith("\\begin{", at) else -1
        elif source[at] == "\\":
            at += 1  # what follows is escaped, or begins a macro's name
        elif source[at] in "{}":
            depth += 1 if source[at] == "{" else -1
        at += 1
    return [*parts, source[begin:]]


def body_of(text: str, label: str) -> str | None:
    """The inside of the table with this label; None if there is none."""
    found = text.find(f"\\label{{{label}}}")
    if found < 0:
        return None
    # A table's label is before it; that of the one figure that holds a table is after it.
    begin = text.rfind("\\begin{tabular}", 0, found) if label.startswith("fig:") else text.find("\\begin{tabular", found)
    if begin < 0:
        return None
    depth = inside = 0
    for match in re.finditer(r"\\(begin|end)\{tabular\*?\}", text[begin:]):
        inside = inside or match.end()
        depth += 1 if match.group(1) == "begin" else -1
        if depth == 0:
            return text[begin + inside : begin + match.start()]
    return None


def columns_of(heads: list[list[str]]) -> list[str]:
    """The names of the columns, by rows of headings that may span some."""
    names: list[list[str]] = []
    for head in heads:
        at = 0
        for cell in head:
            span = re.match(r"\s*\\multicolumn\{(\d+)\}", cell)
            for _ in range(int(span.group(1)) if span else 1):
                while len(names) <= at:
                    names.append([])
                if name := named(cell):
                    names[at].append(name)
                at += 1
    return [" ".join(name) for name in names]


def cells_of(text: str, label: str) -> Iterator[tuple[Place, Printed]]:
    """Every cell of one table, by its place in paper_tables.json."""
    body = body_of(text, label)
    if body is None:
        return
    group, heads, columns = ONE_GROUP.get(label, ""), [], []
    rules = 0
    for row in split(body, "\\\\"):
        rules += len(re.findall(r"\\(?:toprule|midrule|hline)\b", row))
        cells = split(row, "&")
        if rules < 2 and len(cells) > 1:
            heads.append(cells)
            continue
        columns = columns or columns_of(heads)[1:]
        name = named(cells[0])
        if len(cells) == 1:
            group = name or group
            continue
        if label == "fig:condensed-tv-summary":
            if "infty" in name:  # the limit, which is a claim of its own
                continue
            cells, columns, name = [cells[0], *cells], ["N", "Fixed horizon", "Unbalanced"], f"N = {name}"
        if label.startswith("tab:ppt-hyperparams"):
            powers = re.findall(r"[\d.]+", plain(cells[2]))
            count = 6 if label == "tab:ppt-hyperparams-qwen3-4b" else 3
            cells = [cells[0], cells[1], *cells[3:], *powers, *["--"] * (count - len(powers))]
            columns = ["K", "T", "B", "N_MCMC", *(f"alpha_{k}" for k in range(1, count + 1))]
        for column, cell in zip(columns, cells[1:], strict=True):
            yield from printed_in(Place(label, group, name, column), cell)


def printed_in(place: Place, cell: str) -> Iterator[tuple[Place, Printed]]:
    """The numbers that a cell prints, each with its place."""
    label, group, row, column = place
    words = plain(cell)
    numbers: list[str | None] = [*re.findall(r"\d+(?:\.\d+)?", words)]
    if not numbers and words.strip("-") == "":
        numbers = [None]
    places = [place]
    if label == "tab:main-results-extended":
        places.append(Place(f"{label}, deviations", group, row, column))
        numbers = numbers * 2 if numbers == [None] else numbers
    elif label == "tab:compute-matched-single-chain":
        places.append(Place(label, group, row, f"{column} tokens"))
    elif label == "tab:compute-matched-app" and row == "Uncoupled ladder":
        places.append(Place(label, group, f"{row}, coldest rung", column))
        numbers = [*numbers, None] if column.endswith("Vote") else numbers
    elif label == "tab:cold-replica-results":
        model, _, what = column.partition(" ")
        places = [Place(label, model, row, what)]
    elif label == "tab:qwen35-9b" and row in REPORTED:
        places = [Place(label, "Reported", row, column)]
    for number, (at, to) in enumerate(zip(numbers, places, strict=True)):
        yield to, Printed(at, "\\textbf{" in cell and number == 0)


def of_source(text: str, tables: dict[str, Any]) -> tuple[Cells, list[str]]:
    """The cells that the paper's source prints of these tables, and what could not be found or read.
    text: the source without its comments, all white space one space."""
    cells: Cells = {}
    problems = []
    for label in tables:
        if ", " in label:
            continue  # is read with the table that prints it, too
        if label in SENTENCES:
            for sentence in SENTENCES[label]:
                parts = re.split(r"\{([^{}]*/[^{}]*/[^{}]*)\}", sentence)
                pattern = "".join(re.escape(part) if i % 2 == 0 else r"(\d+(?:\.\d+)?)" for i, part in enumerate(parts))
                found = re.search(pattern, text)
                if not found:
                    problems.append(f"{label}: the paper lacks the sentence {sentence!r}")
                    continue
                for where, value in zip(parts[1::2], found.groups(), strict=True):
                    cells[Place(label, *where.split("/"))] = Printed(value, False)
            continue
        try:
            read = list(cells_of(text, label))
        except ValueError as error:
            problems.append(f"{label}: the paper's table is of another form: {error}")
            continue
        if not read:
            problems.append(f"{label}: the paper has no such table")
        cells.update(read)
    return cells, problems


def of_json(tables: dict[str, Any]) -> Cells:
    """The cells that paper_tables.json has."""
    return {
        Place(label, group, row, column): Printed(
            value, column in table.get("bold", {}).get(group, {}).get(row, [])
        )
        for label, table in tables.items()
        for group, rows in table["groups"].items()
        for row, values in rows.items()
        for column, value in zip(table["columns"], values, strict=True)
    }


def differences(text: str, tables: dict[str, Any]) -> list[str]:
    """Each way in which paper_tables.json is not what the paper prints; none if it is."""

    def shown(cell: Printed | None) -> str:
        if cell is None or cell.text is None:
            return "nothing"
        return cell.text + (" in bold" if cell.bold else "")

    printed, problems = of_source(text, tables)
    kept = of_json(tables)
    for place in sorted(set(printed) | set(kept)):
        there, here = printed.get(place), kept.get(place)
        if shown(there) != shown(here):
            problems.append(f"{place}: the paper prints {shown(there)}, and proofs/paper_tables.json has {shown(here)}")
    return problems
