"""opencode: a command is one list, and variables are `{env:NAME}`; version 2 reads version 1's form too."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from toolcrib.features.clients.files import jsonc
from toolcrib.features.clients.files.client import Entry, McpClient
from toolcrib.features.clients.transfer.dialect import MILLISECONDS, Dialect, Timer

_VARIABLE = re.compile(r"(?<!\$)\{env:(\w+)\}")


def _servers(found: Mapping[str, Any]) -> Mapping[str, Any]:
    """Version 2 has its servers a level deeper, beside its timeouts."""
    deeper = found.get("servers")
    if not isinstance(deeper, Mapping) or isinstance(deeper.get("type"), str):
        return found
    beside = {name: entry for name, entry in found.items() if name not in ("servers", "timeout")}
    return {**deeper, **beside}


def _read(entry: Entry) -> Entry:
    for key in {"command", "url", "environment", "headers"} & entry.keys():
        entry[key] = _with_our_references(entry[key])
    if isinstance(entry.get("command"), list):
        entry["command"], *entry["args"] = entry["command"] or [""]
    if "disabled" in entry:
        entry["enabled"] = not entry.pop("disabled")
    return entry


def _with_our_references(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _with_our_references(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_with_our_references(inner) for inner in value]
    return _VARIABLE.sub(r"${\1}", value) if isinstance(value, str) else value


def _write(name: str, entry: Entry) -> Entry:
    if "command" in entry:
        entry["command"] = [entry["command"], *entry.pop("args", ())]
    # Version 1 does not start with a key that it does not know.
    unknown = {"cwd"} if "command" in entry else {"environment"}
    entry["ours"].update({key: entry.pop(key) for key in unknown & entry.keys()})
    return entry


client = McpClient(
    title="opencode",
    syntax=jsonc,
    table=("mcp",),
    file=lambda folders: folders.config / "opencode" / "opencode.json",
    expands=True,
    servers=_servers,
    afterwards="It takes effect when opencode is started again.",
    dialect=Dialect(
        env="environment",
        types={"stdio": "local", "http": "remote"},
        variable="{env:NAME}",
        off="enabled",
        call=(Timer(key="timeout", unit=MILLISECONDS),),
        read=_read,
        write=_write,
    ),
    project=(".opencode/opencode.json", ".opencode/opencode.jsonc", "opencode.json", "opencode.jsonc"),
    other_files=lambda folders: (folders.config / "opencode" / "opencode.jsonc",),
)
