"""Reads what a source lists as its tools: each stays as it came, a malformed one loses only itself."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from toolcrib.schema.tools import ToolDefinition

MAX_DEFINITION_BYTES = 1024 * 1024
"""Above this a definition is an accident or an attack; the largest seen in the wild have about 60 kB."""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Why one listed tool is not offered."""

    tool: str
    """Its name, or its place in the list (`#3`) when it has none."""
    reason: str


@dataclass(frozen=True, kw_only=True)
class ReadDefinition:
    """A usable definition with what is derived from it."""

    definition: ToolDefinition
    hash: str
    schema_json: str


def read_definitions(listed: Iterable[Any]) -> tuple[list[ReadDefinition], list[Problem]]:
    """The usable definitions ordered by name, and what is wrong with the others; of twins the first wins."""
    read: dict[str, ReadDefinition] = {}
    problems: list[Problem] = []
    for index, raw in enumerate(listed):
        label = _label(raw, index)
        try:
            one = _read(raw)
        except ValueError as error:
            problems.append(Problem(tool=label, reason=str(error)))
            continue
        if one.definition.name in read:
            problems.append(Problem(tool=label, reason="listed twice; the first one is used"))
            continue
        read[one.definition.name] = one
    return [read[name] for name in sorted(read)], problems


def canonical_json(value: Any) -> str:
    """The one JSON text of a value: sorted keys, no spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(value: Any) -> str:
    """SHA-256 over the canonical JSON of a value, as hex."""
    return hashlib.sha256(canonical_json(value).encode("utf-8", "surrogatepass")).hexdigest()


def _read(raw: Any) -> ReadDefinition:
    if not isinstance(raw, Mapping):
        raise ValueError("the definition is not an object")
    name = raw.get("name")
    if not isinstance(name, str) or not name:
        raise ValueError("the definition has no name")
    schema = raw.get("inputSchema")
    if schema is not None and not isinstance(schema, Mapping):
        raise ValueError("its inputSchema is not an object")
    text = _as_text(raw)
    return ReadDefinition(
        definition=ToolDefinition(name=name, raw=raw),
        hash=hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
        schema_json=json.dumps(schema or {}, separators=(",", ":"), ensure_ascii=False),
    )


def _as_text(raw: Mapping[str, Any]) -> str:
    try:
        text = canonical_json(raw)
    except RecursionError:
        raise ValueError("the definition is nested too deeply") from None
    except TypeError as error:
        raise ValueError(f"the definition is not JSON: {error}") from None
    if len(text) > MAX_DEFINITION_BYTES:
        raise ValueError(f"the definition is larger than {MAX_DEFINITION_BYTES // 1024} KiB")
    return text


def _label(raw: Any, index: int) -> str:
    name = raw.get("name") if isinstance(raw, Mapping) else None
    return name if isinstance(name, str) and name else f"#{index + 1}"
