"""Converts the return value of a tool's function into a raw MCP `tools/call` result.

Text stays text, pictures and sound become their content blocks, objects become structured content with the
same JSON as text beside it, and whatever already is MCP content passes through unchanged.
"""

from __future__ import annotations

import base64
import dataclasses
import functools
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar, cast

from pydantic_core import to_json, to_jsonable_python

from toolcrib.serverkit.arguments import plain

Result = dict[str, Any]
T = TypeVar("T")

_TELLING_KEY = {
    "text": "text",
    "image": "data",
    "audio": "data",
    "resource": "resource",
    "resource_link": "uri",
}
"""The key without which a dict of that `type` is no content block."""
_RESULT_KEYS = frozenset({"content", "structuredContent", "isError", "resultType", "_meta"})


@dataclasses.dataclass(frozen=True)
class Image:
    """A picture to return from a tool."""

    data: bytes
    mime: str = "image/png"


@dataclasses.dataclass(frozen=True)
class Audio:
    """Sound to return from a tool."""

    data: bytes
    mime: str = "audio/wav"


def text_result(text: str) -> Result:
    """A result of one text block."""
    return {"content": [{"type": "text", "text": text}], "isError": False}


def with_text(text: str, value: T) -> T:
    """A result of structured content with a text for models, which is shorter than its JSON.

    It is typed as the value, so that the tool's function returns what its output schema says.
    """
    return cast("T", {**text_result(text), "structuredContent": value})


def readable(function: Callable[..., Awaitable[Any]], render: Callable[[Any], str]) -> Callable[..., Any]:
    """The same tool function, its value as structured content and `render(value)` as text.

    The signature stays, so that the output schema is that of the value.
    """

    @functools.wraps(function)
    async def rendered(**arguments: Any) -> Any:
        value = await function(**arguments)
        return with_text(render(value), value)

    return rendered


def failure_result(message: str, hint: str = "", reason: str = "") -> Result:
    """A result that tells the model what went wrong and what to do next; with a reason also as data."""
    result = {**text_result(f"{message}\n{hint}" if hint else message), "isError": True}
    if reason:
        error = {"reason": reason, "message": message, "hint": hint}
        result["structuredContent"] = {"error": error}
    return result


def to_result(value: Any) -> Result:
    """Any return value as a result."""
    if value is None:
        return {"content": [], "isError": False}
    if isinstance(value, str):
        return text_result(value)
    if isinstance(value, dict) and _is_result(value):
        return value
    block = _as_block(value)
    if block is not None:
        return {"content": [block], "isError": False}
    if isinstance(value, list | tuple) and value:
        blocks = [_as_block(item) for item in value]
        if all(block is not None for block in blocks):
            return {"content": blocks, "isError": False}
    return _structured(value)


def output_schema(hint: Any) -> dict[str, Any] | None:
    """The JSON Schema of a return type that is an object with known fields; None for all others."""
    if not (dataclasses.is_dataclass(hint) or hasattr(hint, "model_fields") or hasattr(hint, "__total__")):
        return None
    if hint in (Image, Audio):
        return None
    described = plain(hint)
    if described is not None:
        return described.schema
    from pydantic import TypeAdapter

    return TypeAdapter(hint).json_schema(mode="serialization")


def _structured(value: Any) -> Result:
    content = to_jsonable_python(
        value, by_alias=True, inf_nan_mode="null", bytes_mode="base64", serialize_unknown=True
    )
    result = text_result(to_json(content).decode())
    if isinstance(content, dict):
        result["structuredContent"] = content
    return result


def _as_block(value: Any) -> dict[str, Any] | None:
    if isinstance(value, str):
        return {"type": "text", "text": value}
    if isinstance(value, dict):
        return value if _is_block(value) else None
    if isinstance(value, Image):
        return _binary("image", value.data, value.mime)
    if isinstance(value, Audio):
        return _binary("audio", value.data, value.mime)
    if _is_bytes_with_mime(value):
        kind = value[1].partition("/")[0]
        return _binary(kind, value[0], value[1]) if kind in ("image", "audio") else None
    return None


def _is_bytes_with_mime(value: Any) -> bool:
    return (
        isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], bytes) and type(value[1]) is str
    )


def _binary(kind: str, data: bytes, mime: str) -> dict[str, Any]:
    return {"type": kind, "data": base64.b64encode(data).decode("ascii"), "mimeType": mime}


def _is_block(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    kind = value.get("type")
    return isinstance(kind, str) and kind in _TELLING_KEY and _TELLING_KEY[kind] in value


def _is_result(value: dict[str, Any]) -> bool:
    content = value.get("content")
    return isinstance(content, list) and value.keys() <= _RESULT_KEYS and all(map(_is_block, content))
