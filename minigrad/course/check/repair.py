"""Change one thing in a wrong answer's source; if that makes it right, that was it.

Only the code of the learner's own functions is exchanged, for as long as one trial
takes, so a changed answer runs wherever, and as guarded as, the answer itself.
"""

from __future__ import annotations

import ast
import builtins
import copy
import dis
import inspect
import textwrap
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

from minigrad.course.check.declared import methods_of, unbound
from minigrad.course.check.limits import has_alarm

SECONDS = 1.5
"""Of computing: what is not found by then is not told."""

FULL_TRIALS = 3
"""Of one kind, in one line, so many changes are tried on everything."""

SAFE = frozenset({"minigrad", "numpy", "math", "torch", "itertools", "collections"})
"""Modules in which a wrong name, or a wrong number, can do no harm."""

TABLE: Mapping[str, Mapping[str, Any]] = tomllib.loads(
    Path(__file__).with_name("repairs.toml").read_text("utf8")
)
UNSAFE = frozenset(TABLE["unsafe"]["names"].split())
BUILTINS = frozenset(TABLE["safe"]["builtins"].split())
ROUNDS = ("exchange", "leave_out", "names", "put_in")
FAMILIES = [family.split() for family in TABLE["families"]["names"]]
AXES = frozenset({*FAMILIES[0], "unsqueeze", "squeeze", "cumsum", "sort", "flip"})

ADDABLE = ast.Name | ast.Subscript | ast.Attribute

NAMES = frozenset({"name", "stands", "saved", "compared", "function"})
"""Many a name makes some answer or other right, so that more has to be tried."""

Change = tuple[str, Any]
Bound = dict[str, Any]


def _parsed(text: str) -> Any:
    return ast.parse(text.strip(), mode="eval").body


def _rules(way: str) -> list[tuple[str, Any, Any]]:
    """What the table says of one round: a kind, and two patterns."""
    found = []
    for kind, changes in TABLE.get(way, {}).items():
        for text in changes:
            old, arrow, new = text.rpartition("->")
            found.append((kind, _parsed(old if arrow else "A"), _parsed(new)))
    return found


RULES = {way: _rules(way) for way in ROUNDS}


def _matches(pattern: Any, node: Any, bound: Bound) -> bool:
    """Whether ``node`` is what the pattern says; ``bound`` gets what its names mean."""
    if isinstance(pattern, list):
        if pattern and _is_rest(pattern[-1]):
            rest = len(pattern) - 1
            bound[pattern[-1].value.id] = node[rest:]
            pattern, node = pattern[:-1], node[:rest]
        if len(pattern) != len(node):
            return False
        return all(_matches(p, n, bound) for p, n in zip(pattern, node, strict=True))
    if isinstance(pattern, ast.Name) and pattern.id.isupper():
        if pattern.id == "N" and not _is_number(node):
            return False
        known = bound.setdefault(pattern.id, node)
        return known is node or ast.dump(known) == ast.dump(node)
    if not isinstance(pattern, ast.AST):
        return bool(pattern == node)
    return type(pattern) is type(node) and all(
        _matches(value, getattr(node, field), bound)
        for field, value in ast.iter_fields(pattern)
        if field not in ("ctx", "kind")
    )


def _filled(pattern: Any, bound: Bound) -> Any:
    """The pattern, with what its names mean."""
    if isinstance(pattern, list):
        found: list[Any] = []
        for each in pattern:
            more = bound[each.value.id] if _is_rest(each) else [_filled(each, bound)]
            found += more
        return found
    if isinstance(pattern, ast.Name):
        return bound.get(pattern.id, pattern)
    if not isinstance(pattern, ast.AST):
        return pattern
    parts = {f: _filled(value, bound) for f, value in ast.iter_fields(pattern)}
    return type(pattern)(**parts)


def _is_rest(node: Any) -> bool:
    """Whether it's ``*R`` or ``**K``."""
    return isinstance(node, ast.Starred) or getattr(node, "arg", "") is None


def _is_number(node: Any) -> bool:
    value = getattr(node, "value", None)
    return isinstance(value, int | float) and not isinstance(value, bool)


@dataclass(frozen=True)
class Edit:
    """One change of one function: its kind, and the number of the line."""

    kind: str
    function: FunctionType
    number: int
    code: CodeType


