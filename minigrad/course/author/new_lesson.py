"""For authors: lay out a lesson that builds, with a place for each of its parts."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterable, Sequence

from minigrad.course.author import authoring

USAGE = """\
usage: python -m minigrad new NUMBER TITLE KINDS   a lesson with its exercises
       python -m minigrad new ID KIND              one exercise more
  for example: new 09 "Forward without ctx" PRCBW, or: new 09.6 W
  KINDS: a letter for each exercise: {kinds}"""

LESSON = """\
# %% [markdown] tags=["slide"]
# # {title}
#
# You will
# * TODO: what they see for themselves,
# * TODO: what they find out,
# * TODO: what they can decide afterwards. (No goal gives an answer away.)

# %%
import minigrad as mg
from minigrad import course

mg.teaching()

# %% tags=["recall"]
course.recall("{number}")

{sections}

# %% tags=["because", "hide-input"]
course.because(
    "{number}.because",
    "TODO: a question about the surprise. One sentence, for yourself; it isn't graded.",
)

# %% [markdown]
# **Try.** TODO: one thing to change in the cell below, and what to watch for while it
# runs again. Ask before you show: the answer goes right below.

# %% tags=["try"]
run_second()

# %% [markdown] tags=["explain"]
# TODO: the answer, right after it, in one line.

# %% [markdown] tags=["slide"]
# ## What to remember
#
# TODO: what you can now do. Answer each card in your own words before you open it.

# %% [markdown] tags=["recall", "slide"]
{cards}

# %% [markdown]
# **In PyTorch this is** TODO: the same, or what differs and since which version.
#
# ## Now you
#
# [The exercises](../exercises/{slug}/{number}_exercises.ipynb)
# wait for you; TODO: say which one is the most rewarding. They link back to this
# lesson. Where you stand:

# %%
course.progress("{number}")
"""

SECTION = """\
# %% [markdown] tags=["slide"]
# ## TODO: what you'd search for, or the question this section answers
#
# TODO: why it matters, then a program of a few lines, in 20 to 80 words. The answer to
# the question below is nowhere on the screen before Commit: not here, not in a heading.


# %% tags=["slide"]
def run_{label}():
    x = mg.tensor(3.0, requires_grad=True)
    (x * x).backward()
    return x.grad


# %% tags=["predict", "hide-input", "step", "slide"]
course.predict(
    "{number}.{label}",
    "TODO: what does run_{label}() return?",
    ["6", "TODO: what you'd say with the wrong idea"],
    then=run_{label},
    so=lambda ran: f"{{ran.value.item():g}}",
    why="TODO: one sentence on why the run did this.",
    at="MulBackward0",
)

# %% [markdown] tags=["explain", "slide"]
# TODO: what happened, and why, in 20 to 80 words if code comes next. A reader opens it
# after the Commit; until then it's folded."""

CARD = """\
# <details><summary>TODO: question {place}</summary>
#
# TODO: its answer, in a line or two.
#
# </details>"""

NOTES = """\
# Instructor notes: {number} {title}

**Goal.** TODO: one line.

**Minutes.** TODO (tests/notebooks/test_minutes.py counts them and says what is right).

**Type, with the room watching.** TODO

**Planned error.** TODO: what to get wrong on purpose, and the text of the error.

**Vote 1.** TODO: question, expected split. Twin: TODO

**Vote 2.** TODO: question, expected split. Twin: TODO

**Draw.** TODO

**Misconceptions.** TODO: ids of minigrad/mistakes.toml.

**If late, drop** TODO. **If early, add:** TODO

**Often argued.** TODO
"""

RECALL = """\
[[cards]]
text = "TODO: a question that comes back in later lessons"
choices = ["TODO: right", "TODO: wrong"]
answer = "TODO: right"
why = "TODO: one sentence."
after = "{number}.1"
"""

SOLUTIONS = """\
# %% [markdown]
# # Exercises: {title}
#
# You will
# * TODO: predict,
# * TODO: repair,
# * TODO: write.
#
# The lesson is [here](../../notebooks/{slug}.ipynb).

# %%
import minigrad as mg
from minigrad.course import check, exercise, hint

mg.teaching()
"""

FORM = """
# %% [markdown]
# ## {id} TODO: a short title
#
# TODO: what to look at first, then: answer, and press *Commit*.

# %% tags=["exercise"]
exercise("{id}")

# %% tags=["solution"]
check("{id}", ["{solution}"])

# %% tags=["check"]
check("{id}")
"""

WRITTEN = """
# %% [markdown]
# ## {id} TODO: a short title
#
# TODO: what is asked for, as in the text file, in 8 to 80 words.


# %% tags=["exercise"]
class TODO{place}(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        # region solution: return what is asked for
        return x.clone()
        # endregion


# %% [markdown]
# TODO: say in a sentence what the check tries, and on what.

# %% tags=["check"]
check("{id}", TODO{place})
"""

