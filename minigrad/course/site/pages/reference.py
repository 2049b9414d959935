"""Pages made of what the course knows: each name of ctx, the words, the questions."""

from __future__ import annotations

import base64
import html
import inspect
import re
import tomllib
import zlib
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from minigrad import mistakes
from minigrad.autograd.function import BackwardCFunction
from minigrad.course.check import with_code
from minigrad.course.notebook import faq, map_of_ctx, rules, terms
from minigrad.course.site import wheels
from minigrad.course.site.pages import playground
from minigrad.course.site.pages.addresses import Addresses
from minigrad.course.site.pages.shared import CODE, Shared
from minigrad.views import page

PROGRAMS = tomllib.loads(Path(__file__).with_name("programs.toml").read_text("utf8"))
NOT_FOR_YOU = "Not for you"
"""The group of the map whose names need no page."""

TORCH = "https://docs.pytorch.org/docs/stable/generated/torch.autograd"
OF_CTX = (
    "mark_dirty",
    "mark_non_differentiable",
    "save_for_backward",
    "set_materialize_grads",
)
OF_NODE = ("metadata", "name", "next_functions", "register_hook", "register_prehook")
"""The names that have a page of their own in torch's documentation."""


def names_on_the_map() -> Iterator[tuple[str, map_of_ctx.Row]]:
    """Each name that a page is about, in the order of the map, with its row."""
    for row in map_of_ctx.rows():
        if row.group == NOT_FOR_YOU:
            continue
        for name in re.sub(r"\([^)]*\)| = .*", "", row.name).split(", "):
            yield name.removeprefix("ctx."), row


def ctx_pages(shared: Shared, at: Addresses) -> dict[str, str]:
    """The pages about ctx, by their place below the source of the website."""
    pages = {}
    groups: dict[str, list[str]] = {}
    for name, row in names_on_the_map():
        groups.setdefault(row.group, []).append(f"- {{doc}}`{name}`: {row.backward}")
        pages[f"ctx/{name}.md"] = page_of(name, row, shared, at)
    listed = "\n\n".join(
        [f"## {group}\n\n" + "\n".join(rows) for group, rows in groups.items()]
    )
    names = "\n".join([name for name, _ in names_on_the_map()])
    pages["ctx/index.md"] = (
        f"# ctx, name by name\n\n{map_of_ctx.BELOW}\n\n{listed}\n\n"
        f"```{{toctree}}\n:hidden:\n\n{names}\n```\n"
    )
    return pages


def page_of(name: str, row: map_of_ctx.Row, shared: Shared, at: Addresses) -> str:
    """One name: how it's written, what it does, a player, mistakes, rules, torch."""
    program = PROGRAMS[name].strip()
    player, printed = player_of(name, shared)
    parts = [
        f"# ctx.{name}",
        signature(name),
        f"**When.** {row.when}",
        f"**What it does to backward.** {row.backward}",
        f"```python\n{program}\n```",
        player,
    ]
    if printed:
        parts.append(f"It prints:\n\n```text\n{printed}\n```")
    edit = f"../playground.html#{packed(program)}"
    parts.append(f'<a href="{edit}">Change this program in the playground</a>')
    made = [entry for entry in mistakes.TABLE.values() if is_about(name, entry)]
    if made:
        parts.append("## Mistakes")
        parts += [told(one) for one in made]
    kept = [one for one in rules() if is_kept(one) and is_about(name, one.rule)]
    if kept:
        parts.append("## Rules")
        parts.append("Each was observed in PyTorch 2.13, and a test holds it here.")
        parts.append("\n".join([f"- {one.rule}" for one in kept]))
    asked = {
        row.question: row
        for row in faq.read_table()
        if is_about(name, (row.question, row.original))
    }
    more = [
        f'<a href="{at.of_section(one)}">{with_code(q)}</a>' for q, one in asked.items()
    ]
    if row.lesson != "-":
        more.insert(0, at.lesson(row.lesson))
    more.append(f'<a href="{torchs(name)}">PyTorch\'s own page</a>')
    parts += ["## Read on", "\n".join([f"- {one}" for one in more])]
    return "\n\n".join(parts) + "\n"


def player_of(name: str, shared: Shared, up: str = "../") -> tuple[str, str]:
    """The player of a name's program as Markdown, and what the program prints.

    Raises: ValueError for a program that fails.
    """
    played = playground.play(PROGRAMS[name].strip(), title=f"ctx.{name}")
    if played.error or played.recording is None:
        raise ValueError(f"programs.toml, {name}: {played.error or 'nothing to play'}")
    player = played.recording._repr_mimebundle_()["text/html"]
    return raw(shared.taken_out(player, up)), played.printed.rstrip()


def told(mistake: mistakes.Entry) -> str:
    """A mistake: its name, what gives it away, what to look at."""
    name, looks, hint = map(
        html.escape, (mistake.name, mistake.looks_like, mistake.hint)
    )
    return raw(f"<p><b>{name}:</b> {looks} <em>{hint}</em></p>")


