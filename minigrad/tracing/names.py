"""What the program that is recorded calls its tensors and its layers."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import repeat
from operator import is_
from typing import Any, Final

from minigrad.engine.core.tensor import Tensor
from minigrad.nn.module import Module
from minigrad.tracing.foreign import is_model, is_tensor

MOST_NAMESPACES: Final = 30
"""Of a deep recursion not every call's variables are looked through."""


class Names:
    """Finds the variable that holds something; those of the program come first.

    ``moment`` is to be counted on when lines of the program have run: its variables may
    be others now.
    """

    def __init__(self) -> None:
        self._namespaces: list[Mapping[str, Any]] = []
        self._known: dict[int, tuple[Mapping[str, Any], str]] = {}
        self.moment = 0
        self._known_at = 0
        self._nameless_at: dict[int, int] = {}
        self._nameless: set[type] = {type(None)}

    def add(self, variables: Mapping[str, Any], first: bool = False) -> None:
        """From now on these variables name something, too."""
        if any([one is variables for one in self._namespaces]):
            return
        if first:
            self._namespaces.insert(0, variables)
        elif len(self._namespaces) < MOST_NAMESPACES:
            self._namespaces.append(variables)
        self.moment += 1

    def forget(self, variables: Mapping[str, Any]) -> None:
        """A function has returned: its variables name nothing any more."""
        self._namespaces = [one for one in self._namespaces if one is not variables]
        self.moment += 1

    def held(self) -> list[tuple[str, Any]]:
        """All variables that hold a tensor, with what they hold."""
        held = [(name, where.get(name)) for where, name in self._all().values()]
        return [(name, one) for name, one in held if is_tensor(one)]

    def of(self, tensor: Any) -> str | None:
        """The variable that holds ``tensor``; one that was found before is good."""
        key = id(tensor)
        found = self._known.get(key)
        if found is not None and found[0].get(found[1]) is tensor:
            return found[1]
        if self._known_at == self.moment or self._nameless_at.get(key) == self.moment:
            return None
        if type(tensor) is Tensor:
            for variables in self._namespaces:
                if any(map(is_, variables.values(), repeat(tensor))):
                    break
            else:  # most have no name; the parameters of a model are no Tensors
                self._nameless_at[key] = self.moment
                return None
        found = self._all().get(key)
        if found is not None and found[0].get(found[1]) is tensor:
            return found[1]
        return None

    def _all(self) -> dict[int, tuple[Mapping[str, Any], str]]:
        if self._known_at != self.moment:
            self._known = self._find_all()
            self._known_at = self.moment
        return self._known

    def of_module(self, module: Any) -> str | None:
        """The variable and the path by which a layer can be reached."""
        for variables in self._namespaces:
            for name, value in list(variables.items()):
                if isinstance(value, Module) and not name.startswith("_"):
                    for path, found in value.named_modules(prefix=name):
                        if found is module:
                            return str(path)
        return None

    def _find_all(self) -> dict[int, tuple[Mapping[str, Any], str]]:
        known: dict[int, tuple[Mapping[str, Any], str]] = {}
        for variables in self._namespaces:
            for name, value in self._named(variables):
                if not is_model(value):
                    known.setdefault(id(value), (variables, name))
                    continue
                paths = parameters_of(value, name)
                # "model.0.weight" says more than the "p" of a loop over parameters.
                known |= {id(found): (paths, path) for path, found in paths.items()}
        return known

    def _named(self, variables: Mapping[str, Any]) -> list[tuple[str, Any]]:
        """The variables that hold a tensor or a model, with what they hold."""
        nameless, found = self._nameless, []
        for name, value in list(variables.items()):
            if type(value) in nameless or name.startswith("_"):
                continue
            if is_tensor(value) or is_model(value):
                found.append((name, value))
            else:
                nameless.add(type(value))
        return found


def parameters_of(module: Any, name: str) -> dict[str, Any]:
    """The parameters of a model by their paths; none if it cannot tell them."""
    try:
        return dict(module.named_parameters(prefix=name))
    except Exception:  # the model is the learner's, and may be half built
        return {}
