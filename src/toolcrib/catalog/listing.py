"""The list that ships with the package: one file a server in `servers/`, searched by words."""

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
    """Something that a server is told through its environment."""

    name: str
    about: str = ""
    secret: bool = False
    required: bool = False


@dataclass(frozen=True, kw_only=True)
class Listed:
    """A server of the catalog and what it needs."""

    name: str
    title: str
    about: str
    origin: str
    """`official`, `well-known` or `registry`."""
    reference: str = ""
    """A package: `npm:…` or `pypi:…`; empty where there is only an address."""
    url: str = ""
    args: tuple[str, ...] = ()
    """An example: paths in it are to be replaced."""
    env: tuple[Variable, ...] = ()
    words: tuple[str, ...] = ()
    version: str = ""

    def as_json(self) -> dict[str, Any]:
        """As `search-servers --json` shows it."""
        shown = asdict(self)
        del shown["words"]
        return {**shown, "add": self.command}

    @property
    def command(self) -> str:
        """What to type to add it."""
        what = self.reference or self.url
        options = "".join(f" --env {one.name}=…" for one in self.env if one.required)
        words = f" -- {what} {' '.join(self.args)}" if self.args else f" {what}"
        return f"toolcrib add {self.name}{options}{words}"


@cache
def servers() -> tuple[Listed, ...]:
    """Every server of the list, by name."""
    return tuple(_read(file) for file in sorted(FOLDER.glob("*.toml")))


def by_name(word: str) -> Listed | None:
    """The server that goes by this name, or whose package does."""
    wanted = word.lower()
    for one in servers():
        package = one.reference.partition(":")[2].lower()
        if wanted in (one.name, package):
            return one
    return None


def search(question: str, listed: Iterable[Listed] | None = None) -> list[Listed]:
    """Those that a question's words fit, the best first; without words, all of them."""
    wanted = _WORD.findall(question.lower())
    everyone = servers() if listed is None else tuple(listed)
    if not wanted:
        return list(everyone)
    scored = [(_score(one, wanted), one) for one in everyone]
    return [one for score, one in sorted(scored, key=lambda pair: -pair[0]) if score]


def _score(one: Listed, wanted: list[str]) -> float:
    """A word counts most in the name, then among the keywords, then in the text; parts of it count less."""
    names = {*_WORD.findall(f"{one.name} {one.title}".lower())}
    keys, text = {*one.words}, {*_WORD.findall(f"{one.about} {one.reference}".lower())}
    return sum(4.0 * _fit(word, names) + 2.0 * _fit(word, keys) + 1.0 * _fit(word, text) for word in wanted)


def _fit(word: str, among: set[str]) -> float:
    if word in among:
        return 1.0
    stem = word.removesuffix("s")
    return 0.5 if len(stem) > 2 and any(other.startswith(stem) for other in among) else 0.0


def _read(file: Path) -> Listed:
    data: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))
    env = tuple(Variable(**one) for one in data.pop("env", ()))
    lists: dict[str, Any] = {key: tuple(data.pop(key, ())) for key in ("args", "words")}
    return Listed(name=file.stem, env=env, **lists, **data)
