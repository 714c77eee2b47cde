"""Reads and changes the config file of a client: planned first, so that the user can be asked, then written.
Decides the largest file, the copy that is kept, and which entries count as Toolcrib's.

A plan is read again and must differ from the file in the one entry alone, else nothing is changed. A file
that changed since the plan was made is not written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from toolcrib.config.own_program import NAME
from toolcrib.config.paths import make_private
from toolcrib.config.safe_files import write_atomic
from toolcrib.errors import ConfigError, ToolcribError
from toolcrib.features.clients.files.client import (
    Entry,
    McpClient,
    client_names,
    entries_in,
    find_client,
    without_entry,
)
from toolcrib.features.clients.files.gateway import find_user_folders
from toolcrib.serverkit.bounded_read import read_bounded

MAX_BYTES = 32 * 1024 * 1024
"""The file of Claude Code holds a history too, and grows to some megabytes."""


@dataclass(frozen=True, kw_only=True)
class FileChange:
    """A file before and after a planned change."""

    file: Path
    """The file itself, behind any links."""
    before: bytes | None = field(repr=False)
    after: bytes | None = field(repr=False)
    replaces: bool = False
    """An entry of this name is there and differs."""

    @property
    def needed(self) -> bool:
        """False when the file is already as wanted."""
        return self.before != self.after

    @property
    def backup(self) -> Path:
        """Where the file as it was is kept."""
        return backup_of(self.file)


def read_entries(client: McpClient, file: Path) -> Mapping[str, Any]:
    """The servers that a client's file names; raises `ConfigError`."""
    return _entries(client, _decoded(_content(file) or b"", file)[0])


def read_text(file: Path) -> str | None:
    """The text of a config file; None when there is no such file. Raises `ConfigError`."""
    content = _content(file)
    return None if content is None else _decoded(content, file)[0]


def is_ours(name: str, entry: Any) -> bool:
    """Whether an entry points at a Toolcrib gateway: by its name, or because it starts one."""
    if name == NAME:
        return True
    command = entry.get("command", entry.get("cmd")) if isinstance(entry, Mapping) else None
    words = [command, *(entry.get("args") or ())] if isinstance(command, str) else command
    return isinstance(words, list) and "serve" in words[1:] and Path(str(words[0])).name == NAME


def plan_connection(client: McpClient, file: Path, name: str, entry: Entry) -> FileChange:
    """The file with the entry; keys that the user added to an existing one are kept."""
    return plan_entries(client, file, {name: entry}, client.own_keys())


def plan_entries(
    client: McpClient, file: Path, wanted: Mapping[str, Entry], own: frozenset[str]
) -> FileChange:
    """The file with all these entries; keys besides `own` that the user added are kept."""
    target, before, text, shape = _opened(file)
    known = _entries(client, text)
    merged = {name: _merged(known.get(name), entry, own) for name, entry in wanted.items()}
    differing = {name: entry for name, entry in merged.items() if known.get(name) != entry}
    if not differing:
        return FileChange(file=target, before=before, after=before)
    edited = client.syntax.set_entries(text, client.table, differing)
    _check(client, text, edited, differing)
    replaces = any(known.get(name) is not None for name in differing)
    return FileChange(file=target, before=before, after=shape.encoded(edited), replaces=replaces)


def plan_removal(client: McpClient, file: Path, name: str) -> FileChange:
    """The file without the entry, as it was before where that is still known."""
    target, before, text, shape = _opened(file)
    known = _entries(client, text)
    if before is None or name not in known:
        return FileChange(file=target, before=before, after=before)
    undone = _undone(client, target, before, name, known[name])
    if undone is None:
        edited = client.syntax.remove_entry(text, client.table, name)
        _check(client, text, edited, {name: None})
        undone = shape.encoded(edited)
    return FileChange(file=target, before=before, after=undone)


def write_change(change: FileChange) -> None:
    """Write it, keeping the mode and the file as it was; raises `ConfigError`."""
    if not change.needed or change.after is None:
        return
    if _content(change.file) != change.before:
        raise ConfigError(f"{change.file} has changed in the meantime.", hint="Run the command again.")
    make_private(change.file.parent)
    try:
        if change.before is None:
            write_atomic(change.file, change.after)
            return
        mode = change.file.stat().st_mode & 0o7777
        for path, content in ((change.backup, change.before), (change.file, change.after)):
            write_atomic(path, content)
            path.chmod(mode)
    except OSError as error:
        raise ConfigError(f"{change.file} cannot be written: {error.strerror}.") from error


