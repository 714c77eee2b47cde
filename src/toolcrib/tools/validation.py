"""Checks arguments against a tool's schema, and writes the error messages and hints for wrong arguments
(missing, unknown, "Did you mean"). Limits: errors listed, length of a hint, complexity of schemas and
patterns.

No schema is fetched: a remote `$ref` makes a schema unusable. If a schema is unusable or too complex,
arguments are not checked here but by the server. Messages never repeat a value, which may be a secret.

An error says which argument is wrong, how, and what the schema expects. Listing errors makes the validator
enter every branch of every `anyOf` again, which grows exponentially with the depth of recursive schemas; a
yes or no is cheap. So alternatives are checked behind a double `not`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import jsonschema_rs

from toolcrib.errors import InvalidArguments
from toolcrib.schema.json_schema import follow
from toolcrib.schema.tools import Tool
from toolcrib.serverkit.encoding import weight
from toolcrib.tools.plain_schema import (
    backtracking_patterns,
    has_longer_text,
    in_newest_draft,
    is_reasonable,
    is_recursive,
)

_ARTICLES = {"object": "an object", "array": "a list", "integer": "a whole number", "null": "null"}
_MAX_LISTED = 12
_MAX_HINT = 400
_MAX_COMPARED = 200
"""Property names that a wrong name is compared with."""


_MAX_CACHED = 4096
_MAX_BACKTRACKED = 2000
"""Characters of arguments times patterns that may backtrack; longer arguments are left to the server."""
_PATTERNS = jsonschema_rs.FancyRegexOptions(
    backtrack_limit=10_000, size_limit=1 << 20, dfa_size_limit=1 << 21
)


@dataclass(frozen=True)
class Complaint:
    message: str
    hint: str = ""


def describe(error: jsonschema_rs.ValidationError, schema: Mapping[str, Any]) -> Complaint:
    path = list(error.instance_path)
    kind = error.kind
    if isinstance(kind, jsonschema_rs.ValidationErrorKind.Required):
        return _missing(kind.property, path, _subschema(error, schema))
    if isinstance(
        kind,
        jsonschema_rs.ValidationErrorKind.AdditionalProperties
        | jsonschema_rs.ValidationErrorKind.UnevaluatedProperties,
    ):
        return _unknown(kind.unexpected, path, _subschema(error, schema))
    field = _subschema(error, schema)
    trouble = _alternatives(field) if _is_hidden(error, field) else _trouble(error)
    return Complaint(f"{_place(path)} {trouble}", _field_hint(_spell(path), field))


def _is_hidden(error: jsonschema_rs.ValidationError, field: Any) -> bool:
    """Whether this `not` was added by `_with_alternatives_hidden` rather than written in the schema."""
    is_not = isinstance(error.kind, jsonschema_rs.ValidationErrorKind.Not)
    return is_not and not (isinstance(field, Mapping) and "not" in field)


def _alternatives(field: Any) -> str:
    if isinstance(field, Mapping) and "oneOf" in field and "anyOf" not in field:
        return "must match exactly one of the allowed forms"
    if isinstance(field, Mapping) and "anyOf" in field:
        return "matches none of the allowed forms"
    return "does not fit the schema"


def _missing(name: str, path: Sequence[str | int], parent: Any) -> Complaint:
    field = _properties(parent).get(name)
    return Complaint(f"{_place([*path, name])} is required", _field_hint(_spell([*path, name]), field))


def _unknown(names: Sequence[str], path: Sequence[str | int], parent: Any) -> Complaint:
    known = list(islice(_properties(parent), _MAX_COMPARED))
    shown = ", ".join(_cut(_spell([*path, name]), 60) for name in names[:_MAX_LISTED])
    import difflib  # only needed for wrong arguments

    close = [match for name in names[:3] for match in difflib.get_close_matches(name[:100], known, n=1)]
    hint = f"Did you mean {', '.join(dict.fromkeys(close))}?" if close else ""
    allowed = f"Known arguments: {', '.join(known[:40])}." if known else "No arguments are allowed."
    where = "" if not path else f" in {_spell(path)}"
    return Complaint(f"unknown argument{where}: {shown}", f"{hint} {allowed}".strip())


def _trouble(error: jsonschema_rs.ValidationError) -> str:
    kind = error.kind
    if isinstance(kind, jsonschema_rs.ValidationErrorKind.Type):
        expected = " or ".join(_ARTICLES.get(name, f"a {name}") for name in kind.types)
        return f"must be {expected}, not {_type_of(error.instance)}"
    if isinstance(kind, jsonschema_rs.ValidationErrorKind.Enum):
        return f"must be one of {_listed(kind.options)}"
    if isinstance(kind, jsonschema_rs.ValidationErrorKind.Constant):
        return f"must be {_cut(json.dumps(kind.expected_value, ensure_ascii=False), 100)}"
    if isinstance(kind, jsonschema_rs.ValidationErrorKind.Pattern):
        return f"does not match the pattern {_cut(kind.pattern, 100)}"
    # The library's own message; values in it are masked.
    return _cut(error.message.removeprefix("the value "), 200)


def _subschema(error: jsonschema_rs.ValidationError, schema: Mapping[str, Any]) -> Any:
    """The part of the schema that holds the failed keyword."""
    node: Any = schema
    for part in error.schema_path[:-1]:
        if isinstance(node, Mapping) and isinstance(node.get("$ref"), str) and part not in node:
            node = follow(schema, node["$ref"])
        if isinstance(node, Mapping):
            node = node.get(str(part))
        elif isinstance(node, list) and isinstance(part, int) and part < len(node):
            node = node[part]
        else:
            return None
    return node


def _field_hint(name: str, field: Any) -> str:
    if not isinstance(field, Mapping) or not name:
        return ""
    parts = [f"{name}: {_form(field)}"]
    description = field.get("description")
    if isinstance(description, str) and description:
        parts.append(f"— {_cut(description, 200)}")
    example = _example(field)
    if example is not None:
        parts.append(f"(for example {_cut(json.dumps(example, ensure_ascii=False, default=str), 80)})")
    return _cut(" ".join(parts), _MAX_HINT)


def _form(field: Mapping[str, Any]) -> str:
    if isinstance(field.get("enum"), list):
        return f"one of {_listed(field['enum'])}"
    for key in ("anyOf", "oneOf"):
        branches = field.get(key)
        if isinstance(branches, list):
            forms = (_form(branch) for branch in branches[:_MAX_LISTED] if isinstance(branch, Mapping))
            return " | ".join(dict.fromkeys(forms))
    if "const" in field:
        return _cut(json.dumps(field["const"], ensure_ascii=False), 80)
    kind = field.get("type", field.get("$ref", "any"))
    if isinstance(kind, list):
        return " | ".join(str(name) for name in kind)
    return str(kind).rpartition("/")[2]


def _example(field: Mapping[str, Any]) -> Any:
    examples = field.get("examples")
    if isinstance(examples, list) and examples:
        return examples[0]
    return field.get("example", field.get("default"))


def _properties(schema: Any) -> Mapping[str, Any]:
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    return properties if isinstance(properties, Mapping) else {}


def _place(path: Sequence[str | int]) -> str:
    return f'"{_cut(_spell(path), 100)}"' if path else "the arguments"


def _spell(path: Sequence[str | int]) -> str:
    """Writes a path as `items[2].name`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text


