"""Imports the `manifest.json` of an MCP bundle, unpacked: the server runs from its folder, and its
`user_config` becomes questions.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolcrib.config.drafts import DraftQuestion, ServerDraft, literal, map_texts
from toolcrib.features.clients.transfer.dialect import NotAServer, take_table

title = "bundle manifest"
_REFERENCE = re.compile(r"\$\{([^{}]+)\}")
_PLATFORMS = {"linux": "linux", "darwin": "darwin", "win32": "win32"}


def matches(data: Mapping[str, Any]) -> bool:
    """Known by its server's `mcp_config`."""
    server = data.get("server")
    return isinstance(server, Mapping) and "mcp_config" in server


def read(data: Mapping[str, Any], file: Path) -> ServerDraft:
    """The server; its `user_config` becomes questions."""
    config = data["server"]["mcp_config"]
    if not isinstance(config, Mapping):
        raise NotAServer("its mcp_config is not an object")
    overrides = take_table(dict(config), "platform_overrides")
    override = take_table(overrides, _PLATFORMS.get(sys.platform, ""))
    chosen = {key: override.get(key, config.get(key)) for key in ("command", "args", "env")}
    entry = {key: value for key, value in chosen.items() if value}
    folder = literal(str(file.parent.absolute()))
    entry = map_texts(entry, lambda text: _REFERENCE.sub(lambda match: _fill(match, folder), text))
    asked = take_table(dict(data), "user_config")
    questions = {key: _question(key, field) for key, field in asked.items()}
    return ServerDraft(name=str(data.get("name") or "bundle"), entry=entry, questions=questions)


def _fill(match: re.Match[str], folder: str) -> str:
    inside, home = match.group(1), Path.home()
    if inside.startswith("user_config."):
        return f"${{answer:{inside.removeprefix('user_config.')}}}"
    known = {"__dirname": folder, "HOME": literal(str(home)), "/": "/", "pathSeparator": "/"}
    folders = {name.upper(): literal(str(home / name)) for name in ("Desktop", "Documents", "Downloads")}
    return {**known, **folders}.get(inside, match.group())


def _question(key: str, asked: Any) -> DraftQuestion:
    about: Mapping[str, Any] = asked if isinstance(asked, Mapping) else {}
    default = about.get("default")
    words = default if isinstance(default, list) else [] if default is None else [default]
    return DraftQuestion(
        id=key,
        text=str(about.get("title") or about.get("description") or key),
        secret=bool(about.get("sensitive")),
        default=" ".join(_word(word) for word in words),
        required=bool(about.get("required")),
        multiple=bool(about.get("multiple")),
    )


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
