"""The contents of a config file: its servers, broken entries and settings; pure, from a parsed document."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from toolcrib.config.document import Document
from toolcrib.config.entries import FILTERS, EntryError, parse_entry
from toolcrib.config.review import is_bundled
from toolcrib.config.settings import Settings, read_settings
from toolcrib.errors import ConfigError
from toolcrib.schema.servers import ServerEntry

SERVERS = "mcpServers"
_IN_ORDER = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


@dataclass(frozen=True, kw_only=True)
class Config:
    """One reading of the file."""

    servers: Mapping[str, ServerEntry]
    broken: Mapping[str, ConfigError]
    """Entries that cannot be used, and why."""
    settings: Settings
    fingerprints: Mapping[str, str]
    """A hash of each entry, broken ones too; neither the order of keys counts nor which tools are off."""
    digest: str
    """The hash of the whole file, as `changes` yields it."""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All servers, also those with a broken entry."""
        return (*self.servers, *self.broken)

    @cached_property
    def bundled(self) -> frozenset[str]:
        """The servers that came with this package."""
        return frozenset(name for name, entry in self.servers.items() if is_bundled(entry.raw))


def interpret(document: Document, digest: str) -> Config:
    """The meaning of a document; raises `ConfigError` for what concerns the whole file."""
    settings = read_settings(document)
    servers: dict[str, ServerEntry] = {}
    broken: dict[str, ConfigError] = {}
    raws = _servers(document)
    for name, raw in raws.items():
        try:
            servers[name] = parse_entry(name, raw)
        except EntryError as error:
            broken[name] = _located(document, name, error)
    return Config(
        servers=servers,
        broken=broken,
        settings=settings,
        fingerprints={name: fingerprint(raw) for name, raw in raws.items()},
        digest=digest,
    )


def check_change(before: Document, after: Document) -> None:
    """Refuse a change that breaks an entry; one that was broken before may stay so."""
    read_settings(after)
    known = before.data.get(SERVERS)
    earlier = known if isinstance(known, Mapping) else {}
    for name, raw in _servers(after).items():
        if name not in earlier or _is_good(name, earlier[name]):
            parse_entry(name, raw)


def fingerprint(raw: object) -> str:
    """A hash of an entry that does not depend on the order of its keys, nor on which of its tools are off."""
    if isinstance(raw, Mapping):
        raw = {key: value for key, value in raw.items() if key not in FILTERS}
    return hashlib.sha256(_IN_ORDER.encode(raw).encode()).hexdigest()


def _servers(document: Document) -> Mapping[str, Any]:
    raws = document.data.get(SERVERS)
    if raws is None:
        return {}
    if not isinstance(raws, Mapping):
        raise document.error((SERVERS,), f"{SERVERS} must be an object: {{ … }}")
    return raws


def _is_good(name: str, raw: object) -> bool:
    try:
        parse_entry(name, raw)
    except EntryError:
        return False
    return True


def _located(document: Document, name: str, error: EntryError) -> ConfigError:
    line, column = document.locate((SERVERS, name, *error.path))
    return ConfigError(
        f"{document.name}, line {line}, column {column}: {error.message}",
        hint=error.hint,
        line=line,
        column=column,
    )
