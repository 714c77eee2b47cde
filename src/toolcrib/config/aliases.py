"""Other programs' spellings in an entry, mapped to ours: names of types (`streamable-http`, `remote`), keys
of the address (`httpUrl`, `serverUrl`), and the type that an entry without one has.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

URL_KEYS = ("url", "httpUrl", "serverUrl", "uri")

_SAME_TYPE = {
    "streamablehttp": "http",
    "httpstream": "http",
    "remote": "http",
    "local": "stdio",
    "inprocess": "inprocess",  # also for `in-process` and `in_process`
}
_TYPE_BY_KEY = {
    "sourcePath": "custom",
    "command": "stdio",
    "httpUrl": "http",
    "url": "http",
    "serverUrl": "http",
    "uri": "http",
    "package": "npm",
    "tarballPath": "npm",
    "module": "python",
}
"""In this order: a folder of sources also names its command, a package may also name its module."""
COMMAND_TYPE = _TYPE_BY_KEY["command"]
ADDRESS_TYPE = _TYPE_BY_KEY["url"]
"""The types that a bare command and a bare address mean."""
IN_PROCESS = "inprocess"
"""The type whose code runs inside Toolcrib; never imported from another program's file."""


def type_of(raw: Mapping[str, Any]) -> str | None:
    """The type an entry states or implies; None when it does neither."""
    stated = raw.get("type") or raw.get("transport")
    if isinstance(stated, str):
        word = stated.strip().lower()
        return _SAME_TYPE.get(word.replace("-", "").replace("_", ""), word)
    return next((kind for key, kind in _TYPE_BY_KEY.items() if raw.get(key) is not None), None)


def canonical(raw: Mapping[str, Any]) -> dict[str, Any]:
    """The entry with `type` and `url` under these names, everything else unchanged."""
    result = {key: value for key, value in raw.items() if key not in URL_KEYS}
    kind = type_of(raw)
    if kind is not None:
        result["type"] = kind
    address = _address(raw, kind)
    if address is not None:
        result["url"] = address
    return result


def _address(raw: Mapping[str, Any], kind: str | None) -> Any:
    """If both are given, Gemini means SSE by `url` and streamable HTTP by `httpUrl`."""
    order = URL_KEYS if kind == "sse" else ("httpUrl", "url", "serverUrl", "uri")
    return next((raw[key] for key in order if raw.get(key) is not None), None)
