"""One entry of the config file as text: read with its place, parsed with line and column, told apart."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from toolcrib.config.document import parse_document
from toolcrib.config.store import unknown_server
from toolcrib.control.shapes import moment
from toolcrib.errors import ConfigError, Conflict
from toolcrib.host import Host

KNOWN = frozenset(
    {
        *(
            "type",
            "transport",
            "command",
            "args",
            "env",
            "cwd",
            "url",
            "httpUrl",
            "serverUrl",
            "uri",
            "headers",
        ),
        *("package", "version", "module", "sourcePath", "tarballPath", "enabled", "disabled", "timeout"),
        *(
            "timeouts",
            "tools",
            "includeTools",
            "excludeTools",
            "disabledTools",
            "toolTimeouts",
            "envAllow",
            "isolation",
            "era",
        ),
        *("lazy", "watch", "restart", "memory", "oauth", "program"),
    }
)
"""The keys of an entry that mean something here."""


@dataclass(frozen=True)
class Found:
    """An entry as it stands."""

    raw: Any
    text: str
    line: int


def read_entry(host: Host, name: str) -> Found:
    """The entry in the file now; raises `UnknownServer`, and `ConfigError` for a file that cannot be read."""
    document = parse_document(host.config_store.path.read_bytes(), host.config_store.path.name)
    servers = document.data.get("mcpServers") or {}
    if not isinstance(servers, dict) or name not in servers:
        raise unknown_server(name, servers if isinstance(servers, dict) else ())
    line, _ = document.locate(("mcpServers", name))
    return Found(servers[name], json.dumps(servers[name], indent=2, ensure_ascii=False), line)


def parse_text(text: str, name: str) -> dict[str, Any]:
    """The object; raises `ConfigError` with line and column inside the text."""
    return dict(parse_document(text, name).data)


def entry_digest(raw: Any) -> str:
    """The same for the same entry, whoever wrote it."""
    return hashlib.sha256(json.dumps(raw, sort_keys=False, ensure_ascii=False).encode()).hexdigest()[:32]


def unknown_keys(raw: Any) -> list[str]:
    """The keys that we do not know, and keep."""
    return [key for key in raw if key not in KNOWN] if isinstance(raw, Mapping) else []


def changed_meanwhile(host: Host, name: str) -> ConfigError:
    """The error for an edit that would overwrite somebody else's."""
    changed = datetime.fromtimestamp(host.config_store.path.stat().st_mtime, UTC)
    return Conflict(
        "The file was changed by someone else.",
        hint=f"Look at {name} as it stands now, then save again.",
        data={"changed": moment(changed)},
    )
