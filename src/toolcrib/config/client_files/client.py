"""What is known of a client: its file, its syntax, where entries stand in it, and how they look."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, cast

from toolcrib import plugins
from toolcrib.config.client_files.gateway import Address, Program
from toolcrib.config.client_files.places import Places
from toolcrib.config.importing.dialect import Dialect
from toolcrib.config.importing.questions import Question
from toolcrib.errors import NotFound, UsageError
from toolcrib.suggestions import did_you_mean

CLIENTS = "toolcrib.config.clients"

Entry = dict[str, Any]
Table = tuple[str, ...]
"""The keys that lead to the entries."""


@dataclass(frozen=True)
class Opaque:
    """A value of a file that is more than plain data, such as one with a tag: compared, never rewritten."""

    source: str = field(repr=False)


class Syntax(Protocol):
    """A file format; every function takes the text of a file ('' for none) and raises `ConfigError`."""

    def read(self, text: str) -> dict[str, Any]:
        """The whole document."""

    def set_entries(self, text: str, table: Table, entries: Mapping[str, Entry]) -> str:
        """The text with these entries; of one that is there, only what differs is changed."""

    def remove_entry(self, text: str, table: Table, name: str) -> str:
        """The text without the entry."""


@dataclass(frozen=True, kw_only=True)
class Client:
    """One MCP client."""

    title: str
    syntax: Syntax
    table: Table
    file: Callable[[Places], Path]
    by_program: Callable[[str, Program], Entry]
    by_address: Callable[[str, Address], Entry] | None = None
    """None where its file knows no servers with an address."""
    expands: bool = False
    """It can take a token from a variable of its environment."""
    sign: Callable[[Places], Path] | None = None
    """What is there when the client is; the folder of its file unless told otherwise."""
    afterwards: str = ""
    """When a change takes effect."""
    own_command: Callable[[str, Program | Address], Sequence[str]] | None = None
    """The client's own command that writes the same entry, where it has one."""
    dialect: Dialect = field(default_factory=Dialect)
    """How it words the servers of others, for import and export."""
    project: tuple[str, ...] = ()
    """Its files in the folder of a project."""
    elsewhere: Callable[[Places], tuple[Path, ...]] = lambda places: ()
    """Files of other editions and older versions, that are read too."""
    questions: Callable[[str], Mapping[str, Question]] = lambda text: {}
    """What its file says is to be asked, by name."""
    inner_tables: Callable[[Path], tuple[Table, ...]] = lambda folder: ()
    """Tables of its own file that hold the servers of the project in a folder."""

    older: Client | None = None
    """The client as it was before its file moved; used where only that version is installed."""
    other_names: tuple[str, ...] = ()
    """What people call it as well."""

    def here(self, places: Places) -> Client:
        """The client in the version that is installed: the current one, unless only the older is there."""
        if self.older is None or self.is_here(places) or not self.older.is_here(places):
            return self
        return self.older

    def is_here(self, places: Places) -> bool:
        """Whether the client seems to be installed."""
        sign = self.sign(places) if self.sign else self.file(places).parent
        return sign.exists() or self.file(places).exists()

    def entry(self, name: str, gateway: Program | Address) -> Entry:
        """The entry that points at the gateway; raises `UsageError` for what this client cannot do."""
        if isinstance(gateway, Program):
            return self.by_program(name, gateway)
        if self.by_address is None:
            raise UsageError(
                f"The config file of {self.title} has no form for servers with an address.",
                hint="Leave --http out: the client then starts the gateway itself.",
            )
        if gateway.token_variable and not self.expands:
            raise UsageError(
                f"{self.title} does not read tokens from the environment.",
                hint="Use --token, which writes the token into its file.",
            )
        return self.by_address(name, gateway)

    def own_keys(self) -> frozenset[str]:
        """The keys that say how to reach the gateway; others in an entry are the person's, and are kept."""
        entries = [self.by_program("", Program(command=""))]
        if self.by_address is not None:
            entries.append(self.by_address("", Address(url="", token="t")))  # noqa: S106
            if self.expands:
                entries.append(self.by_address("", Address(url="", token_variable="T")))  # noqa: S106
        return frozenset(key for entry in entries for key in entry)


def client_names() -> tuple[str, ...]:
    """The names of all clients, as a person writes them."""
    return tuple(name.replace("_", "-") for name in plugins.names(CLIENTS))


def client_name(word: str) -> str:
    """The name of the client that is meant by a word, which may be another of its names."""
    wanted = word.strip().lower().replace("_", "-").replace(" ", "-")
    known = client_names()
    if wanted in known:
        return wanted
    clients = {one: plugins.find(CLIENTS, one.replace("-", "_")).client for one in known}
    return next((one for one, client in clients.items() if wanted in client.other_names), wanted)


def find_client(name: str) -> Client:
    """The client of this name; raises `NotFound` with what may have been meant."""
    known = client_names()
    wanted = client_name(name)
    if wanted not in known:
        listed = f"Known: {', '.join(known)}."
        raise NotFound(f"There is no client {name!r}.", hint=did_you_mean(wanted, known, otherwise=listed))
    return cast("Client", plugins.find(CLIENTS, wanted.replace("-", "_")).client)
