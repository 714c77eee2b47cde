"""Reads a source as a whole: its servers in our words, what is no server and why, and what is to be asked."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from toolcrib import plugins
from toolcrib.config.aliases import IN_PROCESS, type_of
from toolcrib.config.client_files import jsonc
from toolcrib.config.client_files.client import Client, find_client
from toolcrib.config.client_files.editing import is_ours, read_text
from toolcrib.config.client_files.tables import entries_in, is_plain
from toolcrib.config.entries import parse_entry
from toolcrib.config.importing.described import Format
from toolcrib.config.importing.dialect import Dialect, NotAServer
from toolcrib.config.importing.finding import PLAIN, Source, as_object, source_of
from toolcrib.config.importing.questions import Question
from toolcrib.config.importing.reading import Draft, read_entry
from toolcrib.config.importing.references import Surroundings, map_texts, to_ours
from toolcrib.errors import ConfigError, NotFound

FORMATS = "toolcrib.config.importing.formats"
MOST_SERVERS = 500
_GRANTS = ("autoApprove", "alwaysAllow", "trust", "watch")
"""`watch` is ours: it says that the person writes the server themselves, and that its tools may change."""
PLAIN_DIALECT = Dialect(defaults=True)
REACHES = ("command", "url", "httpUrl", "serverUrl", "uri", "package", "module")


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What a source holds."""

    source: Source
    title: str
    drafts: tuple[Draft, ...]
    refused: Mapping[str, str]
    """What is not taken in, and why."""
    questions: Mapping[str, Question] = field(default_factory=dict)
    digest: str = ""
    """Of the text, so that what was shown is what is taken in."""


def read_file(file: Path, host: str | None = None) -> Reading:
    """The servers of a file that a person named; raises `ConfigError` and `NotFound`."""
    text = _text(file)
    return read_words(text, file, host)


def read_words(text: str, file: Path, host: str | None = None) -> Reading:
    """The servers of a text; `file` is where it stands, or would."""
    data = as_object(text) if host is None else None
    if data is not None:
        for name in plugins.names(FORMATS):
            found = cast("Format", plugins.find(FORMATS, name))
            if found.matches(data):
                return _described(found, data, file, text)
    return _read(source_of(file.absolute(), text, host), text)


def read_source(source: Source) -> Reading:
    """The servers of a source that was found; raises `ConfigError`."""
    return _read(source, _text(source.file))


def _text(file: Path) -> str:
    text = read_text(file)
    if text is None:
        raise NotFound(f"There is no file {file}.", hint="Name another one, or a host: toolcrib import")
    return text


def _described(found: Format, data: Mapping[str, Any], file: Path, text: str) -> Reading:
    source = Source(host=PLAIN, file=file, table=())
    drafts: tuple[Draft, ...] = ()
    refused, questions = {}, {}
    try:
        server = found.read(data, file)
        parse_entry(server.name, server.entry)
        drafts = (Draft(name=server.name, entry=server.entry, notes=server.notes),)
        questions = dict(server.questions)
    except NotAServer as error:
        refused[str(data.get("name"))] = str(error)
    except ConfigError as error:
        refused[str(data.get("name"))] = error.message
    return Reading(
        source=source,
        title=found.title,
        drafts=drafts,
        refused=refused,
        questions=questions,
        digest=_digest(text),
    )


def _read(source: Source, text: str) -> Reading:
    client = None if source.host == PLAIN else find_client(source.host)
    entries = _plain_entries(text) if client is None else _entries(client, source, text)
    if len(entries) > MOST_SERVERS:
        raise ConfigError(f"{source.file} names {len(entries)} servers; that is no config file.")
    around = Surroundings(workspace=source.workspace)
    drafts, refused = [], {}
    for name, raw in entries.items():
        try:
            if is_ours(name, raw):
                raise NotAServer("it is this crib itself")
            drafts.append(
                _read_plain(name, raw, around)
                if client is None
                else read_entry(source.host, client.dialect, name, raw, around)
            )
        except NotAServer as error:
            refused[name] = str(error)
    return Reading(
        source=source,
        title=client.title if client else "a config file",
        drafts=tuple(drafts),
        refused=refused,
        questions=client.questions(text) if client else {},
        digest=_digest(text),
    )


def _entries(client: Client, source: Source, text: str) -> Mapping[str, Any]:
    """The entries of a client's file; None for one with values that are more than plain data."""
    found = entries_in(client.syntax.read(text), source.table)
    return {name: entry if is_plain(entry) else None for name, entry in found.items()}


def _plain_entries(text: str) -> Mapping[str, Any]:
    """The table of a config file; or a table alone, or one entry alone, as people paste them."""
    data = jsonc.read(text)
    for table in ("mcpServers", "servers"):
        if found := entries_in(data, (table,)):
            return found
    if any(isinstance(data.get(key), str) for key in REACHES):
        return {"": data}
    return {name: one for name, one in data.items() if isinstance(one, Mapping) and _reaches(one)}


def _reaches(raw: Mapping[str, Any]) -> bool:
    return any(key in raw for key in REACHES)


def _read_plain(name: str, raw: object, around: Surroundings) -> Draft:
    """The form of our own file: kept as it is, less what grants trust."""
    if not isinstance(raw, Mapping):
        raise NotAServer("its entry cannot be read")
    if type_of(raw) == IN_PROCESS:
        raise NotAServer(f"it would run inside Toolcrib itself: add it by hand, with --type {IN_PROCESS}")
    granted = [key for key in _GRANTS if raw.get(key)]
    kept = {key: value for key, value in raw.items() if key not in _GRANTS}
    entry = map_texts(kept, lambda text: to_ours(text, PLAIN_DIALECT, around))
    try:
        parse_entry(name or "server", entry)
    except ConfigError as error:
        raise NotAServer(error.message.partition(": ")[2].rstrip(".") or error.message) from None
    notes = (f"{', '.join(granted)} grants trust there, and is not taken over.",) if granted else ()
    return Draft(name=name, entry=entry, notes=notes)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
