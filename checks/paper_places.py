"""Where the paper prints what its source labels: numbers of sections, equations, tables, figures,
theorems and algorithms, counted through the source as LaTeX does. Read by checks/claims."""

import re
import string

# Theorems, lemmas, corollaries and remarks share one counter within a section; propositions have their own.
SHARED = {"theorem": "Theorem", "lemma": "Lemma", "corollary": "Corollary", "remark": "Remark"}
NUMBERED_EQUATIONS = ("equation", "align")
TOKEN = re.compile(
    r"\\(appendix)\b|\\(section|subsection)(\*?)\{|\\begin\{(\w+)(\*?)\}|\\end\{(\w+)\*?\}"
    r"|\\(captionof\{table\}|caption(?![a-z]))|\\label\{([^}]*)\}|(\\\\)"
)


def squeezed(source: str) -> str:
    """The source without its comments, all white space one space: what quotations are looked for in."""
    return re.sub(r"\s+", " ", re.sub(r"(?<!\\)%.*", "", source))


class Paper:
    """The numbers of one source of the paper."""

    def __init__(self, source: str) -> None:
        self.text = squeezed(source)
        self.labels: dict[str, str] = {}  # "App. C.3, Eq. 31" by label
        self._headings: list[tuple[int, str]] = [(0, "Abstract")]
        self._count()

    def section_at(self, position: int) -> str:
        """The heading that a position of the text is under: "App. C.3"."""
        return [heading for begin, heading in self._headings if begin <= position][-1]

    def place_of(self, quote: str, label: str) -> str | None:
        """Where a quotation is printed; None if it is not there word for word. With it the number of what
        the label names, if it is in the same section, or if it is a table or figure: "of Table 1"."""
        positions = [match.start() for match in re.finditer(re.escape(quote), self.text)]
        if not positions:
            return None
        sections = [self.section_at(position) for position in positions]
        labelled = self.labels.get(label, "")
        if labelled.split(", ")[0] in sections:
            return labelled
        number = labelled.split(", ")[-1]
        return sections[0] + (f", of {number}" if number.startswith(("Table", "Figure")) else "")

    def _count(self) -> None:
        section = subsection = equations = tables = figures = statements = propositions = algorithms = 0
        appendix = align = False
        floats: list[str] = []  # the environments that a caption may belong to
        inner: list[str] = []  # environments inside an align, whose \\ ends no row of it
        current = ""  # what a label names, besides its section
        top = ""
        for match in TOKEN.finditer(self.text):
            is_appendix, head, star, begin, starred, end, caption, label, row = match.groups()
            if is_appendix:
                section = section if appendix else 0
                appendix, subsection, current = True, 0, ""
            elif head and not star:
                current = ""
                if head == "section":
                    section, subsection, statements = section + 1, 0, 0
                    top = string.ascii_uppercase[section - 1] if appendix else str(section)
                else:
                    subsection += 1
                kind = "App." if appendix else "Sec."
                heading = f"{kind} {top}" + (f".{subsection}" if subsection else "")
                self._headings.append((match.start(), heading))
            elif begin:
                if begin in NUMBERED_EQUATIONS and not starred:
                    equations += 1
                    current, align = f"Eq. {equations}", begin == "align"
                elif begin in SHARED:
                    statements += 1
                    current = f"{SHARED[begin]} {top}.{statements}"
                elif begin == "proposition":
                    propositions += 1
                    current = f"Proposition {propositions}"
                elif begin in ("table", "figure", "algorithm", "wrapfigure"):
                    floats.append(begin)
                elif align:
                    inner.append(begin)
            elif end:
                if end in NUMBERED_EQUATIONS or end in SHARED or end == "proposition":
                    align, current = False, ""
                elif floats and end == floats[-1]:
                    floats.pop()
                    current = ""
                elif inner and end == inner[-1]:
                    inner.pop()
            elif caption:
                kind = "table" if "captionof" in caption else floats[-1] if floats else ""
                if kind == "table":
                    tables += 1
                    current = f"Table {tables}"
                elif kind == "algorithm":
                    algorithms += 1
                    current = f"Algorithm {algorithms}"
                elif kind:
                    figures += 1
                    current = f"Figure {figures}"
            elif label:
                self.labels[label] = self.section_at(match.start()) + (f", {current}" if current else "")
            elif row and align and not inner:
                equations += 1
                current = f"Eq. {equations}"
