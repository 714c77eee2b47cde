"""Entries of the config file: add, show, edit, remove, restore. The undo of a removal, edit conflicts, names
that are taken, keys that are known, and the remark if nothing responds at an address."""

from __future__ import annotations

import asyncio
import hashlib
import importlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from toolcrib.config.aliases import ADDRESS_TYPE, COMMAND_TYPE, URL_KEYS, canonical, type_of
from toolcrib.config.document import parse_document
from toolcrib.config.entries import OPTION_KEYS, EntryError, parse_entry
from toolcrib.config.review import is_bundled, review_entry
from toolcrib.config.secret_detection import looks_secret
from toolcrib.config.secret_extraction import LooksSecret
from toolcrib.config.sections import camel_case, fields_of
from toolcrib.config.store import unknown_server
from toolcrib.errors import ConfigError, Conflict, NotFound, UsageError
from toolcrib.host import Host
from toolcrib.host.installs import RemovedServer
from toolcrib.operations.installs import found_in_server, installations_of
from toolcrib.operations.lookup import check_server
from toolcrib.operations.operation import RUNNING, Invocation, operation
from toolcrib.operations.params_model import OperationParams
from toolcrib.operations.proposals import extract_secrets, find_kind
from toolcrib.operations.results.additions import EntryText, EntryWritten, ServerRemoval, ServerRestored
from toolcrib.operations.results.installs import ServerAdded
from toolcrib.operations.server_notes import forget_note
from toolcrib.operations.servers import status_within
from toolcrib.operations.settings import secrets_of, used_by
from toolcrib.schema.json_values import moment
from toolcrib.schema.servers import ServerEntry
from toolcrib.servers.connector import find_transport, parse_spec
from toolcrib.servers.transport import find_transport as transport_of

REFERENCE = "${"
KEPT_FOLDERS = "kept_folders"
"""A function of a bundled module: takes its arguments and the home, returns folders that stay."""
NO_RESPONSE = (
    "Nothing responds at this address now. Once it does, streamable HTTP is tried first, then the older SSE."
)


class AddParams(OperationParams):
    """The new entry, and the values of the secrets it refers to."""

    name: str
    entry: dict[str, Any]
    secrets: dict[str, str] = Field(default_factory=dict, repr=False)
    replace: bool = False
    probe: bool = False
    """Find the type of an entry with an address by connecting to it."""
    wait: float = Field(default=0.0, ge=0, le=3600)


@operation(page=True)
async def add(host: Host, invocation: Invocation[Any], params: AddParams) -> ServerAdded:
    """Add a server to the config file, store its secrets, and start it.

    `server` in the result is null if no host is running.
    """
    find_transport(parse_entry(params.name, params.entry))
    # Before the secrets are stored: a refused server must not leave any.
    replace = params.replace or _is_bundled_already(host, params)
    if params.name in host.config.names and not replace:
        raise UsageError(
            f"There is already a server called {params.name!r}.",
            hint="Choose another name, or replace it with --replace.",
        )
    for name, value in params.secrets.items():
        await asyncio.to_thread(host.core.secrets.set, name, value)
    raw, warnings = await _typed(host, params)
    entry = await asyncio.to_thread(host.core.config_store.add_server, params.name, raw, replace=replace)
    if not invocation.from_page:  # a command has shown the user what it runs
        host.core.trust.accept(entry)
    await host.reload()
    server = await status_within(host, params.name, params.wait)
    return {
        "name": params.name,
        "type": entry.type,
        "enabled": entry.enabled,
        "entry": raw,
        "remarks": [*review_entry(raw), *warnings],
        "findings": found_in_server(host, params.name),
        "secrets": sorted(params.secrets),
        "server": server,
    }


def _is_bundled_already(host: Host, params: AddParams) -> bool:
    """Whether the entry is there already, perhaps turned off, so that nothing of it would be lost."""
    known = host.config.servers.get(params.name)
    if known is None or not is_bundled(params.entry):
        return False
    kept = {key: value for key, value in known.raw.items() if key not in ("enabled", "disabled")}
    return all(params.entry.get(key) == value for key, value in kept.items())


async def _typed(host: Host, params: AddParams) -> tuple[dict[str, Any], list[str]]:
    """The entry with its type, and a warning if the type could not be found."""
    if not params.probe:
        return params.entry, []
    kind = await find_kind(host, params.name, params.entry)
    return {**params.entry, "type": kind or ADDRESS_TYPE}, [] if kind else [NO_RESPONSE]