@dataclass(frozen=True)
class Repair:
    """What makes an answer right: a kind of change ("" if several do), and where."""

    kind: str
    where: str
    line: str
    method: str

    @property
    def ids(self) -> tuple[str, ...]:
        """The mistake of the table that this is, if there is one."""
        is_told = self.method in ("backward", "vjp") or self.kind in (
            "saved",
            "unpacked",
        )
        id = TABLE["ids"].get(self.kind)
        return (id,) if id and is_told else ()

    @property
    def looks_like(self) -> str:
        """What is said of it, without the repair itself."""
        place = " in this line" if self.where else ""
        said = f"One change{place} makes your answer right in all that was tried."
        return f"{said} It's about {TABLE['about'][self.kind]}." if self.kind else said


def repair(
    answer: Any,
    may_be_right: Callable[[], bool],
    is_right: Callable[[], bool],
    seconds: float = SECONDS,
) -> Repair | None:
    """The one kind of change that makes the answer right everywhere, if there is one.

    ``may_be_right`` is asked first, of one case. Nothing is tried where no alarm could
    stop a change that runs for ever.
    """
    if not has_alarm():
        return None
    end = time.process_time() + seconds
    found: list[Edit] = []
    for edits in _rounds(answer):
        new: list[Edit] = []
        tried: dict[tuple[str, int], int] = {}
        for edit in edits:
            if time.process_time() > end:
                return None
            key = edit.kind, edit.number
            own, edit.function.__code__ = edit.function.__code__, edit.code
            try:
                if may_be_right() and tried.get(key, 0) < FULL_TRIALS:
                    tried[key] = tried.get(key, 0) + 1
                    new += [edit] if is_right() else []
            finally:
                edit.function.__code__ = own
        if found and {e.number for e in new} - {e.number for e in found}:
            return None
        # A function that gives 1 hides a factor too many.
        only_called = {edit.kind for edit in found} == {"function"}
        found = new if new and only_called else found or new
        if found and not {edit.kind for edit in found} <= NAMES:
            break
    return _told(found) if found else None


def _told(found: list[Edit]) -> Repair | None:
    places = {(edit.function, edit.number) for edit in found}
    kinds = {edit.kind for edit in found}
    if len(places) > 1 and len(kinds) > 1:
        return None
    kind = found[0].kind if len(kinds) == 1 else ""
    function, number = found[0].function, found[0].number
    where = line = ""
    if len(places) == 1:
        lines, first = inspect.getsourcelines(function)
        name = function.__qualname__.rpartition("<locals>.")[2]
        line = lines[number - first].strip()
        where = f"{name}, line {number}: {line}"
    return Repair(kind, where, line, function.__name__)


def _rounds(answer: Any) -> Iterator[Iterator[Edit]]:
    """All changes, the smallest first."""
    functions = list(_functions(answer))
    if not all(map(_is_safe, functions)):
        return
    sources = [source for source in map(_Source.of, functions) if source]
    kept = sorted({name for source in sources for name in source.kept})
    for way in ROUNDS:
        yield (edit for source in sources for edit in source.edits(way, kept))


def _functions(answer: Any) -> Iterator[FunctionType]:
    """The learner's functions: methods, and those that they call by name."""
    todo = list(answer) if isinstance(answer, list | tuple) else [answer]
    seen: list[Any] = []
    while todo:
        value = unbound(todo.pop(0))
        if isinstance(value, type):
            todo += methods_of(value).values()
            continue
        value = inspect.unwrap(value) if callable(value) else value
        own = isinstance(value, FunctionType) and value not in seen
        if not own or (value.__module__ or "").partition(".")[0] in SAFE:
            continue
        seen.append(value)
        yield value
        for name in _names_in(value.__code__):
            other = value.__globals__.get(name)
            if getattr(other, "__module__", None) == value.__module__:
                todo.append(other)


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    """The functions inside a function, and what is inside these."""
    for inside in code.co_consts:
        if isinstance(inside, CodeType):
            yield inside
            yield from _codes_in(inside)


def _names_in(code: CodeType) -> Iterator[str]:
    for each in (code, *_codes_in(code)):
        yield from each.co_names


