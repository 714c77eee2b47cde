"""Finds out what is wrong with arguments that do not fit, with little work whatever they and the schema hold.

To list errors, the validator goes into every branch of every `anyOf` again and again, which grows
exponentially with the depth of recursive schemas; to answer yes or no takes it next to nothing. So the
explaining schema asks for the alternatives behind a double `not`, where only yes or no counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import jsonschema_rs

from toolcrib.tools.argument_errors import Complaint, describe

_MAX_COMPLAINTS = 5
_MANY_VALUES = 500
"""Above this many values only the first error is looked for: the validator makes all of them at once."""
_DEEP = 6
"""Levels of arguments down to which the errors of a recursive schema are looked for."""
_ALTERNATIVES = ("anyOf", "oneOf")
_REPEATS = ("allOf", "if", "then", "else", "patternProperties", "dependentSchemas")
"""Keywords that may check one value several times, which multiplies with each level of a recursive schema."""
_NAMED_SCHEMAS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_NO_SCHEMAS = ("enum", "const", "default", "examples", "example", "required")
_NEVER_COUNTS = (
    jsonschema_rs.ValidationErrorKind.BacktrackLimitExceeded,
    jsonschema_rs.ValidationErrorKind.RegexEngineFailure,
)
"""Not the arguments' fault: a pattern that could not be run to its end."""

Compile = Callable[[dict[str, Any]], jsonschema_rs.Validator]


class Explainer:
    """Explains errors against one schema; `compile` makes a validator of a schema."""

    def __init__(self, schema: Mapping[str, Any], compile: Compile, *, recursive: bool) -> None:  # noqa: A002
        self._schema = schema
        self._compile = compile
        self._recursive = recursive
        wrapped = (*_ALTERNATIVES, *_REPEATS) if recursive else _ALTERNATIVES
        self._validator = _compiled(compile, _with_alternatives_hidden(dict(schema), wrapped))

    def complaints(self, arguments: Mapping[str, Any]) -> list[Complaint]:
        """What is wrong; empty when nothing is the arguments' fault."""
        values, depth = _extent(arguments)
        if self._validator is None or (self._recursive and depth > _DEEP):
            return self._wrong_arguments(arguments)
        errors = self._errors(self._validator, arguments, only_first=values > _MANY_VALUES)
        counting = [error for error in errors if not isinstance(error.kind, _NEVER_COUNTS)]
        return [describe(error, self._schema) for error in counting[:_MAX_COMPLAINTS]]

    def _errors(
        self, validator: jsonschema_rs.Validator, arguments: Mapping[str, Any], *, only_first: bool
    ) -> list[jsonschema_rs.ValidationError]:
        if not only_first:
            return list(validator.iter_errors(arguments))
        try:
            validator.validate(arguments)
        except jsonschema_rs.ValidationError as error:
            return [error]
        return []

    def _wrong_arguments(self, arguments: Mapping[str, Any]) -> list[Complaint]:
        """Only which of the arguments do not fit, by asking for each of them alone."""
        kept = ("$schema", "$defs", "definitions", "properties")
        each = _compiled(self._compile, {key: self._schema[key] for key in kept if key in self._schema})
        wrong = [name for name in arguments if each and not each.is_valid({name: arguments[name]})]
        named = [Complaint(f'"{name[:100]}" does not fit the schema') for name in wrong[:_MAX_COMPLAINTS]]
        return named or [Complaint("the arguments do not fit the schema")]


def _compiled(compile_: Compile, schema: dict[str, Any]) -> jsonschema_rs.Validator | None:
    try:
        return compile_(schema)
    except ValueError:  # a reference into what was moved
        return None


def _with_alternatives_hidden(node: Any, wrapped: tuple[str, ...]) -> Any:
    if isinstance(node, list):
        return [_with_alternatives_hidden(item, wrapped) for item in node]
    if not isinstance(node, Mapping):
        return node
    hidden = {key: node[key] for key in wrapped if key in node}
    shown = {key: _inside(key, value, wrapped) for key, value in node.items() if key not in hidden}
    if not hidden:
        return shown
    behind = {"not": {"not": hidden}}
    if "not" not in shown:
        return shown | behind
    return shown | {"allOf": [*shown.get("allOf", []), behind]}


def _inside(key: str, value: Any, wrapped: tuple[str, ...]) -> Any:
    if key in _NO_SCHEMAS:
        return value
    if key in _NAMED_SCHEMAS and isinstance(value, Mapping):
        return {name: _with_alternatives_hidden(schema, wrapped) for name, schema in value.items()}
    return _with_alternatives_hidden(value, wrapped)


def _extent(value: Any) -> tuple[int, int]:
    """How many values there are, and how deep; neither is counted far beyond what makes a difference."""
    level, values, depth = [value], 1, 0
    while level and values <= _MANY_VALUES:
        depth += 1
        parents = [parent for parent in level if isinstance(parent, Mapping | list | tuple)]
        values += sum(map(len, parents))
        if values <= _MANY_VALUES:
            level = [child for parent in parents for child in _children(parent)]
    return values, depth


def _children(value: Mapping[Any, Any] | list[Any] | tuple[Any, ...]) -> Iterable[Any]:
    return value.values() if isinstance(value, Mapping) else value
