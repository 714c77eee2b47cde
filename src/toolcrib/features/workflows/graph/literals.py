"""Checks the values in a file that are not references against JSON Schemas, such as a tool's arguments."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from toolcrib.errors import InvalidArguments
from toolcrib.graph.references import references_in
from toolcrib.graph.value_types import Schema
from toolcrib.schema.tools import Tool, ToolDefinition

if TYPE_CHECKING:
    from toolcrib.tools.validation import ArgumentChecker

_COMBINED = ("anyOf", "oneOf", "allOf", "not", "if", "dependentRequired", "dependentSchemas", "minProperties")
"""Keywords that judge an object as a whole, which cannot be done while a part of it is a reference."""


def literal_problem(name: str, value: Any, schema: Schema) -> InvalidArguments | None:
    """What is wrong with the arguments that have no references; the others are left out."""
    if not isinstance(value, Mapping):
        return None
    open_ = {key for key, entry in value.items() if any(references_in(entry))}
    literal = {key: entry for key, entry in value.items() if key not in open_}
    try:
        _checker().check(_as_tool(name, _without(schema, open_)), literal)
    except InvalidArguments as error:
        return error
    return None


def _without(schema: Schema, names: set[str]) -> Schema:
    """The schema for an object in which these properties are not judged."""
    if not names:
        return schema
    kept = {key: value for key, value in schema.items() if key not in _COMBINED}
    required = schema.get("required")
    if isinstance(required, list):
        kept["required"] = [each for each in required if each not in names]
    return kept


def _as_tool(name: str, schema: Schema) -> Tool:
    definition = ToolDefinition(name=name, raw={"inputSchema": schema})
    digest = hashlib.sha256(json.dumps(schema, sort_keys=True, default=str).encode()).hexdigest()
    return Tool(
        name=name, server=None, origin="native", definition=definition, hash=f"{name}:{digest}", tokens=0
    )


@cache
def _checker() -> ArgumentChecker:
    from toolcrib.tools.validation import ArgumentChecker

    return ArgumentChecker()
