"""What a submission names that no answer needs: a person should look at it.

Nothing is refused for it. A box keeps strangers from everything outside; but inside,
an answer runs in one process with the engine, and whoever walks through that process
could turn its guards off. To get there, it has to name one of these.
"""

from __future__ import annotations

import io
import json
import re
import tokenize
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache

from minigrad import _workspace
from minigrad.course.grade import stamps
from minigrad.course.grade.worker import without_magic

MOST_SHOWN = 12
MOST_CHARACTERS = 300_000
"""Of a longer program nothing is read: that is worth a look in itself."""
MOST_WORDS = 40
"""In one statement that imports; honest ones have ten."""
LONGEST_LINE = 500
"""What reads a program properly could be kept busy for minutes by a longer one."""

_KNOWN = """
__future__ IPython abc anywidget cmath collections contextlib copy dataclasses datetime
decimal enum fractions functools graphviz ipywidgets itertools math matplotlib minigrad
numbers numpy operator pprint random statistics textwrap time torch tqdm typing warnings
"""
_KNOWN_MODULES = frozenset(_KNOWN.split())

_INNER_PARTS = """
author calls casefile catalogue checking engine engines examination
exercises grade judge kernels limits observation ops probes references rulebook tracing
"""
_INNER = frozenset(_INNER_PARTS.split())
"""Parts of minigrad that no notebook imports."""

_DOORS = """
ForwardRef GraphTask ag_frame allow_pickle attrgetter backward_cls bltns breakpoint
builtins cell_contents co_code co_consts cr_frame ctypes ctypeslib currentframe delattr
distutils f2py f_back f_builtins f_code f_globals f_locals faulthandler forward_cls gc
get_objects get_referents get_referrers get_type_hints getframe gi_code gi_frame globals
importlib inspect linecache locals marshal methodcaller multiprocessing os pickle
pkgutil posix registry run_backward rundocs runpy runstring safe_eval setprofile
settrace shutil socket subprocess sys tb_frame tb_next threading vars
"""
_WORDS = frozenset(_DOORS.split())
"""Doors to the interpreter, and to the engine's inside, in whatever place."""

_PRIVATE_NAMES = """
_accumulate_node _attached _become_view_of
_check_returned _collect_edges _create_ctx _ctx_base _edges _grad_fn _grad_node
_history_of_output
_history_of_view _keep_saved _leave_history _output_metadata _post_accumulate_hooks
_raw_saved_tensors _requires_grad _set_history _set_requires_grad
_take_what_was_saved _takes_detached _tensor_hooks _view_history _link_outputs
_wrap_outputs
"""
_PRIVATE = frozenset(_PRIVATE_NAMES.split())
"""What the engine alone writes on its nodes and tensors."""

_BARE = frozenset(["compile", "eval", "exec"])
"""The same, where they are no method: a model has ``eval``, a pattern ``compile``."""

_PROTOCOLS = """
abs add all and annotations array bool call class_getitem contains delitem div doc enter
eq exit file float floordiv future ge getitem gt hash iadd imul init int invert isub
iter itruediv le len lshift lt main matmul mod module mul name ne neg new next or pos
post_init pow qualname radd repr rmatmul rmul rpow rshift rsub rtruediv set_name setitem
slots str sub truediv version xor
"""
_HONEST = frozenset([f"__{word}__" for word in _PROTOCOLS.split()])
"""What a class of a learner may well define, or ask for."""


def flags(cells: Sequence[str]) -> tuple[str, ...]:
    """What these cells name that no answer needs, in order; empty for most.

    A cell that is still as it was shipped is not the learner's.
    """
    return _flags(tuple([cell for cell in cells if cell not in _shipped()]))


@cache
def _shipped() -> frozenset[str]:
    root = _workspace.shipped(stamps.PACKAGE.parent)
    books = [json.loads(p.read_bytes()) for p in root.glob("exercises/*/*.ipynb")]
    return frozenset([_workspace.text_of(c) for book in books for c in book["cells"]])


