"""Checks arguments against a tool's schema.

No schema is fetched: a remote `$ref` makes a schema unusable. If a schema is unusable or too complex,
arguments are not checked here but by the server. Messages never repeat a value, which may be a secret.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jsonschema_rs

from toolcrib.errors import InvalidArguments
from toolcrib.schema.tools import Tool
from toolcrib.tools.complexity import backtracking_patterns, has_longer_text, is_reasonable, is_recursive
from toolcrib.tools.plain_schema import in_newest_draft

if TYPE_CHECKING:
    from toolcrib.tools.argument_errors import Compile, Explainer

_MAX_CACHED = 4096
_MAX_BACKTRACKED = 2000
"""Characters of arguments times patterns that may backtrack; longer arguments are left to the server."""
_PATTERNS = jsonschema_rs.FancyRegexOptions(
    backtrack_limit=10_000, size_limit=1 << 20, dfa_size_limit=1 << 21
)


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
            from toolcrib.tools.argument_errors import Explainer  # only needed for wrong arguments

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
