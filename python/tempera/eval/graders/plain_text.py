r"""An answer without LaTeX's and Markdown's dress: what the graders of numbers and of letters have in common."""

from __future__ import annotations

import re

_END = r"(?![A-Za-z])"  # of a command of LaTeX

# What can be written in several ways gets one. Fractions become ⟨a⁄b⟩, so that 1⟨1⁄2⟩ can be told from the product 1(1/2).
ROWS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(expression), replacement)
    for expression, replacement in (
        (r"[−‐‑–]|\{-\}", "-"),
        (r"\\(?:text)?dollar" + _END + r"|\\\$", "$"),
        (r"\\(?:text)?euro" + _END, "€"),
        (r"\\(?:pounds|textsterling)" + _END, "£"),
        (r"\\%", "%"),
        (r"\\(?:left|right|displaystyle|bf|rm|bfseries|large|Large)" + _END, ""),
        (r"\{,\}|,\\!\s*", ","),
        (r"\\!|\{\}", ""),
        (r"(?<=[0-9])(?:\\[,;: ]|[~\u00a0\u2009\u202f])(?=[0-9]{3}(?![0-9]))", ","),
        (r"\\(?:quad|qquad)" + _END, " ; "),
        (r"\\[,;: ]|~", " "),
        (r"\\approx" + _END, "≈"),
        (r"\\(?:times|cdot)" + _END + r"|[·*](?=\s*10\s*\^)", "×"),
        (r"\s*\^\s*(?:\{\s*\\circ\s*\}|\\circ" + _END + r")|\\degrees?" + _END + r"|º", "°"),
        (r"²", "^2"),
        (r"³", "^3"),
        (r"½", "⟨1⁄2⟩"),
        (r"¼", "⟨1⁄4⟩"),
        (r"¾", "⟨3⁄4⟩"),
        (r"⅓", "⟨1⁄3⟩"),
        (r"⅔", "⟨2⁄3⟩"),
        (r"\\[dt]?frac\s*([0-9])\s*([0-9])", r"⟨\1⁄\2⟩"),
        (r"\\[dt]?frac\s*([0-9])\s*\{([^{}]*)\}", r"⟨\1⁄\2⟩"),
        (r"\\[dt]?frac\s*\{([^{}]*)\}\s*([0-9])", r"⟨\1⁄\2⟩"),
        (r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", r"⟨\1⁄\2⟩"),
        (r"\{([^{}]*)\\over" + _END + r"([^{}]*)\}", r"⟨\1⁄\2⟩"),
        (r"\.([0-9]*)\\(?:overline|bar)\s*\{([0-9]+)\}", r".\1[\2]"),
        (r"\\(?:text|mbox|emph|underline|boldsymbol|operatorname)\s*\{([^{}]*)\}", r" \1 "),
        (r"\\(?:text|math)(?:bf|rm|sf|it|tt)\s*\{([^{}]*)\}", r" \1 "),
        (r"\\(?:text)?color\s*\{[^{}]*\}", ""),
        (r"\^\s*\{([^{}]*)\}", r"^(\1)"),
        (r"(?<![_A-Za-z}])\{([^{}]*)\}(?!\{)", r" \1 "),
        (r"\\[()\[\]]", " "),
        (r"(?<![0-9])(?:\*\*|__)|(?:\*\*|__)(?![0-9])|`", ""),
        (r"(?<!\S)\*(?=\S)|(?<=\S)\*(?=[\s.,]|$)", ""),
        (r"-\$(?=[0-9.])", "-"),
        (r"(?:US|HK|NZ|AU|CA|A|C|S)\$(?=[0-9])|\$", " "),
        (r"\s+", " "),
    )
)  # fmt: skip


def plain(text: str) -> str:
    r"""The text after all rows, again and again until none changes it: what stands within braces comes before them.

    >>> plain(r"\textbf{$\dfrac{1}{2}$} \text{m}")
    ' ⟨1⁄2⟩ m '
    """
    before = None
    while before != text:
        before = text
        for expression, replacement in ROWS:
            text = expression.sub(replacement, text)
    return text
