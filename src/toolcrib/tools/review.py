"""Looks a server's tool definitions over as a careful colleague would: what will make a model stumble."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from toolcrib.tools.definitions import ReadDefinition, read_definitions
from toolcrib.tools.naming import public_name
from toolcrib.tools.tokens import estimate_tokens

MANY_TOOLS = 50
HEAVY_TOKENS = 1500


def review(server: str, definitions: Iterable[Any]) -> list[str]:
    """Remarks, one sentence each; none when there is nothing to say."""
    read, problems = read_definitions(definitions)
    remarks = [f"{problem.tool or 'A tool'} cannot be used: {problem.reason}." for problem in problems]
    for one in read:
        remarks.extend(_remarks_on(server, one))
    if len(read) > MANY_TOOLS:
        remarks.append(f"{len(read)} tools are many for a prompt; `tools.include` in the entry picks a few.")
    return remarks


def _remarks_on(server: str, one: ReadDefinition) -> Iterable[str]:
    name, description = one.definition.name, one.definition.description
    if not description.strip():
        yield f"{name} has no description."
    properties = one.definition.input_schema.get("properties")
    for parameter, details in (properties or {}).items() if isinstance(properties, Mapping) else ():
        if not _is_typed(details):
            yield f"{name}: the parameter {parameter} has no type."
    shown = public_name(server, name)
    if shown != f"{server}__{name}":
        yield f"{name} is offered as {shown}, because its full name would not fit."
    tokens = estimate_tokens(name, description, one.schema_json)
    if tokens > HEAVY_TOKENS:
        yield f"{name} costs about {tokens} tokens in every prompt."


def _is_typed(details: Any) -> bool:
    if details is True:
        return False
    return isinstance(details, Mapping) and any(
        key in details for key in ("type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf")
    )
