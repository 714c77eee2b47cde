"""Checks that the headers of a modern request agree with its body, so that proxies can rely on them."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any

from toolcrib.schema.tools import Tool
from toolcrib.serverkit.protocol import Message, Refusal
from toolcrib.servers.remote.headers import (
    InvalidMark,
    Path,
    marked_parameters,
    parameter_headers,
    standard_headers,
)

HEADER_MISMATCH = -32020
PARAMETER = "mcp-param-"
_WRAPPING = ("=?base64?", "?=")
_MAX_KNOWN = 10_000
_known_marks: dict[str, Mapping[Path, str]] = {}
"""The mirrored parameters of each definition, by its hash: too slow to compute for every call."""
_PLAIN = re.compile(r"[\x20-\x7e\t]*")


def check_headers(message: Message, version: str, headers: Mapping[str, str]) -> None:
    """Raise a refusal if a header is missing or contradicts the body."""
    if _are_usual(message, version, headers):
        return
    for name, expected in standard_headers(message, version).items():
        given = headers.get(name.lower())
        if given is None:
            raise Refusal(HEADER_MISMATCH, f"The header {name} is missing.")
        if _unwrapped(given.strip()) != _unwrapped(expected):
            raise _mismatch(name)


def _are_usual(message: Message, version: str, headers: Mapping[str, str]) -> bool:
    """True if the headers of a call equal its body, without encoding or whitespace; others need a full
    check."""
    if message.get("method") != "tools/call" or headers.get("mcp-method") != "tools/call":
        return False
    params = message.get("params")
    name = params.get("name") if type(params) is dict else None
    if type(name) is not str or name.startswith(_WRAPPING[0]):
        return False
    return headers.get("mcp-name") == name and headers.get("mcp-protocol-version") == version


def check_parameters(tool: Tool, arguments: Any, headers: Mapping[str, str]) -> bool:
    """Raise a refusal if a header that mirrors an argument is missing or contradicts it; returns whether the
    tool has mirrored parameters."""
    marks = _marks_of(tool)
    if not marks:
        return False
    expected = {name.lower(): value for name, value in parameter_headers(marks, arguments).items()}
    for mark in marks.values():
        name = f"{PARAMETER}{mark.lower()}"
        given = headers.get(name)
        if (given is None) != (name not in expected):
            raise _mismatch(name)
        if given is not None and not _is_same(given.strip(), expected[name]):
            raise _mismatch(name)
    return True


def _marks_of(tool: Tool) -> Mapping[Path, str]:
    marks = _known_marks.get(tool.hash)
    if marks is None:
        if len(_known_marks) >= _MAX_KNOWN:
            _known_marks.clear()
        try:
            marks = marked_parameters(tool.definition.input_schema)
        except InvalidMark:
            marks = {}  # then nothing is mirrored
        _known_marks[tool.hash] = marks
    return marks


def _is_same(given: str, expected: str) -> bool:
    if not _PLAIN.fullmatch(given):
        return False
    one, other = _unwrapped(given), _unwrapped(expected)
    return one is not None and (one == other or _is_same_number(one, other))


def _is_same_number(one: str, other: str | None) -> bool:
    try:
        return other is not None and other.lstrip("-").isdigit() and float(one) == int(other)
    except (ValueError, OverflowError):
        return False


def _mismatch(name: str) -> Refusal:
    return Refusal(HEADER_MISMATCH, f"The header {name} contradicts the body of the request.")


def _unwrapped(value: str) -> str | None:
    """The text of a header value, which may be base64-encoded; None if it is invalid."""
    opening, closing = _WRAPPING
    if not (value.startswith(opening) and value.endswith(closing)):
        return value
    try:
        return base64.b64decode(value[len(opening) : -len(closing)], validate=True).decode()
    except (binascii.Error, ValueError):
        return None