HINT = """
# %% [markdown]
# Stuck, or surprised? Each hint is more direct than the one before.

# %%
hint("{id}")
"""

ROWS = """\
# TODO: a row for each other right way, and each known mistake (tests/answers/rows.py)

[[solved]]
"""

NEXT = """\
next:
- fill in every TODO; what an exercise still lacks: python -m minigrad check-exercise \
{number}.1
- when readers may be sent there: "{number}" in LESSONS (minigrad/errors.py), and
  `lesson = "{number}"` at the mistakes that it teaches (minigrad/mistakes.toml)
- new words of the lesson: minigrad/course/notebook/terms.toml; questions: faq.toml
- how many values it shows: LESSONS in tests/notebooks/test_lessons_in_torch.py
- python -m minigrad build"""


def main(arguments: Sequence[str]) -> int:
    """``python -m minigrad new 09 "Forward without ctx" PRCBW``; or one exercise."""
    if arguments and re.fullmatch(r"\d\d\.\d+", arguments[0]):
        return authoring.main_new(arguments)
    known = "".join(authoring.KINDS)
    numbered = len(arguments) == 3 and re.fullmatch(r"\d\d", arguments[0])
    if not numbered or not slug_of(*arguments[:2])[3:]:
        listed = [f"{letter} {word}" for letter, word in authoring.KINDS.items()]
        print(USAGE.format(kinds=", ".join(listed)))
        return 0 if arguments and arguments[0] in ("-h", "--help") else 2
    number, title, kinds = arguments
    strange = sorted(set(kinds) - set(known))
    if strange or not kinds:
        what = f"no exercise is of kind {strange[0]!r}" if strange else "no exercise"
        print(f"new: {what}; use the letters {known}, one for each exercise")
        return 2
    files = files_of(number, title, kinds)
    taken = taken_by(number, files)
    if taken:
        print(f"new: {taken[0]} is there already; nothing was written")
        return 1
    for name, content in files.items():
        path = authoring.ROOT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        print(f"wrote {name}")
    with contextlib.redirect_stdout(io.StringIO()) as said:
        for place, kind in enumerate(kinds, 1):
            authoring.main_new([f"{number}.{place}", kind])
    # What comes next is said once, for all of them.
    print("\n".join(re.findall("^wrote .*", said.getvalue(), re.MULTILINE)))
    print(NEXT.format(number=number))
    return 0


def taken_by(number: str, files: Iterable[str]) -> list[str]:
    """What is there already of a lesson with this number, under any title."""
    exercises = "minigrad/course/exercises/ex"
    own = [f"{p}{number}_*" for p in ("notebooks/src/", "solutions/src/", exercises)]
    found = [path for name in (*files, *own) for path in authoring.ROOT.glob(name)]
    return sorted([path.relative_to(authoring.ROOT).as_posix() for path in found])


def slug_of(number: str, title: str) -> str:
    """The name of its files.

    >>> slug_of("09", "Forward without ctx?")
    '09_forward_without_ctx'
    """
    return f"{number}_{re.sub(r'[^a-z0-9]+', '_', title.lower()).strip('_')}"


def files_of(number: str, title: str, kinds: str) -> dict[str, str]:
    """The files of a lesson but for its exercises' own two, with their first text."""
    slug = slug_of(number, title)
    labels = ("first", "second")
    sections = [SECTION.format(number=number, label=label) for label in labels]
    cards = "\n#\n".join([CARD.format(place=place) for place in (1, 2, 3)])
    names = {
        "number": number,
        "title": title,
        "slug": slug,
        "sections": "\n\n".join(sections),
        "cards": cards,
    }
    ids = [f"{number}.{place}" for place in range(1, len(kinds) + 1)]
    asked = map(section_of, ids, kinds)
    return {
        f"notebooks/src/{slug}.py": LESSON.format(**names),
        f"notebooks/src/{slug}.instructor.md": NOTES.format(**names),
        f"solutions/src/{slug}.py": "".join([SOLUTIONS.format(**names), *asked]),
        f"minigrad/course/notebook/recall_cards/{number}.toml": RECALL.format(**names),
        **{f"tests/answers/{id}/answers.toml": ROWS for id in ids},
    }


def section_of(id: str, kind: str) -> str:
    """The cells of one exercise; a form for what is answered in one."""
    text = FORM if kind in "PIR" else WRITTEN
    solution = "a" if kind == "R" else "TODO: one"
    place = id.partition(".")[2]
    more = "" if kind == "P" else HINT
    return (text + more).format(id=id, solution=solution, place=place)
