"""How Sphinx makes the site of what docs/build has put together in build/site/source. Every warning is an error there."""

import os
import re
import sys

sys.path.insert(0, os.environ["TEMPERA_SITE_PYTHON"])

project = "tempera"
release = os.environ["TEMPERA_SITE_VERSION"]
version = release
copyright = "the authors of tempera; MIT licence"
extensions = ["myst_parser", "sphinx.ext.autodoc", "breathe"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["README.md", "tree"]
# Links to headings are the same on the site and in the tree.
myst_heading_anchors = 4
# Output of programs is shown as it is, and code that a page quotes need not be a whole program.
highlight_language = "none"
html_theme = "furo"
html_title = f"tempera {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}
pygments_style = "friendly"
pygments_dark_style = "monokai"
# Gigabytes, and no part of what is described.
autodoc_mock_imports = ["torch", "transformers"]
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
# numpy's types are named as the source names them.
autodoc_type_aliases = {"NDArray": "NDArray", "Prompt": "Prompt", "Powers": "Powers", "Tokens": "Tokens"}
breathe_projects = {"tempera": os.environ["TEMPERA_SITE_DOXYGEN"]}
breathe_default_project = "tempera"
breathe_domain_by_extension = {"hpp": "cpp"}
# Each header opens the namespace tempera again, and is a section of its own.
suppress_warnings = ["duplicate_declaration.cpp"]


def as_restructured_text(_app, _what, _name, _object, _options, lines):
    """Docstrings are plain text with `code` and doctests. Characters that mean something to reStructuredText are escaped."""
    written, in_example = [], False
    for line in lines:
        if line.lstrip().startswith(">>>"):
            in_example = True
        elif not line.strip():
            in_example = False
        if in_example:
            written.append(line)
            continue
        parts = re.split(r"(`[^`]+`)", line)
        line = "".join(f"`{part}`" if part.startswith("`") and part.endswith("`") and len(part) > 2 else re.sub(r"([*_|\\`])", r"\\\1", part) for part in parts)
        # Indented lines are examples or lists in the source; here a line's own indent has no meaning.
        written.append(line.strip())
    lines[:] = written


def setup(app):
    app.connect("autodoc-process-docstring", as_restructured_text)
