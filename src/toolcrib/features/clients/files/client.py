"""What is declared for a known MCP client: its config file, the file's syntax, the form of its entries, and
the note when a change takes effect. Each client has a file in `programs/`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, cast

from toolcrib import plugins
from toolcrib.config.drafts import DraftQuestion, Table
from toolcrib.errors import ConfigError, NotFound, UsageError
from toolcrib.features.clients.files.gateway import Address, Program, UserFolders
from toolcrib.features.clients.transfer.dialect import Dialect
from toolcrib.features.clients.transfer.translation import write_entry
from toolcrib.suggestions import did_you_mean

CLIENTS = "toolcrib.features.clients.programs"

Entry = dict[str, Any]


@dataclass(frozen=True)
class OpaqueValue:
    """A value of a file that is more than plain data, such as one with a tag: compared, never rewritten."""

    source: str = field(repr=False)


class FileSyntax(Protocol):
    """A file format; every function takes the text of a file ('' for none) and raises `ConfigError`."""

    def read(self, text: str) -> dict[str, Any]:
        """The whole document."""

    def set_entries(self, text: str, table: Table, entries: Mapping[str, Entry]) -> str:
        """The text with these entries; of one that is there, only what differs is changed."""

    def remove_entry(self, text: str, table: Table, name: str) -> str:
        """The text without the entry."""


@dataclass(frozen=True, kw_only=True)
class McpClient:
    """One MCP client; `dialect` says how it writes an entry."""

    title: str
    syntax: FileSyntax
    table: Table
    file: Callable[[UserFolders], Path]
    dialect: Dialect = field(default_factory=Dialect)
    own_entry: Callable[[str, Program | Address], Entry] | None = None
    """The entry for the gateway, if it differs from the dialect's."""
    expands: bool = False
    """It can read a token from an environment variable."""
    marker: Callable[[UserFolders], Path] | None = None
    """A path that exists if the client is installed; the folder of its file by default."""
    afterwards: str = ""
    """When a change takes effect."""
    own_command: Callable[[str, Program | Address], Sequence[str]] | None = None
    """The client's own command that writes the same entry, if it has one."""
    project: tuple[str, ...] = ()
    """Its files in the folder of a project."""
    other_files: Callable[[UserFolders], tuple[Path, ...]] = lambda folders: ()
    """Files of other editions and older versions, which are read too."""
    questions: Callable[[str], Mapping[str, DraftQuestion]] = lambda text: {}
    """The inputs that its file asks the user for, by name."""
    servers: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda found: found
    """The servers in its table, where other versions of it keep them otherwise; only for reading."""
    inner_tables: Callable[[Path], tuple[Table, ...]] = lambda folder: ()
    """Tables of its own file with the servers of the project in a folder."""
    older: McpClient | None = None
    """The client before its file moved; used if only that version is installed."""
    other_names: tuple[str, ...] = ()

    def here(self, folders: UserFolders) -> McpClient:
        """The installed version: the current one, unless only the older one is found."""
        if self.older is None or self.is_here(folders) or not self.older.is_here(folders):
            return self
        return self.older

    def is_here(self, folders: UserFolders) -> bool:
        """Whether the client seems to be installed."""
        marker = self.marker(folders) if self.marker else self.file(folders).parent
        return marker.exists() or self.file(folders).exists()

    def entry(self, name: str, gateway: Program | Address) -> Entry:
        """The entry that points at the gateway; raises `UsageError` if the client cannot use it."""
        if isinstance(gateway, Address) and not self.dialect.remote:
            raise UsageError(
                f"{self.title} cannot use servers with an address in its config file.",
                hint="Leave --http out: the client then starts the gateway itself.",
            )
        if isinstance(gateway, Address) and gateway.token_variable and not self.expands:
            raise UsageError(
                f"{self.title} does not read tokens from the environment.",
                hint="Use --token, which writes the token into its file.",
            )
        return self._entry(name, gateway)

    def _entry(self, name: str, gateway: Program | Address) -> Entry:
        if self.own_entry is not None:
            return self.own_entry(name, gateway)
        return write_entry("", self.title, self.dialect, name, gateway.entry()).entry

    def own_keys(self) -> frozenset[str]:
        """The keys that point at the gateway; other keys of an entry are the user's and are kept."""
        gateways: list[Program | Address] = [Program(command="x", args=("x",))]
        if self.dialect.remote:
            gateways.append(Address(url="x", token="t"))  # noqa: S106
        if self.expands:
            gateways.append(Address(url="x", token_variable="T"))  # noqa: S106
        return frozenset(key for gateway in gateways for key in self._entry("", gateway))


def client_names() -> tuple[str, ...]:
    """The names of all clients, as the user types them."""
    return tuple(name.replace("_", "-") for name in plugins.names(CLIENTS))


def client_name(word: str) -> str:
    """The name of a client for any of its names."""
    wanted = word.strip().lower().replace("_", "-").replace(" ", "-")
    known = client_names()
    if wanted in known:
        return wanted
    clients = {name: plugins.find(CLIENTS, name.replace("-", "_")).client for name in known}
    return next((name for name, client in clients.items() if wanted in client.other_names), wanted)


def find_client(name: str) -> McpClient:
    """The client of this name; raises `NotFound` with what may have been meant."""
    known = client_names()
    wanted = client_name(name)
    if wanted not in known:
        listed = f"Known: {', '.join(known)}."
        raise NotFound(f"There is no client {name!r}.", hint=did_you_mean(wanted, known, otherwise=listed))
    return cast("McpClient", plugins.find(CLIENTS, wanted.replace("-", "_")).client)


def entries_in(data: Mapping[str, Any], table: Table) -> dict[str, Any]:
    """The entries by name, none for null; raises `ConfigError` when the table is another value."""
    found: Any = data
    for depth, key in enumerate(table):
        found = {} if found.get(key) is None else found[key]
        if not isinstance(found, dict):
            raise ConfigError(f"{'.'.join(table[: depth + 1])!r} is not a table of entries.")
    return dict(found)


def without_entry(data: Any, path: Table) -> Any:
    """A copy without the entry at `path`, nor the tables that are empty then."""
    key, *below = path
    if not isinstance(data, dict) or key not in data:
        return data
    left = without_entry(data[key], tuple(below)) if below else {}
    others = {name: value for name, value in data.items() if name != key}
    return {**others, key: left} if left else others


def is_plain(value: Any) -> bool:
    """Whether a value is what JSON can hold, all through."""
    if isinstance(value, dict):
        return all(is_plain(inner) for inner in value.values())
    if isinstance(value, list):
        return all(is_plain(inner) for inner in value)
    return value is None or isinstance(value, str | int | float)


def snippet(client: McpClient, name: str, entry: Entry) -> str:
    """The entry alone, to paste into an empty file."""
    return client.syntax.set_entries("", client.table, {name: entry}).rstrip("\n")
