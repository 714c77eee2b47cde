"""The built-in catalog: one file for each server in `servers/`, with keyword search."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "servers"
_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, kw_only=True)
class Variable:
    """An environment variable of a server."""

    name: str
    about: str = ""
    secret: bool = False
    required: bool = False


@dataclass(frozen=True, kw_only=True)
class CatalogEntry:
    """A server in the catalog."""

    name: str
    title: str
    about: str
    origin: str
    """`official`, `well-known` or `registry`."""
    reference: str = ""
    """A package: `npm:…` or `pypi:…`; empty for a remote server."""
    url: str = ""
    args: tuple[str, ...] = ()
    """Example arguments, with paths to replace."""
    env: tuple[Variable, ...] = ()
    words: tuple[str, ...] = ()
    version: str = ""

    def as_json(self) -> dict[str, Any]:
        """The shape of `search-servers --json`."""
        shown = asdict(self)
        del shown["words"]
        return {**shown, "add": self.command}

    @property
    def command(self) -> str:
        """The command that adds it."""
        what = self.reference or self.url
        options = "".join(f" --env {variable.name}=…" for variable in self.env if variable.required)
        words = f" -- {what} {' '.join(self.args)}" if self.args else f" {what}"
        return f"toolcrib add {self.name}{options}{words}"


@cache
def servers() -> tuple[CatalogEntry, ...]:
    """All servers, sorted by name."""
    return tuple(_read(file) for file in sorted(FOLDER.glob("*.toml")))


def by_name(word: str) -> CatalogEntry | None:
    """The server with this name or package name."""
    wanted = word.lower()
    for server in servers():
        package = server.reference.partition(":")[2].lower()
        if wanted in (server.name, package):
            return server
    return None


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


def _read(file: Path) -> CatalogEntry:
    data: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))
    env = tuple(Variable(**variable) for variable in data.pop("env", ()))
    lists: dict[str, Any] = {key: tuple(data.pop(key, ())) for key in ("args", "words")}
    return CatalogEntry(name=file.stem, env=env, **lists, **data)
