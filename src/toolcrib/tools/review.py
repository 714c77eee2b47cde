"""Reviews a server's tool definitions for anything that a model is likely to misunderstand: descriptions that
are missing or repeat the name, untyped parameters, too many tools, too many tokens. Has these texts.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from toolcrib.tools.definitions import ReadDefinition, estimate_tokens, read_definitions
from toolcrib.tools.names import public_name
from toolcrib.tools.scanner import scan

MANY_TOOLS = 50
HEAVY_TOKENS = 1500
WARNING = ": warning: "
"""Between the name of a tool and what is suspicious in its definition."""
SHOWN = 10
"""Parameters named in one remark."""
_WORD = re.compile(r"[a-z0-9]+")
_FILLERS = frozenset({"a", "an", "the", "tool", "this", "to", "it", "of"})


def review(server: str, definitions: Iterable[Any], *, others: Collection[str] = ()) -> list[str]:
    """Remarks, one sentence each.

    `others` are the names of the tools of all other servers.
    """
    read, problems = read_definitions(definitions)
    own, others = frozenset(tool.definition.name for tool in read), frozenset(others)
    remarks = [f"{problem.tool or 'A tool'} cannot be used: {problem.reason}." for problem in problems]
    for tool in read:
        found = scan(tool.definition.raw, own=own, others=others)
        remarks.extend(f"{tool.definition.name}{WARNING}{finding}" for finding in found)
        remarks.extend(_remarks_on(server, tool))
    remarks.extend(_undescribed(read))
    if len(read) > MANY_TOOLS:
        remarks.append(
            f"{len(read)} tools are a lot for one prompt; select some with `tools.include` in the entry."
        )
    return remarks


def _remarks_on(server: str, tool: ReadDefinition) -> Iterable[str]:
    name, description = tool.definition.name, tool.definition.description
    if not description.strip():
        yield f"{name} has no description."
    elif _says_little(name, description):
        yield f"{name}: its description only repeats its name; describe what it returns and when to use it."
    properties = tool.definition.input_schema.get("properties")
    parameters = properties if isinstance(properties, Mapping) else {}
    for parameter, details in parameters.items():
        if not _is_typed(details):
            yield f"{name}: the parameter {parameter} has no type."
    shown = public_name(server, name)
    if shown != f"{server}__{name}":
        yield f"{name} is offered as {shown}, because its full name is too long."
    tokens = estimate_tokens(name, description, tool.schema_json)
    if tokens > HEAVY_TOKENS:
        yield f"{name} takes about {tokens} tokens in every prompt."


def _undescribed(tools: Sequence[ReadDefinition]) -> Iterable[str]:
    """One remark for all parameters without a description: many servers describe none."""
    silent = dict[str, list[str]]()
    for tool in tools:
        properties = tool.definition.input_schema.get("properties")
        for parameter, details in properties.items() if isinstance(properties, Mapping) else ():
            if not _is_described(details):
                silent.setdefault(tool.definition.name, []).append(parameter)
    if len(silent) == 1:
        ((name, parameters),) = silent.items()
        verb = "has" if len(parameters) == 1 else "have"
        yield f"{name}: {', '.join(parameters[:SHOWN])} {verb} no description."
    elif silent:
        more = f" and {len(silent) - SHOWN} more" if len(silent) > SHOWN else ""
        yield f"Parameters of {len(silent)} tools have no description: {', '.join([*silent][:SHOWN])}{more}."


def _says_little(name: str, description: str) -> bool:
    """Whether the description only repeats the name."""
    words = set(_WORD.findall(description.lower())) - _FILLERS
    stems = _WORD.findall(name.lower())
    return all(any(word.startswith(stem[:4]) for stem in stems) for word in words)


def _is_described(details: Any) -> bool:
    return isinstance(details, Mapping) and any(
        key in details for key in ("description", "title", "enum", "const", "$ref")
    )


def _is_typed(details: Any) -> bool:
    if details is True:
        return False
    return isinstance(details, Mapping) and any(
        key in details for key in ("type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf")
    )
