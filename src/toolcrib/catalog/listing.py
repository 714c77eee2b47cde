"""The built-in catalog with keyword search: one file for each server, our own ones in `bundled/`. Decides the
fields of an entry and how matches are ordered.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "servers"
BUNDLED_FOLDER = Path(__file__).parent / "bundled"
BUNDLED = "bundled"
_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, kw_only=True)
class Variable:
    """An environment variable of a server."""

    name: str
    about: str = ""
    secret: bool = False
    required: bool = False


@dataclass(frozen=True, kw_only=True)
class Choice:
    """One of several ways to set up a bundled server."""

    title: str
    about: str
    """What the server may do then."""
    args: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CatalogEntry:
    """A server in the catalog."""

    name: str
    title: str
    about: str
    origin: str
    """`bundled`, `official`, `well-known` or `registry`."""
    reference: str = ""
    """A package: `npm:…` or `pypi:…`; empty for a remote server."""
    url: str = ""
    args: tuple[str, ...] = ()
    """Example arguments, with paths to replace."""
    env: tuple[Variable, ...] = ()
    words: tuple[str, ...] = ()
    version: str = ""
    module: str = ""
    """The module of a bundled server."""
    setting: str = ""
    """The setting that turns it on, for what is part of the host itself."""
    accounts: tuple[str, ...] = ()
    """The kinds of account it can use; it needs one of them."""
    choices: tuple[Choice, ...] = ()
    """The ways to set it up, of which the user chooses one."""

    @property
    def entry(self) -> dict[str, Any]:
        """The config entry of a bundled server."""
        return {
            "type": "inprocess",
            "module": self.module,
            **({"args": list(self.args)} if self.args else {}),
        }

    def as_json(self) -> dict[str, Any]:
        """The shape of `search-servers --json`."""
        shown = asdict(self)
        for key in ("words", "module", "accounts", "choices"):
            del shown[key]
        return {
            **shown,
            "add": self.command,
            "bundled": self.origin == BUNDLED,
            "needs_account": list(self.accounts),
            "needs_choice": bool(self.choices),
        }

    @property
    def command(self) -> str:
        """The command that adds it."""
        if self.origin == BUNDLED:
            return f"toolcrib add {self.name}"
        what = self.reference or self.url
        options = "".join(f" --env {variable.name}=…" for variable in self.env if variable.required)
        words = f" -- {what} {' '.join(self.args)}" if self.args else f" {what}"
        return f"toolcrib add {self.name}{options}{words}"


@cache
def servers() -> tuple[CatalogEntry, ...]:
    """All servers: the bundled ones first, each group sorted by name."""
    bundled = [_read(file, BUNDLED) for file in sorted(BUNDLED_FOLDER.glob("*.toml"))]
    return (*bundled, *(_read(file) for file in sorted(FOLDER.glob("*.toml"))))


def by_name(word: str) -> CatalogEntry | None:
    """The server with this name or package name."""
    wanted = word.lower()
    for server in servers():
        package = server.reference.partition(":")[2].lower()
        if wanted in (server.name, package):
            return server
    return None


def by_module(module: str) -> CatalogEntry | None:
    """The bundled server of this module."""
    return next((server for server in servers() if server.module and server.module == module), None)


def search(question: str, listed: Iterable[CatalogEntry] | None = None) -> list[CatalogEntry]:
    """Servers that match the words, best first; all servers if there are none."""
    wanted = _WORD.findall(question.lower())
    candidates = servers() if listed is None else tuple(listed)
    if not wanted:
        return list(candidates)
    scored = [(_score(server, wanted), server) for server in candidates]
    return [server for score, server in sorted(scored, key=lambda pair: -pair[0]) if score]


def _score(server: CatalogEntry, wanted: list[str]) -> float:
    """A match in the name counts most, then keywords, then the text; a partial match counts half."""
    names = {*_WORD.findall(f"{server.name} {server.title}".lower())}
    keys, text = {*server.words}, {*_WORD.findall(f"{server.about} {server.reference}".lower())}
    return sum(4.0 * _fit(word, names) + 2.0 * _fit(word, keys) + 1.0 * _fit(word, text) for word in wanted)


def _fit(word: str, among: set[str]) -> float:
    if word in among:
        return 1.0
    stem = word.removesuffix("s")
    return 0.5 if len(stem) > 2 and any(other.startswith(stem) for other in among) else 0.0


def _read(file: Path, origin: str = "") -> CatalogEntry:
    data: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))
    env = tuple(Variable(**variable) for variable in data.pop("env", ()))
    ways = tuple(Choice(**{**way, "args": tuple(way.get("args", ()))}) for way in data.pop("choices", ()))
    lists: dict[str, Any] = {key: tuple(data.pop(key, ())) for key in ("args", "words", "accounts")}
    return CatalogEntry(name=file.stem, env=env, choices=ways, **{"origin": origin, **lists, **data})