@operation(page=True)
async def entry(host: Host, name: str) -> EntryText:
    """Show a server's entry in the config file as text, with all its keys.

    `entry_edit` takes the digest.
    """
    found = await asyncio.to_thread(read_entry, host, name)
    return {
        "name": name,
        "text": found.text,
        "digest": entry_digest(found.raw),
        "unknown": unknown_keys(found.raw),
        "keys": keys_of_type(found.raw),
        "line": found.line,
        "file": str(host.core.config_store.path),
    }


class EntryEditParams(OperationParams):
    """The server, its new entry as JSON, and the digest of the entry that the user edited."""

    name: str
    text: str = Field(max_length=1024 * 1024)
    digest: str = ""
    """If empty, the entry is overwritten without a check."""
    secrets: list[str] | None = None
    """Variables and headers to store as secrets, besides what looks like one; None to write all as it is."""


@operation(page=True)
async def entry_edit(host: Host, params: EntryEditParams) -> EntryWritten:
    """Replace a server's entry.

    A change of what it runs needs trust again. Raises `Conflict` if the entry changed meanwhile.
    """
    raw = parse_text(params.text, params.name)
    entry = parse_entry(params.name, raw)
    _check_keys(entry)
    secrets: dict[str, str] = {}
    if params.secrets is not None:
        raw, secrets = await asyncio.to_thread(
            extract_secrets, host, params.name, raw, _is_secret_or_in(params.secrets)
        )
        entry = parse_entry(params.name, raw)
    await asyncio.to_thread(_write, host, params, raw, secrets)
    await host.reload()
    return {
        "name": params.name,
        "digest": entry_digest(raw),
        "unknown": unknown_keys(raw),
        "needs_trust": not host.core.trust.holds(entry),
        "secrets": sorted(secrets),
        "remarks": list(review_entry(raw)),
    }


def _is_secret_or_in(chosen: Collection[str]) -> LooksSecret:
    return lambda key, value: key in chosen or looks_secret(key, value)


def _check_keys(entry: ServerEntry) -> None:
    """Check the keys of its type; values that refer to a variable or a secret are not known yet."""
    raw = canonical(entry.raw)
    try:
        parse_spec(find_transport(entry), entry.name, raw)
    except EntryError as error:
        if REFERENCE not in json.dumps(raw.get(str(error.path[0]))):
            raise


def _write(host: Host, params: EntryEditParams, raw: dict[str, object], secrets: Mapping[str, str]) -> None:
    with host.core.config_store.edit() as document:
        servers = document.get("mcpServers") or {}
        if params.digest and entry_digest(servers.get(params.name)) != params.digest:
            raise changed_meanwhile(host, params.name)
        for name, value in secrets.items():
            host.core.secrets.set(name, value)
        servers[params.name] = raw
        document["mcpServers"] = servers


@operation(page=True)
async def remove(
    host: Host, name: str, *, undo: Annotated[float, Field(ge=0, le=600)] = 0.0
) -> ServerRemoval:
    """Remove a server from the config file and stop it.

    With `undo` seconds, its installation and its own secrets are deleted too, after that time; until then
    `restore` brings it back.
    """
    check_server(host, name)
    kept = await asyncio.to_thread(_kept_folders, host, name)
    removed = await asyncio.to_thread(_take_out, host, name)
    await host.reload()
    host.installs.setups.forget(name)
    stored = await asyncio.to_thread(host.core.secrets.names)
    unused = _unused(host, removed.raw, stored)
    backup = host.core.config_store.path.with_name(f"{host.core.config_store.path.name}.bak")
    answer: ServerRemoval = {
        "name": name,
        "removed": True,
        "backup": str(backup),
        "unused_secrets": unused,
        "kept_folders": kept,
    }
    if undo:
        host.installs.removals.keep(removed, undo, partial(_clear, host, removed))
        answer["undo"] = undo
    return answer


def _kept_folders(host: Host, name: str) -> list[str]:
    """The folders of a bundled server with files that programs saved; they are not removed with it."""
    if name not in host.config.bundled:
        return []
    raw = host.config.servers[name].raw
    module = importlib.import_module(str(raw["module"]).partition(":")[0])
    find: Callable[[Sequence[str], Path | None], Sequence[Path]] | None
    find = getattr(module, KEPT_FOLDERS, None)
    words = [str(word) for word in raw.get("args") or ()]
    with suppress(UsageError):  # a server with wrong arguments can be removed too
        return [str(folder) for folder in find(words, host.core.paths.home)] if find else []
    return []


