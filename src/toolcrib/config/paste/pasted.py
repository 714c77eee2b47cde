"""What a paste turned out to be: a package to install, an address, entries, or the text of a config file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_ORNAMENT = re.compile(r"^(?:(?:mcp|server)[-_.])+|(?:[-_.](?:mcp|server))+$")


@dataclass(frozen=True, kw_only=True)
class Install:
    """A package, to be installed privately."""

    reference: str
    """`npm:NAME[@VERSION]`, `pypi:NAME[==VERSION]`, or the path of a file or folder."""
    name: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    program: str | None = None
    """Which of the package's programs is meant, where that was said."""
    python: str | None = None
    cwd: str | None = None


@dataclass(frozen=True, kw_only=True)
class Address:
    """A server somewhere else; without a transport, the right one is found by trying."""

    url: str
    name: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    transport: str | None = None


@dataclass(frozen=True, kw_only=True)
class Entries:
    """Entries in our words, by name; one whose name is not known stands under its guessed name."""

    servers: Mapping[str, Mapping[str, Any]] = field(repr=False)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Document:
    """The text of a config file with servers in it, to be taken in like any other host's."""

    text: str = field(repr=False)
    file: Path
    host: str | None = None


Pasted = Install | Address | Entries | Document


@dataclass(frozen=True, kw_only=True)
class CommandLine:
    """Words that would start a server, less the variables before them."""

    words: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: Path

    @property
    def program(self) -> str:
        """The name of the program, without its folder."""
        return (
            self.words[0]
            .replace("\\", "/")
            .rpartition("/")[2]
            .lower()
            .removesuffix(".exe")
            .removesuffix(".cmd")
        )

    def entry(self) -> dict[str, Any]:
        """The words as they are, as an entry."""
        entry: dict[str, Any] = {"command": self.words[0]}
        if len(self.words) > 1:
            entry["args"] = list(self.words[1:])
        if self.env:
            entry["env"] = dict(self.env)
        return entry


def short_name(identifier: str) -> str:
    """What a person would call a server: `@scope/server-git@1.2` is `git`."""
    bare = re.split(r"[=<>~!\[ ]", identifier)[0]
    last = bare.rstrip("/").rpartition("/")[2]
    last = last.partition("@")[0] or last.strip("@")
    last = re.sub(
        r"\.(?:mcpb|dxt|tgz|tar\.gz|whl|zip|json|py|[cm]?js|ts|sh|exe)$", "", last, flags=re.IGNORECASE
    )
    plain = _ORNAMENT.sub("", last)
    # `@scope/mcp` says nothing: the scope does.
    if (not plain or plain in ("mcp", "server")) and bare.startswith("@") and "/" in bare:
        plain = bare[1:].partition("/")[0]
    return re.sub(r"[^A-Za-z0-9_-]+", "-", plain or last).strip("-")[:60] or "server"
