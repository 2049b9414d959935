"""Sphinx's settings for the website of the course."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType
from typing import Any

project = "minigrad"
html_title = "minigrad"
extensions = ["myst_nb", "sphinx.ext.autodoc"]
myst_enable_extensions = ["colon_fence", "deflist"]
exclude_patterns = ["static", "extra"]

nb_execution_mode = "off"  # the lessons have been run
nb_render_markdown_format = "myst"
myst_heading_anchors = 3

html_theme = "furo"
html_static_path = ["static"]
html_extra_path = ["extra"]
html_css_files = ["site.css"]
html_js_files = [("site.js", {"defer": "defer"})]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"

autodoc_member_order = "bysource"
autodoc_typehints = "none"


def once(
    app: Any, what: str, name: str, member: Any, skip: bool, options: Any
) -> bool | None:
    """Leave out what another module has shown already, under the same object."""
    if what != "module":
        return None
    if isinstance(member, ModuleType):
        return True
    place = getattr(member, "__module__", ""), getattr(member, "__qualname__", name)
    shown = app.env.__dict__.setdefault("minigrad_shown", {})
    return True if shown.setdefault(place, app.env.docname) != app.env.docname else None


def as_restructured_text(
    app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Docstrings are plain text: say so to what would see marks in it."""
    blocks = "\n".join(lines).split("\n\n")
    lines[:] = [line for block in blocks for line in [*marked(block), ""]]


def marked(block: str) -> list[str]:
    """A paragraph of a docstring; one of code stays code."""
    rows = block.strip("\n").split("\n")
    if rows[0].lstrip().startswith(">>>"):
        return rows
    if all(row.startswith(" ") for row in rows):
        return ["::", "", *[f"    {row}" for row in rows]]
    starts = re.compile(r"(Raises|Saves|Shape|See|Returns|Yields|Note|-|\*) ?")
    text = [("\n\n" if starts.match(row) else "") + row.strip() for row in rows]
    parts = re.split(r"(``.*?``|`.*?`)", " ".join(text), flags=re.DOTALL)
    parts[::2] = [re.sub(r"([*|\\]|_\b)", r"\\\1", part) for part in parts[::2]]
    return "".join(parts).split("\n")


def mended(
    app: Any, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Say rightly what a screen reader hears, and mark no code that looks plain."""
    for part in ("body", "furo_navigation_tree"):
        text = context.get(part, "").replace(' aria-label="Toggle hidden content"', "")
        text = text.replace('role="heading"', 'role="heading" aria-level="2"')
        context[part] = re.sub(r'<span class="[npw]">([^<]*)</span>', r"\1", text)


def lighten(app: Any, error: Exception | None) -> None:
    """Take out myst-nb's 256 colours of terminals: three quarters of its style."""
    for sheet in Path(app.outdir).glob("_static/mystnb*.css"):
        text = re.sub(r"[^{}]*-(BG)?C\d+\]\s*\{[^}]*\}", "", sheet.read_text("utf8"))
        sheet.write_text(text, "utf8")


def setup(app: Any) -> None:
    """Sphinx calls this."""
    app.connect("html-page-context", mended, priority=900)  # after furo
    app.connect("build-finished", lighten)
    app.connect("autodoc-skip-member", once)
    app.connect("autodoc-process-docstring", as_restructured_text)
