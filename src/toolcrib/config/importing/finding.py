"""Where servers of other hosts stand: each host's own files, those of a project, or a file that was named."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from toolcrib.config.client_files import jsonc
from toolcrib.config.client_files.client import Client, Table, client_name, client_names, find_client
from toolcrib.config.client_files.places import Places
from toolcrib.config.client_files.tables import entries_in
from toolcrib.errors import NotFound
from toolcrib.suggestions import did_you_mean

_IN_SETTINGS: tuple[Table, ...] = (("mcp", "servers"), ("mcp.servers",))
PLAIN = "plain"
"""The host of a file that is in the common form, and of no host that we know."""
_SIGNS = {
    '"httpUrl"': "gemini",
    '"serverUrl"': "windsurf",
    '"context_servers"': "zed",
    '"autoApprove"': "cline",
    '"alwaysAllow"': "cline",
    '"streamableHttp"': "cline",
    '"transport": {': "cline",
    '"transport":{': "cline",
    "${env:": "cursor",
    "[mcp_servers": "codex",
}
"""Pieces of text that only one host writes, in the order in which they are looked for."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """A table of servers in a file."""

    host: str
    file: Path
    table: Table
    workspace: Path | None = None
    """The project that the file belongs to."""


def find_sources(places: Places, folder: Path, host: str | None = None) -> list[Source]:
    """Every file of a host, or of all, that is there; those of the project in `folder` come last."""
    names = [host] if host else client_names()
    own = [source for name in names for source in _own(name, find_client(name), places, folder)]
    project = [source for name in names for source in _project(name, find_client(name), folder)]
    # A host started from the home folder finds its own file as that of a project, too.
    seen: dict[tuple[Path, Table], Source] = {}
    for source in [*own, *project]:
        if source.file.is_file():
            seen.setdefault((source.file.resolve(), source.table), source)
    return list(seen.values())


def source_of(file: Path, text: str, host: str | None = None) -> Source:
    """The source that a named file is, by its place, its name and its content."""
    name = host or _host_by_name(file) or _host_by_content(text)
    if name == PLAIN:
        return Source(host=PLAIN, file=file, table=("mcpServers",))
    client = find_client(name)
    table = _older_table(text) if name == "vscode" else None
    belongs = next((one for one in client.project if file.as_posix().endswith(f"/{one}")), None)
    workspace = file.parents[len(Path(belongs).parts) - 1] if belongs else None
    return Source(host=name, file=file, table=table or client.table, workspace=workspace)


def known_host(word: str) -> str:
    """The host that a person means; raises `NotFound`."""
    wanted = client_name(word)
    if wanted in client_names():
        return wanted
    otherwise = f"Known: {', '.join(client_names())}; or name a file."
    raise NotFound(
        f"There is no host and no file {word!r}.",
        hint=did_you_mean(wanted, client_names(), otherwise=otherwise),
    )


def _own(name: str, client: Client, places: Places, folder: Path) -> list[Source]:
    older = [client.older.file(places)] if client.older else []
    files = [client.file(places), *older, *client.elsewhere(places)]
    found = [Source(host=name, file=file, table=client.table) for file in files]
    inner = [
        Source(host=name, file=files[0], table=table, workspace=folder)
        for table in client.inner_tables(folder)
    ]
    return [*found, *inner]


def _project(name: str, client: Client, folder: Path) -> list[Source]:
    return [
        Source(host=name, file=folder / one, table=client.table, workspace=folder) for one in client.project
    ]


def _host_by_name(file: Path) -> str | None:
    whole = file.as_posix()
    for name in client_names():
        client = find_client(name)
        usual = client.file(Places(home=Path("/"), platform="linux")).name
        if any(whole.endswith(f"/{one}") for one in client.project):
            return name
        # Names such as `settings.json` and `mcp.json` are of several programs.
        if file.name == usual and usual not in ("mcp.json", "settings.json", "config.toml", "config.yaml"):
            return name
    return None


def _host_by_content(text: str) -> str:
    stripped = text.lstrip("\ufeff \t\r\n")
    if not stripped.startswith(("{", "//", "/*")):
        if "mcp_servers" in text:
            return "codex"
        return "goose" if "extensions:" in text else "librechat"
    keys = _top_keys(text)
    if "mcpServers" not in keys and ("servers" in keys or _older_table(text)):
        return "vscode"
    return next((host for sign, host in _SIGNS.items() if sign in text), PLAIN)


def _older_table(text: str) -> Table | None:
    """Where the servers stand in the `settings.json` of VS Code, which older versions keep them in."""
    if not text.lstrip("\ufeff \t\r\n").startswith(("{", "//", "/*")):
        return None
    return next((table for table in _IN_SETTINGS if entries_in(jsonc.read(text), table)), None)


def _top_keys(text: str) -> tuple[str, ...]:
    from toolcrib.config.document import parse_document

    return tuple(parse_document(text, "the text").data)


def as_object(text: str) -> Mapping[str, object] | None:
    """The JSON object that a text is, or None; only to see what kind of document it may be."""
    try:
        found = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
