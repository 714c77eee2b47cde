"""Finds and reads the config files of other hosts: which files are looked for, how a file's host is
recognised, most servers, what is not imported and why, questions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, cast

from toolcrib import plugins
from toolcrib.config.aliases import IN_PROCESS, type_of
from toolcrib.config.drafts import (
    REACHES,
    DraftSource,
    ServerDraft,
    SourceContents,
    Table,
    as_object,
    map_texts,
)
from toolcrib.config.entries import parse_entry
from toolcrib.errors import ConfigError, NotFound
from toolcrib.features.clients.files import jsonc
from toolcrib.features.clients.files.client import (
    McpClient,
    client_name,
    client_names,
    entries_in,
    find_client,
    is_plain,
)
from toolcrib.features.clients.files.file_changes import is_ours, read_text
from toolcrib.features.clients.files.gateway import UserFolders
from toolcrib.features.clients.transfer.dialect import Dialect, ImportContext, NotAServer, to_ours
from toolcrib.features.clients.transfer.translation import checked_draft, read_entry
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
    '"amp.mcpServers"': "amp",
    "opencode.ai/config.json": "opencode",
    "charm.land/crush.json": "crush",
}
"""Pieces of text that only one host writes, in the order in which they are looked for."""
_SHARED_NAMES = ("mcp.json", "mcp-config.json", "settings.json", "config.toml", "config.yaml")
"""Names that files of several programs have: only with its folder does such a name stand for a host."""


def find_sources(places: UserFolders, folder: Path, host: str | None = None) -> list[DraftSource]:
    """Every file of a host, or of all, that is there; those of the project in `folder` come last."""
    names = [host] if host else client_names()
    own = [source for name in names for source in _own(name, find_client(name), places, folder)]
    project = [source for name in names for source in _project(name, find_client(name), folder)]
    # A host started from the home folder finds its own file as that of a project, too.
    seen: dict[tuple[Path, Table], DraftSource] = {}
    for source in [*own, *project]:
        if source.file.is_file():
            seen.setdefault((source.file.resolve(), source.table), source)
    return list(seen.values())


def source_of(file: Path, text: str, host: str | None = None) -> DraftSource:
    """The source that a named file is, by its place, its name and its content."""
    name = host or _host_by_name(file) or _host_by_content(text)
    if name == PLAIN:
        return DraftSource(host=PLAIN, file=file, table=("mcpServers",))
    client = find_client(name)
    table = _older_table(text) if name == "vscode" else None
    belongs = next((path for path in client.project if file.as_posix().endswith(f"/{path}")), None)
    workspace = file.parents[len(Path(belongs).parts) - 1] if belongs else None
    return DraftSource(host=name, file=file, table=table or client.table, workspace=workspace)


def known_host(word: str) -> str:
    """The host of this name; raises `NotFound`."""
    wanted = client_name(word)
    if wanted in client_names():
        return wanted
    otherwise = f"Known: {', '.join(client_names())}; or name a file."
    raise NotFound(
        f"There is no client and no file {word!r}.",
        hint=did_you_mean(wanted, client_names(), otherwise=otherwise),
    )


def _own(name: str, client: McpClient, places: UserFolders, folder: Path) -> list[DraftSource]:
    older = [client.older.file(places)] if client.older else []
    files = [client.file(places), *older, *client.other_files(places)]
    found = [DraftSource(host=name, file=file, table=client.table) for file in files]
    inner = [
        DraftSource(host=name, file=files[0], table=table, workspace=folder)
        for table in client.inner_tables(folder)
    ]
    return [*found, *inner]


def _project(name: str, client: McpClient, folder: Path) -> list[DraftSource]:
    return [
        DraftSource(host=name, file=folder / path, table=client.table, workspace=folder)
        for path in client.project
    ]


def _host_by_name(file: Path) -> str | None:
    whole = file.as_posix()
    for name in client_names():
        client = find_client(name)
        usual = client.file(UserFolders(home=Path("/"), platform="linux"))
        own = usual.name if usual.name not in _SHARED_NAMES else "/".join(usual.parts[-2:])
        if any(whole.endswith(f"/{path}") for path in (*client.project, own)):
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
    """The table of servers in the `settings.json` of older versions of VS Code."""
    if not text.lstrip("\ufeff \t\r\n").startswith(("{", "//", "/*")):
        return None
    return next((table for table in _IN_SETTINGS if entries_in(jsonc.read(text), table)), None)


def _top_keys(text: str) -> tuple[str, ...]:
    from toolcrib.config.document import parse_document

    return tuple(parse_document(text, "the text").data)


class Format(Protocol):
    """A module of `transfer/formats`."""

    title: str

    def matches(self, data: Mapping[str, Any]) -> bool:
        """Whether a document is of this kind."""

    def read(self, data: Mapping[str, Any], file: Path) -> ServerDraft:
        """The server; raises `NotAServer`."""


FORMATS = "toolcrib.features.clients.transfer.formats"
MOST_SERVERS = 500
_GRANTS = ("autoApprove", "alwaysAllow", "trust", "watch")
"""`watch` is ours: it means that the user develops the server, and that its tools may change."""
PLAIN_DIALECT = Dialect(defaults=True)


def read_file(file: Path, host: str | None = None) -> SourceContents:
    """The servers of a file; raises `ConfigError` and `NotFound`."""
    text = _text(file)
    return read_words(text, file, host)


def read_words(text: str, file: Path, host: str | None = None) -> SourceContents:
    """The servers of a text from `file`, which need not exist."""
    data = as_object(text) if host is None else None
    if data is not None:
        for name in plugins.names(FORMATS):
            found = cast("Format", plugins.find(FORMATS, name))
            if found.matches(data):
                return _described(found, data, file, text)
    return _read(source_of(file.absolute(), text, host), text)


def read_source(source: DraftSource) -> SourceContents:
    """The servers of a source that was found; raises `ConfigError`."""
    return _read(source, _text(source.file))


def _text(file: Path) -> str:
    text = read_text(file)
    if text is None:
        raise NotFound(f"There is no file {file}.", hint="Name another one, or a host: toolcrib import")
    return text


def _described(found: Format, data: Mapping[str, Any], file: Path, text: str) -> SourceContents:
    source = DraftSource(host=PLAIN, file=file, table=())
    drafts: tuple[ServerDraft, ...] = ()
    refused, questions = {}, {}
    try:
        server = found.read(data, file)
        parse_entry(server.name, server.entry)
        drafts, questions = (server,), dict(server.questions)
    except NotAServer as error:
        refused[str(data.get("name"))] = str(error)
    except ConfigError as error:
        refused[str(data.get("name"))] = error.message
    return SourceContents(
        source=source,
        title=found.title,
        drafts=drafts,
        refused=refused,
        questions=questions,
        digest=_digest(text),
    )


def _read(source: DraftSource, text: str) -> SourceContents:
    client = None if source.host == PLAIN else find_client(source.host)
    entries = _plain_entries(text) if client is None else _entries(client, source, text)
    if len(entries) > MOST_SERVERS:
        raise ConfigError(f"{source.file} names {len(entries)} servers; that is not a config file.")
    around = ImportContext(workspace=source.workspace)
    drafts, refused = [], {}
    for name, raw in entries.items():
        try:
            if is_ours(name, raw):
                raise NotAServer("it is Toolcrib itself")
            drafts.append(
                _read_plain(name, raw, around)
                if client is None
                else read_entry(source.host, client.dialect, name, raw, around)
            )
        except NotAServer as error:
            refused[name] = str(error)
    return SourceContents(
        source=source,
        title=client.title if client else "a config file",
        drafts=tuple(drafts),
        refused=refused,
        questions=client.questions(text) if client else {},
        digest=_digest(text),
    )


def _entries(client: McpClient, source: DraftSource, text: str) -> Mapping[str, Any]:
    """The entries of a client's file; None for one with values that are more than plain data."""
    found = client.servers(entries_in(client.syntax.read(text), source.table))
    return {name: entry if is_plain(entry) else None for name, entry in found.items()}


def _plain_entries(text: str) -> Mapping[str, Any]:
    """The table of a config file, a table alone, or one entry alone."""
    data = jsonc.read(text)
    for table in ("mcpServers", "servers"):
        if found := entries_in(data, (table,)):
            return found
    if any(isinstance(data.get(key), str) for key in REACHES):
        return {"": data}
    entries = {name: entry for name, entry in data.items() if isinstance(entry, Mapping)}
    return {name: entry for name, entry in entries.items() if any(key in entry for key in REACHES)}


def _read_plain(name: str, raw: object, around: ImportContext) -> ServerDraft:
    """The form of our own file: kept as it is, less what grants trust."""
    if not isinstance(raw, Mapping):
        raise NotAServer("its entry cannot be read")
    if type_of(raw) == IN_PROCESS:
        raise NotAServer(f"it would run inside Toolcrib itself: add it by hand, with --type {IN_PROCESS}")
    granted = [key for key in _GRANTS if raw.get(key)]
    kept = {key: value for key, value in raw.items() if key not in _GRANTS}
    entry = map_texts(kept, lambda text: to_ours(text, PLAIN_DIALECT, around))
    return checked_draft(name, entry, granted)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