@lru_cache(maxsize=16)
def _flags(cells: tuple[str, ...]) -> tuple[str, ...]:
    if sum(map(len, cells)) > MOST_CHARACTERS:
        return (f"more than {MOST_CHARACTERS} characters",)
    found = {each for cell in cells for each in named_in(cell)}
    in_order = sorted(found)
    more = len(in_order) - MOST_SHOWN
    return (*in_order[:MOST_SHOWN], *([f"{more} more"] if more > 0 else []))


def named_in(cell: str) -> Iterator[str]:
    """The names in one cell that no answer needs.

    >>> list(named_in("from minigrad.engine import tensor; x = eval"))
    ['engine', 'eval']
    >>> list(named_in("model.eval()  # sys"))
    []
    """
    words = words_of(without_magic(cell))
    for place, word in enumerate(words):
        before = words[place - 1] if place else ""
        inner = word in _INNER and before == "."
        bare = word in _BARE and before != "."
        unclear = word == "getattr" and not _names_plainly(words, place)
        if inner or bare or unclear or _is_door(word):
            yield word[:60]
        elif word == "import":
            yield from _imported(words, place)


def _is_door(word: str) -> bool:
    # A class can also be made with a dictionary, where such a name is a text.
    name = word.strip("'\"")
    dunder = len(name) > 4 and name.startswith("__") and name.endswith("__")
    unusual = (dunder and name not in _HONEST) or word in _PRIVATE
    return unusual or word.lstrip("_") in _WORDS


def _imported(words: Sequence[str], place: int) -> Iterator[str]:
    """What is imported by the statement with ``import`` here, if nobody needs it."""
    first, last = place, max(place - MOST_WORDS, 0)
    while first > last and (words[first - 1].isidentifier() or words[first - 1] == "."):
        first -= 1
        if words[first] == "from":
            module = "".join(words[first + 1 : place])
            names = _up_to_the_end(words, place)
            yield from [name for name in names if name in _INNER]
            yield from _unknown(module)
            return
    for part in "".join(_up_to_the_end(words, place, " as ")).split(","):
        yield from _unknown(part.partition(" as ")[0])


def _up_to_the_end(words: Sequence[str], place: int, spelled: str = "as") -> list[str]:
    """The rest of a statement."""
    found = []
    for word in words[place + 1 : place + MOST_WORDS]:
        if word in ("\n", "\r\n", ";", ""):
            break
        found.append(spelled if word == "as" else word)
    return found


def _unknown(module: str) -> list[str]:
    """The first name of a module that a notebook does not need."""
    first, *below = module.strip("() ").split(".")
    if first == "minigrad" and below[:1] == ["course"]:
        return below[1:2]
    return [first[:60]] if first and first not in _KNOWN_MODULES else []


def _names_plainly(words: Sequence[str], place: int) -> bool:
    """Whether getattr is given a name as it stands, and one that is harmless."""
    text = "".join(words[place + 1 : place + 40])
    match = re.match(r"\([\w.]+,(['\"])(\w+)\1[,)]", text)
    return match is not None and not list(named_in(match[2]))


def words_of(source: str) -> list[str]:
    """Names, strings and signs, without comments; names as Python reads them."""
    try:
        if max(map(len, source.split("\n"))) > LONGEST_LINE:
            raise ValueError("too long a line")
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError, ValueError):
        # It will not run either; or it does in a Python that knows more.
        return list(_normal(re.findall(r"[^\W\d]\w*|\S|\n", source)))
    words = []
    for token in tokens:
        if token.type in (tokenize.COMMENT, tokenize.NL, tokenize.INDENT):
            continue
        is_format = "f" in token.string[:3].partition("'")[0].partition('"')[0].lower()
        if token.type == tokenize.STRING and is_format:
            words += re.findall(r"[^\W\d]\w*|\S", token.string)
        else:
            words.append(token.string)
    return list(_normal(words))


def _normal(words: Iterable[str]) -> Iterator[str]:
    for word in words:
        yield word if word.isascii() else unicodedata.normalize("NFKC", word)
