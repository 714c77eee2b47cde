"""How a host writes an entry: the names of its keys, units of timeouts, and its references to variables (such
as `${env:X}`, `$X`).

Each file of `features/clients/programs` holds one. Unknown keys are kept unchanged under `x-import`.

Our references are `${VAR}`, `${VAR:-default}` and `${secret:NAME}`; `${answer:ID}` in a draft marks an open
question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toolcrib.config.aliases import ADDRESS_TYPE, COMMAND_TYPE
from toolcrib.config.drafts import literal, variable_of

Entry = dict[str, Any]

KEPT = "x-import"
"""The key of our entries for keys of other hosts that we do not use: `{host: {key: value}}`."""
SECONDS = 1.0
MILLISECONDS = 0.001


EXPRESSIBLE = (COMMAND_TYPE, ADDRESS_TYPE, "sse")
"""The types that the files of other hosts can express; a new transport adds none, as they do not know it."""

_BRACED = re.compile(r"(?<!\$)\$\{([^{}]*)\}")
_BARE = re.compile(r"(?<![$\\])\$([A-Za-z_][A-Za-z0-9_]*)")
_OURS = re.compile(r"(?<!\$)\$\{(?:secret:(?P<secret>[^{}:]+)|(?P<name>\w+)(?::-(?P<default>[^{}]*))?)\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLACES = ("workspaceFolder", "workspaceFolderBasename")


class NotAServer(ValueError):
    """An entry that is no server we could run or reach; its text says why."""


class Inexpressible(ValueError):
    """A server that a host's file has no form for; its text says why."""


@dataclass(frozen=True, kw_only=True)
class Timer:
    """A key that holds a time, and what one of it is in seconds."""

    key: str
    unit: float = SECONDS


def take_table(entry: Entry, key: str) -> dict[str, Any]:
    """Remove and return a table, empty if missing; raises `NotAServer` for anything else."""
    found = entry.pop(key, None)
    if found is None:
        return {}
    if not isinstance(found, Mapping):
        raise NotAServer(f"{key} is not a table")
    return dict(found)


def take_list(entry: Entry, key: str) -> list[Any]:
    """Remove and return a list, empty if missing; raises `NotAServer` for anything else."""
    found = entry.pop(key, None)
    if found is None:
        return []
    if not isinstance(found, list):
        raise NotAServer(f"{key} is not a list")
    return list(found)


def _unchanged(entry: Entry) -> Entry:
    return entry


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """The keys and types of one host."""

    command: str = "command"
    env: str = "env"
    addresses: Mapping[str, str] = field(default_factory=lambda: {"url": "http"})
    """The keys of an address, and the type that each means where none is stated; the first of a type is
    written."""
    remote: bool = True
    """It reaches servers with an address; otherwise it only starts programs."""
    types: Mapping[str, str] = field(default_factory=dict)
    """Its names for our types; a type that is not here is written without one."""
    variable: str = "${NAME}"
    """How it writes the variable NAME."""
    fills: bool = True
    """It expands variables; otherwise the user must enter the value."""
    defaults: bool = False
    """It knows `${NAME:-default}`."""
    forwards: bool = False
    """It hands on variables of its own environment, or of its keyring, by name and never under another."""
    bare: bool = False
    """It knows `$NAME` too."""
    off: str = ""
    """The key that switches a server off: `disabled` or `enabled`; empty if there is none."""
    start: tuple[Timer, ...] = ()
    call: tuple[Timer, ...] = ()
    """Deadlines; all of them are read, the first is written."""
    include: str = ""
    exclude: str = ""
    """The keys of lists of tools."""
    folder: bool = False
    """It uses `cwd`."""
    nulls: bool = False
    """A null in `env` removes a variable."""
    grants: frozenset[str] = frozenset()
    """Keys that trust a server there; they are never imported."""
    read: Callable[[Entry], Entry] = _unchanged
    """Normalizes its entry before the rest; raises `NotAServer`. What it puts under `ours` are keys of
    our own."""
    write: Callable[[str, Entry], Entry] = field(default=lambda name, entry: entry)
    """Finishes the entry after the rest; `ours` holds our remaining keys."""

    def keys(self) -> frozenset[str]:
        """Every key that it gives a meaning to."""
        timers = {timer.key for timer in (*self.start, *self.call)}
        words = {self.command, self.env, *self.addresses, self.off, self.include, self.exclude, *timers}
        return frozenset({*words, "type", "args", "cwd", "headers"} - {""})


@dataclass(frozen=True, kw_only=True)
class ImportContext:
    """Values that a host fills in besides variables."""

    home: Path = field(default_factory=Path.home)
    workspace: Path | None = None
    """The folder of the project that the file belongs to."""


def to_ours(text: str, dialect: Dialect, around: ImportContext) -> str:
    """A host's text in our form; unknown references stay, and fail when the server starts."""
    text = _BRACED.sub(lambda match: _read(match.group(1), match.group(), around), text)
    return _BARE.sub(r"${\1}", text) if dialect.bare else text


def _read(inside: str, whole: str, around: ImportContext) -> str:
    kind, _, rest = inside.partition(":")
    if kind == "env" and _NAME.fullmatch(rest):
        return f"${{{rest}}}"
    if kind in ("input", "secret") and rest:
        # The user is asked for a secret of another file: it must not be one of those that are stored here.
        return f"${{answer:{rest}}}"
    if inside in ("workspaceFolder", "workspaceRoot", "cwd") and around.workspace is not None:
        return literal(str(around.workspace))
    if inside == "workspaceFolderBasename" and around.workspace is not None:
        return literal(around.workspace.name)
    if inside == "userHome":
        return literal(str(around.home))
    return "/" if inside in ("pathSeparator", "/") else whole


@dataclass
class ReferenceWriter:
    """Writes our references in a host's form, and collects the variables."""

    dialect: Dialect
    variables: dict[str, str] = field(default_factory=dict)
    """The variables that the host needs, each with the secret that it replaces, or ''."""
    lost_defaults: list[str] = field(default_factory=list)

    def write(self, text: str) -> str:
        """The text in the host's form."""
        return _OURS.sub(self._replace, text)

    def _replace(self, match: re.Match[str]) -> str:
        secret, name, default = match["secret"], match["name"], match["default"]
        if name in _PLACES and "env:" in self.dialect.variable:
            return match.group()  # Of a file that belonged to no project: it means the same there.
        if secret:
            name = variable_of(secret)
        if default is not None and self.dialect.defaults:
            return match.group()
        if default is not None:
            self.lost_defaults.append(name)
        self.variables.setdefault(name, secret or "")
        return self.dialect.variable.replace("NAME", name)


def only_reference(value: object) -> str | None:
    """The secret that a text refers to and holds nothing besides, '' for a variable; else None."""
    found = _OURS.fullmatch(value) if isinstance(value, str) else None
    return None if found is None or found["default"] is not None else found["secret"] or ""
