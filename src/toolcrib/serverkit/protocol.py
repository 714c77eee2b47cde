"""Constants and messages of MCP for a server of tools: versions, error codes, requests of both eras."""

from __future__ import annotations

from typing import Any, NamedTuple

from toolcrib.serverkit.context import LOG_LEVELS, LogLevel

Message = dict[str, Any]
REQUEST_ID = frozenset({int, str})
"""The types of an id: MCP allows strings and integers, never null."""

LEGACY_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Those that open with `initialize`, the newest first."""
MODERN_VERSIONS = ("2026-07-28",)
"""Those in which each request carries its own version and needs no opening."""
BATCHING_VERSION = "2025-03-26"

PROTOCOL_VERSION = "io.modelcontextprotocol/protocolVersion"
CLIENT_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
CLIENT_INFO = "io.modelcontextprotocol/clientInfo"
LOG_LEVEL = "io.modelcontextprotocol/logLevel"
SERVER_INFO = "io.modelcontextprotocol/serverInfo"
SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId"

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
UNSUPPORTED_PROTOCOL_VERSION = -32022


class Refusal(Exception):
    """A request that gets a JSON-RPC error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class Request(NamedTuple):
    """A request whose envelope is in order. A tuple: one is made for every call, several times as fast."""

    id: int | str
    method: str
    params: dict[str, Any]
    meta: dict[str, Any]
    modern: bool


def read_request(message: Message, *, opened: bool) -> Request:
    """Check the envelope; `opened` says that the connection has been through `initialize`."""
    method = message["method"]
    params = message.get("params")
    if type(params) is not dict:
        params = _object(params, "params")
    meta = params.get("_meta")
    if type(meta) is not dict:
        meta = _object(meta, "params._meta")
    modern = method != "initialize" and (PROTOCOL_VERSION in meta or method == "server/discover")
    if modern:
        _check_modern(meta)
    elif not opened and method not in ("initialize", "ping"):
        raise Refusal(
            INVALID_PARAMS,
            f"params._meta must carry {PROTOCOL_VERSION!r}, or the connection must open with 'initialize'.",
        )
    return Request(message["id"], method, params, meta, modern)


def log_level(value: Any) -> LogLevel:
    """The log level a client asked for."""
    for level in LOG_LEVELS:
        if level == value:
            return level
    raise Refusal(INVALID_PARAMS, f"{value!r} is not a log level; known: {', '.join(LOG_LEVELS)}.")


def refuse(request_id: int | str | None, refusal: Refusal) -> Message:
    """An error response; without an id where none could be read."""
    error: dict[str, Any] = {"code": refusal.code, "message": refusal.message}
    if refusal.data is not None:
        error["data"] = refusal.data
    known = {} if request_id is None else {"id": request_id}
    return {"jsonrpc": "2.0", **known, "error": error}


def notification(method: str, params: dict[str, Any]) -> Message:
    """A message without a response."""
    return {"jsonrpc": "2.0", "method": method, "params": params}


def is_request_id(value: Any) -> bool:
    """Whether this is a valid request id."""
    return type(value) in REQUEST_ID


def _object(value: Any, name: str) -> dict[str, Any]:
    if value is None:
        return {}
    if isinstance(value, dict):
        return value
    raise Refusal(INVALID_PARAMS, f"{name} must be an object.")


def _check_modern(meta: dict[str, Any]) -> None:
    usual = meta.get(PROTOCOL_VERSION) in MODERN_VERSIONS and type(meta.get(CLIENT_CAPABILITIES)) is dict
    if usual and LOG_LEVEL not in meta:
        return
    missing = [key for key in (PROTOCOL_VERSION, CLIENT_CAPABILITIES) if key not in meta]
    if missing:
        raise Refusal(INVALID_PARAMS, f"params._meta lacks {', '.join(missing)}.")
    version = meta[PROTOCOL_VERSION]
    if not isinstance(version, str) or not isinstance(meta[CLIENT_CAPABILITIES], dict):
        raise Refusal(
            INVALID_PARAMS, f"{PROTOCOL_VERSION} must be a string and {CLIENT_CAPABILITIES} an object."
        )
    if version not in MODERN_VERSIONS:
        data = {"supported": list(MODERN_VERSIONS), "requested": version}
        raise Refusal(UNSUPPORTED_PROTOCOL_VERSION, "Unsupported protocol version", data)
    if LOG_LEVEL in meta:
        log_level(meta[LOG_LEVEL])
