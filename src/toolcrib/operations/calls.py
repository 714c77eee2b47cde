"""Calls a tool: which servers are started for it, and how `key=value` texts become numbers, booleans, lists
or objects."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from toolcrib.errors import UsageError
from toolcrib.host import Host
from toolcrib.operations.event_relay import relay
from toolcrib.operations.lookup import find_tool, possible_owners
from toolcrib.operations.operation import (
    EVERYTHING,
    Configured,
    Invocation,
    JsonObject,
    Needs,
    operation,
)
from toolcrib.operations.parameters import CLOSED, Within
from toolcrib.operations.results.call_result import CallProgress, CallResult, result_json
from toolcrib.schema.tools import Principal
from toolcrib.tools.names import BORDER, PREFIX

SAMPLE = "welcome page"
"""The caller of the call that the Welcome page shows: nobody asked for it."""


def _call_needs(params: Any, configured: Configured) -> Needs:
    if params.tool.removeprefix(PREFIX).startswith(f"workflows{BORDER}"):
        return EVERYTHING  # a workflow calls tools of any server
    return Needs(servers=possible_owners(params.tool, configured()), lazy=True)


@operation(page=True, needs=_call_needs)
async def call(
    host: Host,
    invocation: Invocation[CallProgress],
    tool: str,
    *,
    arguments: JsonObject,
    words: tuple[Word, ...] = (),
    timeout: Annotated[float | None, Within(gt=0, le=86_400)] = None,
    principal: str = "cli",
) -> CallResult:
    """Call a tool.

    Returns the MCP result; emits the progress that the server reports.
    """
    found = await find_tool(host, tool)
    arguments = {**arguments, **typed_arguments(found.definition.input_schema, words)}
    async with relay(invocation.emit) as put:
        result = await host.call(
            found.name,
            arguments,
            principal=Principal(name="page" if invocation.from_page and principal != SAMPLE else principal),
            timeout=timeout,
            on_progress=partial(report_progress, put),
        )
    return result_json(result)


def report_progress(
    put: Callable[[Any], None], progress: float, total: float | None, message: str | None
) -> None:
    put({"progress": progress, "total": total, "message": message})


_INTEGER = re.compile(r"[+-]?\d+")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})
_ANY = frozenset({"string", "number", "integer", "boolean", "array", "object", "null"})
_LONGEST_NUMBER = 400
"""Characters; a longer number is passed to the tool as text."""


@dataclass(frozen=True, kw_only=True)
class Word:
    """One argument: `text` is converted by the schema, `value` is used unchanged."""

    __pydantic_config__ = CLOSED

    key: str
    text: str | None = None
    value: Any = None


def typed_arguments(schema: Mapping[str, Any], words: Iterable[Word]) -> dict[str, Any]:
    """Convert the arguments; a repeated key becomes a list if the schema allows it, else `UsageError`."""
    reader = _Reader(schema)
    given: dict[str, list[Word]] = {}
    for word in words:
        given.setdefault(word.key, []).append(word)
    return {key: reader.read(key, same) for key, same in given.items()}


class _Reader:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        properties = root.get("properties")
        self._properties = properties if isinstance(properties, Mapping) else {}

    def read(self, key: str, given: list[Word]) -> Any:
        schema = self._resolve(self._properties.get(key, self._root.get("additionalProperties")))
        if len(given) == 1 and given[0].text is None:
            return given[0].value
        types = self._types(schema)
        if len(given) == 1 and ("array" not in types or "string" in types):
            return self._typed(given[0].text or "", types, schema)
        if "array" not in types:
            raise UsageError(
                f"{key} was given {len(given)} times, but takes one value.", hint=f"Give {key} once."
            )
        return self._items(given, schema)

    def _items(self, given: list[Word], schema: Mapping[str, Any]) -> Any:
        if len(given) == 1 and isinstance(whole := _json(given[0].text or ""), list):
            return whole
        item = self._resolve(schema.get("items"))
        types = self._types(item)
        return [arg.value if arg.text is None else self._typed(arg.text, types, item) for arg in given]

    def _typed(self, text: str, types: frozenset[str], schema: Mapping[str, Any]) -> Any:
        for choice in schema.get("enum") or ():
            if text == choice or (not isinstance(choice, str) and text == json.dumps(choice)):
                return choice
        for kind, read in _UNION_READERS if "string" in types else _READERS:
            if kind in types and (value := read(text)) is not _NOT_READ:
                return value
        if "null" in types and "string" not in types and text == "null":
            return None
        return text

    def _types(self, schema: Mapping[str, Any], depth: int = 0) -> frozenset[str]:
        """The JSON types of a value; all of them if the schema does not say."""
        stated = schema.get("type")
        if isinstance(stated, str):
            return frozenset({stated})
        if isinstance(stated, list):
            return frozenset(kind for kind in stated if isinstance(kind, str))
        branches = [*(schema.get("anyOf") or ()), *(schema.get("oneOf") or ())]
        if branches and depth < 8:
            return frozenset().union(*(self._types(self._resolve(branch), depth + 1) for branch in branches))
        return _ANY if schema.get("enum") is None else frozenset({"string"})

    def _resolve(self, schema: Any) -> Mapping[str, Any]:
        """The schema that a local reference points to; empty if it cannot be resolved."""
        for _ in range(8):
            if not isinstance(schema, Mapping):
                return {}
            reference = schema.get("$ref")
            if not isinstance(reference, str) or not reference.startswith("#/"):
                return schema
            schema = self._root
            for part in reference[2:].split("/"):
                key = part.replace("~1", "/").replace("~0", "~")
                schema = schema.get(key) if isinstance(schema, Mapping) else None
        return {}


_NOT_READ = object()


def _integer(text: str) -> Any:
    if len(text) <= _LONGEST_NUMBER and _INTEGER.fullmatch(text):
        return int(text)
    return _NOT_READ


def _number(text: str) -> Any:
    if len(text) > _LONGEST_NUMBER or not _NUMBER.fullmatch(text):
        return _NOT_READ
    value = float(text)
    return value if math.isfinite(value) else _NOT_READ


def _boolean(text: str) -> Any:
    word = text.lower()
    if word in _TRUE:
        return True
    return False if word in _FALSE else _NOT_READ


def _strict_boolean(text: str) -> Any:
    return {"true": True, "false": False}.get(text, _NOT_READ)


def _array(text: str) -> Any:
    value = _json(text)
    return value if isinstance(value, list) else _NOT_READ


def _object(text: str) -> Any:
    value = _json(text)
    return value if isinstance(value, dict) else _NOT_READ


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _NOT_READ


_READERS = (
    ("integer", _integer),
    ("number", _integer),
    ("number", _number),
    ("boolean", _boolean),
    ("array", _array),
    ("object", _object),
)
"""In this order: `1` is a number rather than true."""
_UNION_READERS = tuple(
    ("boolean", _strict_boolean) if reader[0] == "boolean" else reader for reader in _READERS
)
"""If the schema also allows a string, `yes` is a string."""