def _is_safe(function: FunctionType) -> bool:
    """Whether it uses nothing that could touch more than its own numbers."""
    codes = [function.__code__, *_codes_in(function.__code__)]
    steps = [step for code in codes for step in dis.get_instructions(code)]
    names = set(_names_in(function.__code__))
    if names & UNSAFE or any(step.opname == "IMPORT_NAME" for step in steps):
        return False
    used = [(n, function.__globals__[n]) for n in names if n in function.__globals__]
    cells = inspect.getclosurevars(function).nonlocals
    if len(cells) < len(function.__code__.co_freevars):
        return False  # one of them is empty yet
    used += cells.items()
    plain = [n for n in names - dict(used).keys() if hasattr(builtins, n)]
    return all(_is_plain(value, function.__module__) for _, value in used) and all(
        name in BUILTINS or _is_error(getattr(builtins, name)) for name in plain
    )


def _is_plain(value: Any, own: str) -> bool:
    """Whether a global is a number, a function that is looked at, or of a safe module.

    A list, a tensor or an object would keep what a trial did to it.
    """
    if isinstance(value, ModuleType):
        return value.__name__.partition(".")[0] in SAFE
    if isinstance(value, type | FunctionType | BuiltinFunctionType):
        module = value.__module__ or ""
        return module == own or module.partition(".")[0] in SAFE | {"_operator"}
    if isinstance(value, tuple):
        return all(_is_plain(each, own) for each in value)
    return value is None or isinstance(value, int | float | complex | str)


def _is_error(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, Exception)


