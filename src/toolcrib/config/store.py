"""Reads and changes the config file (adds, removes and switches servers), by one process at a time, so that
nothing is ever lost. Decides its largest size and the content of a new one.

A bad entry harms only itself; a file that cannot be read is never overwritten. A change keeps the order of
keys and all keys that we do not know.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

from toolcrib.config.contents import SERVERS, Config, check_change, interpret
from toolcrib.config.document import parse_document, render_document
from toolcrib.config.entries import parse_entry
from toolcrib.config.paths import make_private
from toolcrib.config.safe_files import exclusive, write_atomic
from toolcrib.config.watch import digest
from toolcrib.errors import ConfigError, UnknownServer, UsageError
from toolcrib.schema.servers import ServerEntry

MAX_BYTES = 8 * 1024 * 1024
"""A thousand servers take half a megabyte; more than this is no config file."""


class ConfigStore:
    """The config file at `path`; `files` is the folder that a new home lends to the filesystem server.

    Calls touch the disk, and a change may wait for another process: in an event loop, make it in a thread.
    """

    def __init__(self, path: Path, files: Path | None = None) -> None:
        # The target of a link, so that replacing the file does not replace the link.
        self.path = path.resolve()
        self._files = files or path.absolute().parent / "files"

    def read(self) -> Config:
        """The current contents; a missing file is first created with the defaults of a new home."""
        content = self._content()
        if content is None:
            with self._locked():
                content = self._content_or_defaults()
        return interpret(parse_document(content, self.path.name), digest(content))

    @contextmanager
    def edit(self) -> Iterator[dict[str, Any]]:
        """The document to change in place; written when the block is left, unless it raised.

        Nobody else can change the file meanwhile. An entry that this change would break, or settings that
        are wrong, raise `ConfigError`, and the file stays as it was.
        """
        with self._locked():
            content = self._content_or_defaults()
            before = parse_document(content, self.path.name)
            data = deepcopy(before.data)
            yield data
            after = render_document(data)
            if after == render_document(before.data):
                return
            check_change(before, parse_document(after, self.path.name))
            self._write(after, content, commented=before.commented)

    def add_server(self, name: str, raw: Mapping[str, Any], *, replace: bool = False) -> ServerEntry:
        """Add an entry at the end; raises `UsageError` when the name is taken and `replace` is not set."""
        entry = parse_entry(name, raw)
        with self.edit() as document:
            servers = _servers_of(document)
            if name in servers and not replace:
                raise UsageError(
                    f"There is already a server called {name!r}.",
                    hint=f"Choose another name, or remove it first: toolcrib remove {name}",
                )
            servers[name] = deepcopy(dict(raw))
        return entry

    def remove_server(self, name: str) -> Any:
        """Remove an entry and return it; raises `UnknownServer`."""
        with self.edit() as document:
            return entries_with(document, name).pop(name)

    def set_enabled(self, name: str, enabled: bool) -> None:
        """Switch one server on or off; raises `UnknownServer`."""
        with self.edit() as document:
            entry = entries_with(document, name)[name]
            if not isinstance(entry, dict):
                parse_entry(name, entry)
            # Other hosts' key would contradict ours.
            entry.pop("disabled", None)
            entry["enabled"] = enabled

    def set_global_enabled(self, enabled: bool) -> None:
        """Turn the master switch."""
        with self.edit() as document:
            document["globalEnabled"] = enabled

    @contextmanager
    def _locked(self) -> Iterator[None]:
        make_private(self.path.parent)
        with exclusive(self.path):
            yield

    def _content_or_defaults(self) -> bytes:
        content = self._content()
        if content is not None:
            return content
        make_private(self._files)
        content = render_document(new_document(self._files))
        self._write(content)
        return content

    def _content(self) -> bytes | None:
        try:
            with self.path.open("rb") as file:
                content = file.read(MAX_BYTES + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ConfigError(
                f"{self.path} cannot be read: {error.strerror}.", hint="Check its permissions."
            ) from error
        if len(content) > MAX_BYTES:
            raise ConfigError(
                f"{self.path} is larger than {MAX_BYTES} bytes.",
                hint="This is not a config file; move it elsewhere.",
            )
        return content

    def _write(self, content: bytes, previous: bytes | None = None, *, commented: bool = False) -> None:
        try:
            if previous is not None:
                write_atomic(self.path.with_name(f"{self.path.name}.bak"), previous)
            if previous is not None and commented:
                # The next change replaces the backup; comments that the user wrote are kept here.
                write_atomic(self.path.with_name(f"{self.path.name}.commented.bak"), previous)
            write_atomic(self.path, content)
        except OSError as error:
            raise ConfigError(
                f"{self.path} cannot be saved: {error.strerror}.",
                hint="The file is unchanged. Check the free disk space and the folder's permissions.",
            ) from error


def unknown_server(name: str, known: Iterable[str]) -> UnknownServer:
    """An error with a suggestion."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1)
    hint = "Add one with: toolcrib add NAME -- COMMAND"
    if names:
        hint = f"Did you mean {close[0]!r}?" if close else f"Known: {', '.join(names)}."
    return UnknownServer(f"No server is called {name!r}.", hint=hint)


def _servers_of(document: dict[str, Any]) -> dict[str, Any]:
    if document.get(SERVERS) is None:
        document[SERVERS] = {}
    servers = document[SERVERS]
    if isinstance(servers, dict):
        return servers
    raise ConfigError(f"{SERVERS} must be an object: {{ … }}.", hint="Fix the file by hand.")


def entries_with(document: dict[str, Any], name: str) -> dict[str, Any]:
    """All entries of a document; raises `UnknownServer` without one of this name."""
    servers = _servers_of(document)
    if name not in servers:
        raise unknown_server(name, servers)
    return servers


def new_document(files: Path) -> dict[str, Any]:
    """The first content of the file; `files` is all that the filesystem server may touch."""
    return {
        "mcpServers": {
            "demo": {"type": "inprocess", "module": "toolcrib.bundled.demo"},
            "filesystem": {
                "type": "inprocess",
                "module": "toolcrib.bundled.filesystem",
                # Expansion gives it back unchanged, should a folder really be called `${…}`.
                "args": [str(files).replace("${", "$${")],
            },
            "websearch": {"type": "inprocess", "module": "toolcrib.bundled.websearch"},
        }
    }