def packed(program: str) -> str:
    """A program as the end of the playground's address (see playground.js)."""
    stream = zlib.compressobj(9, wbits=-15)
    content = stream.compress(program.encode()) + stream.flush()
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def signature(name: str) -> str:
    """How it's written, and what its docstring says first."""
    if name == "anything":
        return "```python\nctx.anything = value\n```"
    member: Any = inspect.getattr_static(BackwardCFunction, name, None)
    if not inspect.isfunction(member):
        return f"```python\nctx.{name}\n```"
    wanted = [
        p.replace(annotation=p.empty)
        for p in inspect.signature(member).parameters.values()
    ]
    call = inspect.Signature(wanted[1:])
    said = inspect.cleandoc(member.__doc__ or "").split("\n\n")[0]
    said = " ".join(said.split()).replace("``", "`")
    return f"```python\nctx.{name}{call}\n```\n\n{said}"


def is_kept(rule: Any) -> bool:
    """Whether a rule is one that people meet, and that minigrad keeps."""
    return rule.priority < 3 and not rule.is_left_out


def is_about(name: str, fact: object) -> bool:
    """Whether a fact has the name in it, as a word."""
    word = name.removeprefix("set_")
    if name in ("name", "apply", "metadata", "anything"):
        word = f"grad_fn.{name}"
    return bool(re.search(rf"\b{re.escape(word)}\b", repr(fact)))


def torchs(name: str) -> str:
    """The page of torch's documentation that says what it is there."""
    if name in OF_CTX:
        return f"{TORCH}.function.FunctionCtx.{name}.html"
    if name in OF_NODE:
        return f"{TORCH}.graph.Node.{name}.html"
    return f"{TORCH}.function.BackwardCFunction.html"


def glossary_page(at: Addresses) -> str:
    """The words of the course, each with the lesson that explains it."""
    words = "\n\n".join(
        [f"{one.word}\n  {one.means} {at.lesson(one.lesson)}" for one in terms()]
    )
    return f"# Glossary\n\n:::{{glossary}}\n{words}\n:::\n"


def questions_page(at: Addresses) -> str:
    """What people ask, and where it's answered."""
    parts = [
        "# Questions",
        "What people ask, and the section that answers it by running.",
    ]
    for question, rows in groupby(faq.read_table(), key=lambda row: row.question):
        links = dict.fromkeys([link_to(row, at) for row in rows])
        parts.append(f"**{with_code(question)}**<br>{', '.join(links)}")
    return "\n\n".join(parts) + "\n"


def link_to(row: faq.Answer, at: Addresses) -> str:
    """A link to a section, which says in which notebook it is."""
    book = Path(row.notebook).stem.partition("_")[0]
    kind = "exercises" if row.notebook.startswith("exercises") else "lesson"
    text = html.escape(f"{kind} {book}: {row.section}")
    return f'<a href="{at.of_section(row)}">{text}</a>'


def raw(page: str) -> str:
    """HTML as it is, in Markdown."""
    return f"`````{{raw}} html\n{page}\n`````"


def playground_page(shared: Shared, edition: str) -> str:
    """Where people type a program of their own; Python is loaded when they run it."""
    sample = playground.play("x * w").recording
    assert sample is not None
    player = page.page_of(sample._pictured())
    before, mark, code = player.partition(CODE)
    shell = re.sub(
        r'<script type="[^"]*" id="trace">.*', "TRACE", before, flags=re.DOTALL
    )
    template = Path(__file__).with_name("playground.html").read_text("utf8")
    options = [
        f'<option value="{packed(p.strip())}">ctx.{n}</option>'
        for n, p in PROGRAMS.items()
    ]
    filled = {
        "PYODIDE": f"{edition.rstrip('/')}/static/pyodide/",
        "WHEEL": wheels.name_of(wheels.COURSE),
        "CODE": shared.keep(mark + code),
        "SHELL": html.escape(shell),
        "PROGRAM": html.escape(PROGRAMS["save_for_backward"].strip()),
        "OPTIONS": "".join(options),
        "PYTHON": html.escape(inspect.getsource(playground)),
    }
    for name, value in filled.items():
        template = template.replace(f"[[{name}]]", value)
    return f"# Playground\n\n{raw(template)}\n"


API = (
    "minigrad",
    "minigrad.autograd",
    "minigrad.autograd.forward_ad",
    "minigrad.autograd.functional",
    "minigrad.autograd.graph",
    "minigrad.func",
    "minigrad.nn",
    "minigrad.nn.functional",
    "minigrad.optim",
    "minigrad.utils.data",
    "minigrad.utils.checkpoint",
    "minigrad.course",
)
"""The modules that people import from."""


def api_pages() -> dict[str, str]:
    """A page for each of these modules, from its docstrings."""
    return {
        f"api/{name}.md": f"# {name}\n\n```{{eval-rst}}\n"
        f".. automodule:: {name}\n   :members:\n```\n"
        for name in API
    }