class _Source:
    """The syntax tree of one function, and every small change of it."""

    def __init__(self, function: FunctionType, tree: ast.FunctionDef) -> None:
        self.function, self.tree = function, tree
        self.first = function.__code__.co_firstlineno
        self.above = {
            child: node
            for node in ast.walk(tree)
            for child in ast.iter_child_nodes(node)
        }
        arguments = [each.arg for each in tree.args.args]
        self.given = [n for n in arguments if n not in ("ctx", "self", "cls")]
        self.keeper = next((n for n in arguments if n in ("ctx", "self")), "")
        self.kept = {
            node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute)
            and self._is_kept(node)
            and not isinstance(self.above[node], ast.Call)
        } - {"saved_tensors", "needs_input_grad"}

    @classmethod
    def of(cls, function: FunctionType) -> _Source | None:
        """None where there is no source to be read."""
        try:
            lines, _ = inspect.getsourcelines(function)
            (tree,) = ast.parse(textwrap.dedent("".join(lines))).body
        except (OSError, SyntaxError, ValueError):
            return None
        imports = [
            n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom)
        ]
        if imports or not isinstance(tree, ast.FunctionDef):
            return None
        tree.decorator_list = []
        return cls(function, tree)

    def _is_kept(self, node: Any) -> bool:
        """Whether this is ``ctx.something``."""
        return isinstance(node, ast.Attribute) and (
            getattr(node.value, "id", None) == self.keeper
        )

    def edits(self, way: str, kept: list[str]) -> Iterator[Edit]:
        """All changes of one round, each compiled."""
        nodes = list(ast.walk(self.tree))
        stored = [n.id for n in nodes if isinstance(n, ast.Name) and _is_stored(n)]
        self.atoms = [_parsed(n) for n in dict.fromkeys([*self.given, *stored])]
        if self.keeper:
            self.atoms += [_parsed(f"{self.keeper}.{name}") for name in kept]
        for node in nodes:
            for place, key, old in _places(node):
                if isinstance(old, ast.expr) and self._is_value(node, old):
                    for kind, new in self._changes(way, old):
                        new = copy.copy(new)  # it may be a part of the tree
                        ast.fix_missing_locations(ast.copy_location(new, old))
                        yield from self._edit(kind, place, key, new, old)
            if way == "leave_out" and isinstance(getattr(node, "body", None), list):
                yield from self._of_block(node)

    def _is_value(self, node: ast.AST, old: ast.expr) -> bool:
        """Whether another value could stand there."""
        if isinstance(node, ast.Call) and old is node.func:
            return False
        if isinstance(node, ast.Assign) and isinstance(old, ast.Tuple):
            return True
        fixed = ast.Expr | ast.arguments | ast.arg | ast.JoinedStr | ast.FormattedValue
        is_text = isinstance(node, fixed) and not isinstance(old, ast.Call)
        return not _is_stored(old) and not is_text and node is not self.tree

    def _edit(
        self, kind: str, place: Any, key: Any, new: Any, old: Any, line: Any = None
    ) -> Iterator[Edit]:
        _put(place, key, new)
        try:
            code = self._compiled()
        finally:
            _put(place, key, old)
        if code:
            number = self.first + (line or old).lineno - 1
            yield Edit(kind, self.function, number, code)

    def _compiled(self) -> CodeType | None:
        """The function's code, with the same variables of outer functions."""
        own = self.function.__code__
        outer = ast.parse(f"def _({', '.join(own.co_freevars)}): pass")
        outer.body[0].body = [self.tree]  # type: ignore[attr-defined]
        try:
            code = compile(outer, own.co_filename, "exec")
        except (SyntaxError, ValueError, TypeError):
            return None
        for _ in range(2):
            code = next(c for c in code.co_consts if isinstance(c, CodeType))
        return code if code.co_freevars == own.co_freevars else None

    def _changes(self, way: str, old: ast.expr) -> Iterator[Change]:
        above = self.above[old]
        if way == "put_in" and not self._is_term(old, above):
            if isinstance(old, ast.Name):
                kind = "compared" if isinstance(above, ast.Compare) else "sign"
                yield kind, ast.UnaryOp(ast.USub(), old)
            return
        if way == "exchange":
            yield from self._exchanged(old, above)
        if way == "names":
            yield from self._other_names(old)
        for kind, pattern, new in RULES[way]:
            bound: Bound = {}
            if not _matches(pattern, old, bound):
                continue
            if "X" not in ast.dump(new).split("'"):
                yield kind, _filled(new, bound)
                continue
            for atom in self.atoms:
                yield kind, _filled(new, bound | {"X": atom})

    def _is_term(self, old: ast.expr, above: Any) -> bool:
        """Whether it is returned, assigned, or a term of a sum."""
        if isinstance(above, ast.Tuple):
            above = self.above[above]
        whole = isinstance(above, ast.Return | ast.Assign | ast.AugAssign)
        return whole or isinstance(getattr(above, "op", None), ast.Add | ast.Sub)

    def _exchanged(self, old: ast.expr, above: ast.AST) -> Iterator[Change]:
        """One name, number, function or place for another."""
        match old:
            case ast.Constant(bool(value)):
                kept = getattr(above, "arg", "") in ("keepdim", "keepdims")
                yield "kept_axis" if kept else "option", ast.Constant(not value)
            case ast.Constant(int(value) | float(value)):
                kind, others = self._of_number(old), [0, 1, 2, 3, 0.5, -1]
                others += [value + 1, value - 1, -value, 2 * value, value / 2]
                # A factor of 0 leaves out a term: another kind of change.
                leaves_out = kind in ("number_factor", "exponent")
                for other in dict.fromkeys(others):
                    if other or not leaves_out:
                        yield kind, ast.Constant(other)
            case ast.Call(func, args, keywords):
                yield from self._other_functions(func, args, keywords)
                for turned in _turned(args):
                    yield "places", ast.Call(func, turned, keywords)
            case ast.Tuple(parts, context):
                returned = isinstance(above, ast.Return)
                of_saved = "saved_tensors" in ast.unparse(getattr(above, "value", old))
                kind = "unpacked" if _is_stored(old) and of_saved else "places"
                for turned in _turned(parts):
                    new = ast.Tuple(turned, context)
                    yield "returned_places" if returned else kind, new
                for i in range(len(parts)) if returned else ():
                    lacking = [*parts[:i], ast.Constant(None), *parts[i + 1 :]]
                    yield "not_none", ast.Tuple(lacking, context)

    def _other_names(self, old: ast.expr) -> Iterator[Change]:
        """Another name for a name, or for a number."""
        kind = ""
        if _is_number(old):
            is_axis = self._of_number(old) in ("axis", "other_axis")
            kind = "option" if is_axis else "stands"
        elif isinstance(old, ast.Name) or self._is_kept(old):
            kind = self._of_name(old)
        for atom in self.atoms if kind and not _is_stored(old) else ():
            if ast.unparse(atom) != ast.unparse(old):
                yield kind, atom

    def _of_number(self, old: ast.AST) -> str:
        """What kind of change another number is there."""
        above = self.above[old]
        if isinstance(above, ast.UnaryOp):
            above, old = self.above[above], above
        match above:
            case ast.BinOp(_, ast.Pow(), right) if right is old:
                return "exponent"
            case ast.BinOp(_, ast.Mult() | ast.Div(), _):
                return "number_factor"
            case ast.keyword("axis" | "dim"):
                return self._of_axis(self.above[above])
            case ast.Call(ast.Attribute(_, name)) if name in AXES:
                return self._of_axis(above)
            case ast.Call(ast.Name("range")):
                return "edge"
            case ast.Subscript(ast.Attribute(_, "needs_input_grad")):
                return "flag"
            case ast.Slice():
                return "edge_of_slice"
        return "number"

    def _of_axis(self, call: Any) -> str:
        """An axis that is summed, and so on, or another one."""
        reduces = getattr(getattr(call, "func", None), "attr", "") in FAMILIES[0]
        return "axis" if reduces else "other_axis"

    def _of_name(self, node: Any) -> str:
        """What kind of change another name is there."""
        while not isinstance(node, ast.stmt):
            node = self.above[node]
            if isinstance(node, ast.Compare):
                return "compared"
            called = getattr(getattr(node, "func", None), "attr", "")
            if called == "save_for_backward":
                return "saved"
        return "name"

    def _other_functions(
        self, func: Any, args: list[Any], keywords: list[Any]
    ) -> Iterator[Change]:
        is_method = isinstance(func, ast.Attribute)
        name = func.attr if is_method else getattr(func, "id", "")
        for family in FAMILIES:
            for other in family if name in family else ():
                if other != name and {other, name} != {"sum", "mean"}:
                    new = _parsed(other)
                    if is_method:
                        new = ast.Attribute(func.value, other, ast.Load())
                    yield "function", ast.Call(new, args, keywords)

    def _of_block(self, node: Any) -> Iterator[Edit]:
        """Lines that change places, go, or belong inside or outside of a block."""
        block = node.body
        for i, line in enumerate(block):
            before, after = block[:i], block[i + 1 :]
            new: list[tuple[str, list[Any]]] = []
            if after and not isinstance(line, ast.FunctionDef):
                new.append(("line", [*before, *after]))
                if not isinstance(after[0], ast.Return):
                    new.append(("order", [*before, after[0], line, *after[1:]]))
            if isinstance(line, ast.Assign) and isinstance(line.targets[0], ADDABLE):
                added = ast.AugAssign(line.targets[0], ast.Add(), line.value)
                new.append(("added", [*before, added, *after]))
            if isinstance(line, ast.AugAssign):
                alone = ast.Assign([line.target], line.value)
                new.append(("added", [*before, alone, *after]))
                for op in (ast.Add, ast.Sub):
                    added = ast.AugAssign(line.target, op(), line.value)
                    new.append(("sign", [*before, added, *after]))
            for kind, changed in new:
                for each in changed:
                    if not hasattr(each, "lineno"):
                        ast.copy_location(each, line)
                yield from self._edit(kind, node, "body", changed, block, line)
            if isinstance(line, ast.For | ast.While | ast.If) and line.body[1:]:
                inner, last = line.body[:-1], line.body[-1]
                outside = ast.copy_location(_with_body(line, inner), line)
                changed = [*before, outside, last, *after]
                yield from self._edit("inside", node, "body", changed, block, last)
            if isinstance(line, ast.For | ast.While | ast.If) and after:
                longer = _with_body(line, [*line.body, after[0]])
                changed = [*before, longer, *after[1:]]
                yield from self._edit("inside", node, "body", changed, block, after[0])


def _with_body(line: Any, body: list[Any]) -> Any:
    fields = dict(ast.iter_fields(line)) | {"body": body}
    return ast.copy_location(type(line)(**fields), line)


def _turned(parts: list[Any]) -> Iterator[list[Any]]:
    """The same with two of them exchanged."""
    for i, j in combinations(range(len(parts)), 2):
        turned = list(parts)
        turned[i], turned[j] = parts[j], parts[i]
        yield turned


def _is_stored(node: Any) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Store)


def _places(node: ast.AST) -> Iterator[tuple[Any, Any, Any]]:
    """Where each child of a node is held, and the child."""
    for field, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            yield node, field, value
        elif isinstance(value, list):
            yield from ((value, i, each) for i, each in enumerate(value))


def _put(place: Any, key: Any, value: Any) -> None:
    if isinstance(place, list):
        place[key] = value
    else:
        setattr(place, key, value)
