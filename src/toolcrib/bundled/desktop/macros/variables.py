"""The variables of a running macro, and their substitution in texts: `${name}`. Decides valid names, how
parameters are read and checked, and the most variables.

A value is inserted as it is: text that looks like a variable inside a value is not substituted again.
`$${` stands for `${`.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from toolcrib.bundled.desktop.elements.selector import Selector, parse_selector
from toolcrib.bundled.desktop.macros.expressions import MAX_RESULT, Value, text_of, unknown_variable
from toolcrib.bundled.desktop.macros.model import Macro, MacroAction, MacroParameter
from toolcrib.serverkit.context import ToolFailure
from toolcrib.suggestions import did_you_mean

T = TypeVar("T")
MAX_VARIABLES = 500
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")
PLACE = re.compile(r"\$\$\{|\$\{([^{}]*)\}")


class Variables(dict[str, Value]):
    """By name."""

    def assign(self, name: str, value: Value) -> None:
        check_name(name)
        if name not in self and len(self) >= MAX_VARIABLES:
            raise ToolFailure(f"A macro has at most {MAX_VARIABLES} variables.")
        self[name] = value

    def fill(self, text: str) -> str:
        """The text with the values of its variables; raises `ToolFailure` for an unknown one."""
        filled = PLACE.sub(self._inserted, text)
        if len(filled) > MAX_RESULT:
            raise ToolFailure(f"A text is longer than {MAX_RESULT} characters after substitution.")
        return filled

    def fill_record(self, record: T) -> T:
        """The same record with variables substituted in all its texts, except in the actions inside it."""
        changed = {
            field.name: self._filled(getattr(record, field.name))
            for field in dataclasses.fields(record)  # type: ignore[arg-type]
        }
        return dataclasses.replace(record, **changed)  # type: ignore[type-var]

    def fill_json(self, value: Any) -> Any:
        """JSON with variables substituted in all its texts."""
        if isinstance(value, str):
            return self.fill(value)
        if isinstance(value, Mapping):
            return {key: self.fill_json(item) for key, item in value.items()}
        return [self.fill_json(item) for item in value] if isinstance(value, list) else value

    def _filled(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.fill(value)
        if isinstance(value, Mapping):
            return {key: self.fill(item) for key, item in value.items()}
        if isinstance(value, tuple):
            return tuple(self._filled(item) for item in value)
        if dataclasses.is_dataclass(value) and not isinstance(value, MacroAction):
            return self.fill_record(value)
        return value

    def _inserted(self, found: re.Match[str]) -> str:
        name = found[1]
        if name is None:
            return "${"
        if name not in self:
            raise unknown_variable(name, self)
        return text_of(self[name])


def check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ToolFailure(f"{name[:80]!r} cannot be the name of a variable.", "Such as total or item_1.")


def read_selector(text: str) -> Selector:
    """In the short form, such as `role:button`, or as a JSON object; raises `ToolFailure`."""
    if not text.lstrip().startswith("{"):
        return parse_selector(text)
    try:
        return parse_selector(json.loads(text))
    except (json.JSONDecodeError, RecursionError) as error:
        raise ToolFailure(f"The selector is not valid JSON: {error}.") from None


def read_parameters(macro: Macro, given: Mapping[str, str]) -> Variables:
    """The variables at the start: every parameter with its value or default. Raises `ToolFailure`."""
    known = {parameter.key: parameter for parameter in macro.parameters}
    for key in given:
        if key not in known:
            raise ToolFailure(f"The macro has no parameter {key!r}.", did_you_mean(key, list(known)))
    variables = Variables()
    for key, parameter in known.items():
        variables.assign(key, read_value(parameter, given.get(key)))
    return variables


def read_value(parameter: MacroParameter, given: str | None) -> Value:
    if given is None and parameter.required and not parameter.default_value:
        about = f" ({parameter.description})" if parameter.description else ""
        raise ToolFailure(f"The parameter {parameter.key!r}{about} is missing.", "Give it a value.")
    text = parameter.default_value if given is None else given
    if not text and given is None:
        return ""
    return _READERS[parameter.type](parameter.key, text)


def _integer(key: str, text: str) -> Value:
    try:
        return int(text.strip())
    except ValueError:
        raise ToolFailure(f"The parameter {key!r} must be a whole number, not {text[:80]!r}.") from None


def _boolean(key: str, text: str) -> Value:
    word = text.strip().casefold()
    if word not in ("true", "false"):
        raise ToolFailure(f"The parameter {key!r} must be true or false, not {text[:80]!r}.")
    return word == "true"


def _selector(key: str, text: str) -> Value:
    read_selector(text)
    return text


def _path(key: str, text: str) -> Value:
    if "\0" in text:
        raise ToolFailure(f"The parameter {key!r} is not a path.")
    return str(Path(text).expanduser())


_READERS: dict[str, Callable[[str, str], Value]] = {
    "string": lambda key, text: text,
    "integer": _integer,
    "boolean": _boolean,
    "selector": _selector,
    "path": _path,
}