def _take_out(host: Host, name: str) -> RemovedServer:
    with host.core.config_store.edit() as document:
        servers = document["mcpServers"]
        names = list(servers)
        place = names.index(name)
        after = names[place - 1] if place else None
        return RemovedServer(name=name, raw=servers.pop(name), after=after)


def _unused(host: Host, raw: Any, stored: Iterable[str]) -> list[str]:
    used = {name for other in host.config.servers.values() for name in used_by(other.raw)}
    return [name for name in secrets_of(raw) if name in stored and name not in used]


async def _clear(host: Host, removed: RemovedServer) -> None:
    """Delete what no other server uses, unless a server of this name was added again."""
    if removed.name in host.config.names:
        return
    stored = await asyncio.to_thread(host.core.secrets.names)
    for name in _unused(host, removed.raw, stored):
        await asyncio.to_thread(host.core.secrets.delete, name)
    await asyncio.to_thread(host.core.credentials.forget, removed.name)
    await asyncio.to_thread(installations_of(host).uninstall, removed.name)
    await asyncio.to_thread(forget_note, host, removed.name)


@operation(page=True, needs=RUNNING)
async def restore(host: Host, name: str) -> ServerRestored:
    """Restore a server that was just removed, in its place.

    Raises `NotFound` once the time to undo is over.
    """
    if name in host.config.names:
        raise UsageError(f"There is already a server called {name!r}.", hint="Rename that one first.")
    removed = host.installs.removals.take_back(name)
    await asyncio.to_thread(_put_back, host, removed)
    await host.reload()
    entry = host.config.servers.get(name)
    return {"name": name, "trusted": entry is not None and host.core.trust.holds(entry)}


def _put_back(host: Host, removed: RemovedServer) -> None:
    with host.core.config_store.edit() as document:
        servers: dict[str, Any] = document.setdefault("mcpServers", {})
        others = dict(servers)
        servers.clear()
        if removed.after not in others:
            servers[removed.name] = removed.raw
        for name, entry in others.items():
            servers[name] = entry
            if name == removed.after:
                servers[removed.name] = removed.raw


KNOWN_KEYS = OPTION_KEYS | {
    *("type", "transport", *URL_KEYS, "headers", "verify", "allowHttp", "sseFallback", "oauth"),
    *("command", "args", "env", "cwd", "program"),
    *("package", "version", "module", "sourcePath", "tarballPath"),
}
"""The keys of an entry that Toolcrib uses."""


@dataclass(frozen=True)
class EntrySource:
    """An entry in the config file."""

    raw: Any
    text: str
    line: int


def read_entry(host: Host, name: str) -> EntrySource:
    """Read an entry from the file; raises `UnknownServer`, or `ConfigError` if the file is invalid."""
    document = parse_document(host.core.config_store.path.read_bytes(), host.core.config_store.path.name)
    servers = document.data.get("mcpServers") or {}
    if not isinstance(servers, dict) or name not in servers:
        raise unknown_server(name, servers if isinstance(servers, dict) else ())
    line, _ = document.locate(("mcpServers", name))
    return EntrySource(servers[name], json.dumps(servers[name], indent=2, ensure_ascii=False), line)


def parse_text(text: str, name: str) -> dict[str, Any]:
    """Parse an entry; raises `ConfigError` with line and column in the text."""
    return dict(parse_document(text, name).data)


def entry_digest(raw: Any) -> str:
    """The same for equal entries, however they are formatted."""
    return hashlib.sha256(json.dumps(raw, sort_keys=False, ensure_ascii=False).encode()).hexdigest()[:32]


def keys_of_type(raw: Any) -> list[str]:
    """The keys of the entry's type; none if it is unknown."""
    kind = type_of(raw) if isinstance(raw, Mapping) else None
    try:
        return [camel_case(name) for name in fields_of(transport_of(kind or COMMAND_TYPE).Spec)]
    except NotFound:
        return []


def unknown_keys(raw: Any) -> list[str]:
    """Keys of an entry that Toolcrib does not use; they are kept."""
    return [key for key in raw if key not in KNOWN_KEYS] if isinstance(raw, Mapping) else []


def changed_meanwhile(host: Host, name: str) -> ConfigError:
    """The error for an edit that would overwrite another one."""
    changed = datetime.fromtimestamp(host.core.config_store.path.stat().st_mtime, UTC)
    return Conflict(
        "The file has changed since you opened it.",
        hint=f"Check {name} as it is now, then save again.",
        data={"changed": moment(changed)},
    )
