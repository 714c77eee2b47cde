"""The headers that repeat a request's body (MCP 2026-07-28): method, name, and parameters that a tool marks.

A tool marks a parameter with `x-mcp-header`; its value is then also sent as `Mcp-Param-<name>`. A tool with
invalid marks must not be used over HTTP. Values that are not valid in a header are Base64-encoded.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from typing import Any

from toolcrib.servers.transport import Message

PROTOCOL_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
"""The `_meta` key of a modern request."""

NAME_BEARING_METHODS: Mapping[str, str] = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
}
"""Methods whose target is sent as `Mcp-Name`, and the parameter that holds it."""

_MARK = "x-mcp-header"
_PRIMITIVES = ("string", "integer", "boolean")
_PLAIN = re.compile(r"(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?")
_WRAPPED = re.compile(r"=\?base64\?.*\?=", re.DOTALL)
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")

# Keywords with nested schemas. In others (default, examples, enum, const) the mark has no meaning.
_ONE_SCHEMA = frozenset(
    {
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
_SCHEMA_LISTS = frozenset({"allOf", "anyOf", "items", "oneOf", "prefixItems"})
_SCHEMA_MAPS = frozenset({"$defs", "definitions", "dependentSchemas", "patternProperties"})

Path = tuple[str, ...]


class InvalidMark(ValueError):
    """A tool's `x-mcp-header` is invalid."""


def modern_version(message: Message) -> str | None:
    """The protocol version in a modern request's `_meta`; None for a legacy request."""
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    version = meta.get(PROTOCOL_VERSION_KEY) if isinstance(meta, dict) else None
    return version if isinstance(version, str) else None


def standard_headers(message: Message, version: str) -> dict[str, str]:
    """The headers of every modern request."""
    method = str(message.get("method", ""))
    headers = {"MCP-Protocol-Version": version, "Mcp-Method": encode_value(method)}
    key = NAME_BEARING_METHODS.get(method)
    name = _params_of(message).get(key) if key is not None else None
    if isinstance(name, str):
        headers["Mcp-Name"] = encode_value(name)
    return headers


def encode_value(value: str) -> str:
    """A value as a header: plain if safe, else wrapped in Base64."""
    if _PLAIN.fullmatch(value) and not _WRAPPED.fullmatch(value):
        return value
    # Lone surrogates have no UTF-8; no header can match the escaped form in the body.
    return f"=?base64?{base64.b64encode(value.encode('utf-8', 'replace')).decode()}?="


def marked_parameters(schema: Any) -> dict[Path, str]:
    """The header name of each marked parameter, by its property path; raises `InvalidMark`."""
    marks: dict[Path, str] = {}
    for path, node in _schemas_in(schema):
        if _MARK not in node:
            continue
        name = _checked_mark(path, node)
        if name.lower() in (taken.lower() for taken in marks.values()):
            raise InvalidMark(f"{_MARK} {name!r} is used twice")
        marks[path or ()] = name
    return marks


def parameter_headers(marks: Mapping[Path, str], arguments: Any) -> dict[str, str]:
    """The `Mcp-Param-*` headers of a call; missing and null values have none."""
    headers: dict[str, str] = {}
    for path, name in marks.items():
        text = _as_text(_value_at(path, arguments))
        if text is not None:
            headers[f"Mcp-Param-{name}"] = encode_value(text)
    return headers


class ToolMarks:
    """The header marks of listed tools."""

    def __init__(self) -> None:
        self._marks: dict[str, dict[Path, str]] = {}

    def headers_for(self, message: Message) -> dict[str, str]:
        """The `Mcp-Param-*` headers of a call."""
        if message.get("method") != "tools/call" or not self._marks:
            return {}
        params = _params_of(message)
        marks = self._marks.get(str(params.get("name")))
        return parameter_headers(marks, params.get("arguments")) if marks else {}

    def learn(self, result: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """The `tools/list` result without tools with invalid marks, and the reasons."""
        tools = result.get("tools")
        if not isinstance(tools, list):
            return result, []
        kept, complaints = [], []
        for tool in tools:
            complaint = self._learn_tool(tool)
            if complaint is None:
                kept.append(tool)
            else:
                complaints.append(complaint)
        return ({**result, "tools": kept} if complaints else result), complaints

    def _learn_tool(self, tool: Any) -> str | None:
        if not isinstance(tool, dict) or not isinstance(tool.get("name"), str):
            return None  # checked elsewhere
        name = tool["name"]
        self._marks.pop(name, None)
        try:
            marks = marked_parameters(tool.get("inputSchema"))
        except InvalidMark as error:
            return f"Tool {name!r} is skipped: {error}."
        if marks:
            self._marks[name] = marks
        return None


def _params_of(message: Message) -> dict[str, Any]:
    params = message.get("params")
    return params if isinstance(params, dict) else {}


def _schemas_in(root: Any) -> Iterator[tuple[Path | None, dict[str, Any]]]:
    """All nested schemas with their property path, or None if not reached by properties alone.

    References are not followed; a stack instead of recursion allows any depth.
    """
    waiting: list[tuple[Path | None, Any]] = [((), root)]
    while waiting:
        path, node = waiting.pop()
        if not isinstance(node, dict):
            continue
        yield path, node
        for keyword, value in node.items():
            if keyword == "properties" and isinstance(value, dict):
                waiting += [(None if path is None else (*path, key), sub) for key, sub in value.items()]
            elif keyword in _SCHEMA_MAPS and isinstance(value, dict):
                waiting += [(None, sub) for sub in value.values()]
            elif keyword in _SCHEMA_LISTS and isinstance(value, list):
                waiting += [(None, sub) for sub in value]
            elif keyword in _ONE_SCHEMA:
                waiting.append((None, value))


def _checked_mark(path: Path | None, node: dict[str, Any]) -> str:
    if not path:
        raise InvalidMark(f"{_MARK} is not on a single parameter")
    where = ".".join(path)
    name = node[_MARK]
    if not isinstance(name, str) or not _TOKEN.fullmatch(name):
        raise InvalidMark(f"{_MARK} of parameter {where!r} is not a valid header name")
    if node.get("type") not in _PRIMITIVES:
        raise InvalidMark(f"{_MARK} of parameter {where!r} needs the type string, integer or boolean")
    return name


def _value_at(path: Path, arguments: Any) -> Any:
    value = arguments
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def _as_text(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, str | int | float):
        return None
    try:
        return str(value)
    except ValueError:  # an integer with too many digits for Python to print
        return None