def _listed(options: Sequence[Any]) -> str:
    shown = ", ".join(_cut(json.dumps(option, ensure_ascii=False), 60) for option in options[:_MAX_LISTED])
    return shown if len(options) <= _MAX_LISTED else f"{shown}, … ({len(options)} in all)"


def _type_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a string" if value else "an empty string"
    return "a list" if isinstance(value, list) else "an object"


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


_UNFIT = "the arguments do not fit the schema"
_MAX_COMPLAINTS = 5
_MANY_VALUES = 500
"""Above this many values only the first error is computed: the validator creates all of them at once."""
_MOST_COPIED = 2_000_000
"""The weight of what all errors together may repeat: each has a copy of its part of the schema."""
_TOO_MANY_NAMES = 5_000
"""In one object: even the first error takes long, since it may list them all."""
_MANY_REQUIRED = 200
_DEEP = 6
"""Deepest arguments for which the errors of a recursive schema are listed."""
_ALTERNATIVES = ("anyOf", "oneOf")
_REPEATS = ("allOf", "if", "then", "else", "patternProperties", "dependentSchemas")
"""Keywords that may check a value several times, which multiplies with each level of a recursive schema."""
_NAMED_SCHEMAS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_NO_SCHEMAS = ("enum", "const", "default", "examples", "example", "required")
_NEVER_COUNTS = (
    jsonschema_rs.ValidationErrorKind.BacktrackLimitExceeded,
    jsonschema_rs.ValidationErrorKind.RegexEngineFailure,
)
"""Not the arguments' fault: a pattern hit the regex engine's limits."""