def backup_of(file: Path) -> Path:
    """The copy beside a file."""
    return file.with_name(f"{file.name}.bak")


def _entries(client: McpClient, text: str) -> dict[str, Any]:
    return entries_in(client.syntax.read(text), client.table)


def _merged(old: Any, entry: Entry, own: frozenset[str]) -> Entry:
    if not isinstance(old, Mapping):
        return entry
    kept = {key: entry.get(key, value) for key, value in old.items() if key in entry or key not in own}
    return {**kept, **entry}


def _undone(client: McpClient, file: Path, now: bytes, name: str, entry: Any) -> bytes | None:
    """The copy, when the file is that copy and our entry, to the byte; nothing was done to it since."""
    try:
        before = _content(backup_of(file))
        if before is None:
            return None
        text, shape = _decoded(before, file)
        if name in _entries(client, text):
            return None
        again = shape.encoded(client.syntax.set_entries(text, client.table, {name: entry}))
    except ConfigError:
        return None
    return before if again == now else None


def _check(client: McpClient, before: str, after: str, wanted: Mapping[str, Entry | None]) -> None:
    """Read again what would be written: the entries are as wanted, and nothing else has changed."""
    unsafe = ConfigError("The file uses syntax that cannot be changed safely.")
    was = _rest(client, before, wanted)
    try:
        found, now = _entries(client, after), _rest(client, after, wanted)
    except ConfigError:
        # Its message would be about a text that the user has never seen.
        raise unsafe from None
    if now != was or any(found.get(name) != entry for name, entry in wanted.items()):
        raise unsafe


def _rest(client: McpClient, text: str, names: Iterable[str]) -> Any:
    """Everything but these entries; a table without entries counts as none."""
    data: Any = client.syntax.read(text)
    for name in names:
        data = without_entry(data, (*client.table, name))
    return data


@dataclass(frozen=True)
class _Shape:
    """How a text is kept as bytes."""

    mark: bool
    """It begins with a byte order mark."""
    returns: bool
    """Every line ends in CR LF."""

    def encoded(self, text: str) -> bytes:
        lines = text.replace("\n", "\r\n") if self.returns else text
        return f"{chr(0xFEFF) if self.mark else ''}{lines}".encode()


def _opened(file: Path) -> tuple[Path, bytes | None, str, _Shape]:
    target = file.resolve()
    content = _content(target)
    return target, content, *_decoded(content or b"", target)


def _decoded(content: bytes, file: Path) -> tuple[str, _Shape]:
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise ConfigError(f"{file} is not UTF-8.") from None
    mark = text.startswith("\ufeff")
    text = text.removeprefix("\ufeff")
    returns = "\r\n" in text and text.count("\n") == text.count("\r\n")
    return text.replace("\r\n", "\n") if returns else text, _Shape(mark, returns)


def _content(file: Path) -> bytes | None:
    try:
        return read_bounded(file, MAX_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}.") from error


@dataclass(frozen=True, kw_only=True)
class KnownClient:
    """An MCP client that can be connected."""

    client: str
    title: str
    file: str
    found: bool
    """Whether it seems to be installed."""
    connected: bool | None
    """None when its file cannot be read."""
    names: tuple[str, ...] = ()
    """The names of its entries that point at Toolcrib."""
    problem: str = ""


def client_states() -> list[KnownClient]:
    """All clients; a file that cannot be read is reported as a problem."""
    return [client_state(name) for name in client_names()]


def client_state(name: str) -> KnownClient:
    """One client; raises `NotFound` for an unknown name."""
    places = find_user_folders()
    client = find_client(name).here(places)
    file, here = client.file(places), client.is_here(places)
    known = partial(KnownClient, client=name, title=client.title, file=str(file), found=here)
    try:
        entries = read_entries(client, file)
    except ToolcribError as error:
        return known(connected=None, problem=f"{client.title}: {error.message}")
    names = tuple(name for name, entry in entries.items() if is_ours(name, entry))
    return known(connected=bool(names), names=names)
