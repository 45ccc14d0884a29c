r"""An answer without the markup of LaTeX and Markdown, for the graders of numbers and of letters."""

from __future__ import annotations

import re

# What can be written in several ways gets one. Signs of currency are left out. Fractions become ⟨a⁄b⟩, so that 1⟨1⁄2⟩ can be
# told from the product 1(1/2).
ROWS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(expression), replacement)
    for expression, replacement in (
        (r"[−‐‑‒–﹣－]", "-"),
        (r"[‘’]", "'"),
        (r"'(\w+)'|[“”«»]|</?[a-z]+>", r" \1 "),
        (r"\[(\[.*?\])\]", r"\1"),
        (r"\\(?:text)?dollar|\\(?:text)?euro|\\pounds|\\textsterling|[£¥₹¢$]", "€"),
        (r"\\%", "%"),
        (r"\\(?:left|right|displaystyle|bfseries|bf|rm|large|Large)", ""),
        (r"\{,\}|,\\!\s*", ","),
        (r"\\!|\{\}", ""),
        (r"(?<=[0-9])(?:\\[,;: ]|[~\u00a0\u2009\u202f])(?=[0-9][0-9][0-9])", ","),
        (r"\\q?quad|\\\\|\\[,;: ]|~", " "),
        (r"\\approx", "≈"),
        (r"\\(?:times|cdot)|(?<=[0-9]) ?[·*] ?(?=10\^)", "×"),
        (r"\^ ?(?:\{\\circ\}|\\circ)|\\degree|º", "°"),
        (r"²", "^2"),
        (r"³", "^3"),
        (r"½", "⟨1⁄2⟩"),
        (r"¼", "⟨1⁄4⟩"),
        (r"¾", "⟨3⁄4⟩"),
        (r"⅓", "⟨1⁄3⟩"),
        (r"⅔", "⟨2⁄3⟩"),
        (r"\\[dt]?frac\s*(?:\{([^{}]*)\}|([0-9]))\s*(?:\{([^{}]*)\}|([0-9]))", r"⟨\1\2⁄\3\4⟩"),
        (r"\{([^{}]*)\\over([^{}]*)\}", r"⟨\1⁄\2⟩"),
        (r"\.([0-9]*)\\(?:overline|bar)\{([0-9]+)\}", r".\1[\2]"),
        (r"\\(?:text|mbox|emph|underline|boldsymbol|operatorname)\{([^{}]*)\}", r" \1 "),
        (r"\\(?:text|math)(?:bf|rm|sf|it|tt)\{([^{}]*)\}", r" \1 "),
        (r"\\(?:text)?color\{[^{}]*\}", ""),
        (r"\^\{([^{}]*)\}", r"^(\1)"),
        (r"(?<![a-z\\])\{([^{}]*)\}", r" \1 "),
        (r"\\[()\[\]]", " "),
        (r"(?<![0-9])\*\*|\*\*(?![0-9])|__|`", ""),
        (r"^\*|\*(?=\.?$)", ""),
        (r"(?<=-)€", ""),
        (r"(?:US|HK|NZ|AU|CA|A|C|S)€(?=[0-9])|(?:Rs\.?|USD|EUR|GBP|INR|JPY)|[€\"]", " "),
        (r"\s+", " "),
    )
)


def plain(text: str) -> str:
    r"""The text after all rows, applied until none changes it: the inner of two pairs of braces goes first.

    >>> plain(r"\textbf{$\dfrac{1}{2}$} \text{m}")
    ' ⟨1⁄2⟩ m '
    """
    before = None
    while before != text:
        before = text
        for expression, replacement in ROWS:
            text = expression.sub(replacement, text)
    return text