Compile = Callable[[dict[str, Any]], jsonschema_rs.Validator]


class Explainer:
    """Explains errors against one schema; `compile` makes a validator from a schema."""

    def __init__(self, schema: Mapping[str, Any], compile: Compile, *, recursive: bool) -> None:  # noqa: A002
        self._schema = schema
        self._compile = compile
        self._recursive = recursive
        required = schema.get("required")
        many = isinstance(required, list) and len(required) > _MANY_REQUIRED
        size = weight(schema, _MOST_COPIED)
        self._most_values = 0 if many else min(_MANY_VALUES, _MOST_COPIED // (size + 1))
        wrapped = (*_ALTERNATIVES, *_REPEATS) if recursive else _ALTERNATIVES
        self._validator = _compiled(compile, _with_alternatives_hidden(dict(schema), wrapped))

    def complaints(self, arguments: Mapping[str, Any]) -> list[Complaint]:
        """What is wrong; empty if nothing is the arguments' fault."""
        values, depth, names = _extent(arguments)
        if names > _TOO_MANY_NAMES:
            return [self._unknown_name(arguments)]
        if self._validator is None or (self._recursive and depth > _DEEP):
            return self._wrong_arguments(arguments)
        errors = self._errors(self._validator, arguments, only_first=values > self._most_values)
        counting = [error for error in errors if not isinstance(error.kind, _NEVER_COUNTS)]
        return [describe(error, self._schema) for error in counting[:_MAX_COMPLAINTS]]

    def _unknown_name(self, arguments: Mapping[str, Any]) -> Complaint:
        """Only the first unknown names of very many."""
        known = _properties(self._schema) if self._schema.get("additionalProperties") is False else arguments
        unknown = list(islice((name for name in arguments if name not in known), _MAX_LISTED))
        return _unknown(unknown, [], self._schema) if unknown else Complaint(_UNFIT)

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
        """Checks each argument alone and names those that do not fit."""
        kept = ("$schema", "$defs", "definitions", "properties")
        validator = _compiled(self._compile, {key: self._schema[key] for key in kept if key in self._schema})
        wrong = [name for name in arguments if validator and not validator.is_valid({name: arguments[name]})]
        named = [Complaint(f'"{name[:100]}" does not fit the schema') for name in wrong[:_MAX_COMPLAINTS]]
        return named or [Complaint(_UNFIT)]


def _compiled(compile_: Compile, schema: dict[str, Any]) -> jsonschema_rs.Validator | None:
    try:
        return compile_(schema)
    except ValueError:  # a reference into a part that was moved
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


def _extent(value: Any) -> tuple[int, int, int]:
    """Number of values, depth, and names in the largest object, counted only as far as needed."""
    level, values, depth, names = [value], 1, 0, 0
    while level and values <= _MANY_VALUES:
        depth += 1
        parents = [parent for parent in level if isinstance(parent, Mapping | list | tuple)]
        values += sum(map(len, parents))
        names = max(names, *(len(parent) for parent in parents if isinstance(parent, Mapping)), 0)
        if values <= _MANY_VALUES:
            level = [child for parent in parents for child in _children(parent)]
    return values, depth, names


def _children(value: Mapping[Any, Any] | list[Any] | tuple[Any, ...]) -> Iterable[Any]:
    return value.values() if isinstance(value, Mapping) else value


@dataclass(frozen=True)
class _Checker:
    """A compiled schema, or the reason why there is none."""

    validator: jsonschema_rs.Validator | None
    reason: str = ""
    compile: Compile | None = None
    backtracking: int = 0
    """Patterns that may take long to match."""


class ArgumentChecker:
    """Compiles each definition's schema once, by its hash."""

    def __init__(self) -> None:
        self._cache: dict[str, _Checker] = {}
        self._explainers: dict[str, Explainer] = {}

    def check(self, tool: Tool, arguments: Mapping[str, Any]) -> None:
        """Raise `InvalidArguments` when the arguments do not fit."""
        checker = self._cache.get(tool.hash) or self._compile(tool)
        validator = checker.validator
        if validator is None:
            return
        if checker.backtracking and has_longer_text(arguments, _MAX_BACKTRACKED // checker.backtracking):
            return
        try:
            if not validator.is_valid(arguments):
                self._complain(tool, arguments, checker)
        except ValueError as error:
            # Non-string keys or values nested too deeply: not JSON.
            raise InvalidArguments(f"{tool.name}: the arguments are not valid JSON: {error}.") from None

    def unusable(self, tool: Tool) -> str:
        """Why this tool's arguments cannot be checked; empty if they can."""
        return (self._cache.get(tool.hash) or self._compile(tool)).reason

    def _compile(self, tool: Tool) -> _Checker:
        checker = _compile(tool.definition.input_schema)
        _put(self._cache, tool.hash, checker)
        return checker

    def _complain(self, tool: Tool, arguments: Mapping[str, Any], checker: _Checker) -> None:
        complaints = self._explainer(tool, checker).complaints(arguments)
        if complaints:
            message = "; ".join(dict.fromkeys(complaint.message for complaint in complaints))
            hints = dict.fromkeys(complaint.hint for complaint in complaints if complaint.hint)
            raise InvalidArguments(f"{tool.name}: {message}.", hint="\n".join(hints))

    def _explainer(self, tool: Tool, checker: _Checker) -> Explainer:
        explainer = self._explainers.get(tool.hash)
        if explainer is None:
            schema = tool.definition.input_schema
            explainer = Explainer(schema, checker.compile or _as_declared, recursive=is_recursive(schema))
            _put(self._explainers, tool.hash, explainer)
        return explainer


def _put(cache: dict[str, Any], key: str, value: Any) -> None:
    if len(cache) >= _MAX_CACHED:
        cache.pop(next(iter(cache)))
    cache[key] = value


def _compile(schema: Mapping[str, Any]) -> _Checker:
    if not is_reasonable(schema):
        return _Checker(None, "the schema is too complex to be checked safely")
    reason = ""
    for attempt in _ATTEMPTS:
        try:
            return _Checker(attempt(dict(schema)), "", attempt, backtracking_patterns(schema))
        except ValueError as error:
            reason = reason or str(error).splitlines()[0]
    return _Checker(None, reason)


def _as_declared(schema: dict[str, Any]) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(schema, **_OPTIONS)


def _as_meant(schema: dict[str, Any]) -> jsonschema_rs.Validator:
    fixed = in_newest_draft(schema)
    fixed.pop("$schema", None)
    return jsonschema_rs.Draft202012Validator(fixed, **_OPTIONS)


def _without_patterns(schema: dict[str, Any]) -> jsonschema_rs.Validator:
    return _as_meant(_drop_patterns(schema))


def _drop_patterns(value: Any) -> Any:
    if isinstance(value, list):
        return [_drop_patterns(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    return {
        key: _drop_patterns(entry)
        for key, entry in value.items()
        if not (key == "pattern" and isinstance(entry, str))
    }


def _refuse_to_fetch(uri: str) -> Any:
    raise ValueError(f"remote schemas are not fetched: {uri}")


# Formats are hints: a server that says "uri" often accepts values that a strict check would reject.
_OPTIONS: dict[str, Any] = {
    "retriever": _refuse_to_fetch,
    "validate_formats": False,
    "pattern_options": _PATTERNS,
    "mask": "the value",
}
# Servers use older drafts without saying so, name drafts that do not exist, and use types and regular
# expressions of their own language: the first attempt that compiles is used.
_ATTEMPTS: tuple[Compile, ...] = (_as_declared, _as_meant, _without_patterns)
