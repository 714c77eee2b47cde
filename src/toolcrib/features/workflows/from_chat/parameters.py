"""The inputs of a workflow that is made from chats: values that the user named, and values that differ."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from toolcrib.features.workflows.planner.repairs.ids import valid_id
from toolcrib.schema.workflows import Parameter, ParameterType

_SECRET = re.compile(r"passw|secret|token|api_?key|credential|private_?key", re.IGNORECASE)
_TYPES: dict[type, ParameterType] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    list: "array",
    dict: "object",
}


def is_named(value: Any, asked: str) -> bool:
    """Whether the user wrote exactly this value."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    text = str(value).strip()
    if len(text) < 2 and not isinstance(value, int):
        return False
    return re.search(rf"(?<![\w.]){re.escape(text)}(?!\w)", asked) is not None


def is_secret(name: str) -> bool:
    """Whether an argument of this name has a secret as its value."""
    return _SECRET.search(name) is not None


@dataclass
class Inputs:
    """The parameters so far; the same value of the same argument is one parameter."""

    found: dict[str, Parameter] = field(default_factory=dict)
    _by_value: dict[tuple[str, str], str] = field(default_factory=dict)

    def reference(self, node: str, argument: str, value: Any, *, description: str = "") -> str:
        """A reference to the parameter for this value."""
        key = (argument, repr(value))
        if key not in self._by_value:
            self._by_value[key] = self._add(node, argument, value, description)
        return f"{{{{input.{self._by_value[key]}}}}}"

    def _add(self, node: str, argument: str, value: Any, description: str) -> str:
        wanted = (valid_id(argument), valid_id(f"{node}_{argument}"))
        numbered = (f"{wanted[1][:60]}_{number}" for number in range(2, 10_000))
        name = next(candidate for candidate in (*wanted, *numbered) if candidate not in self.found)
        self.found[name] = self._parameter(argument, value, description)
        return name

    def _parameter(self, argument: str, value: Any, description: str) -> Parameter:
        kind = _TYPES[type(value)]
        if is_secret(argument):
            return Parameter(type=kind, description=description, secret=True)
        return Parameter(type=kind, description=description, required=False, default=value)
