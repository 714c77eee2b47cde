"""The possible meanings of a paste: a package, an address, entries, or the text of a config file. Also short
names for servers, npm and PyPI references, and install links of Cursor, VS Code and LM Studio.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

_ORNAMENT = re.compile(r"^(?:(?:mcp|server)[-_.])+|(?:[-_.](?:mcp|server))+$")
_WINDOWS_PATH = re.compile(r"[A-Za-z]:\\")


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
class PastedAddress:
    """A server somewhere else; without a transport, the right one is found by trying."""

    url: str
    name: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    transport: str | None = None


@dataclass(frozen=True, kw_only=True)
class Entries:
    """Entries in our own form, by name; an unknown name is guessed."""

    servers: Mapping[str, Mapping[str, Any]] = field(repr=False)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PastedDocument:
    """The text of a config file with servers, to be imported like any other host's."""

    text: str = field(repr=False)
    file: Path
    host: str | None = None


Pasted = Install | PastedAddress | Entries | PastedDocument


def _is_program_file(path: Path) -> bool:
    return path.is_absolute() and path.is_file() and os.access(path, os.X_OK)


@dataclass(frozen=True, kw_only=True)
class CommandLine:
    """Words that would start a server, less the variables before them."""

    words: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: Path

    @property
    def program(self) -> str:
        """The name of the program without its folder, or the whole word if it is some other path.

        `./npm` is a folder or a file of the user's; only `npm` and `/usr/bin/npm` are the program.
        """
        word = self.words[0]
        is_path = "/" in word or "\\" in word
        if is_path and not _WINDOWS_PATH.match(word) and not _is_program_file(Path(word)):
            return word
        return re.split(r"[/\\]", word)[-1].lower().removesuffix(".exe").removesuffix(".cmd")

    def entry(self) -> dict[str, Any]:
        """The command as an entry."""
        entry: dict[str, Any] = {"command": self.words[0]}
        if len(self.words) > 1:
            entry["args"] = list(self.words[1:])
        if self.env:
            entry["env"] = dict(self.env)
        return entry


def short_name(identifier: str) -> str:
    """A short name for a server: `@scope/server-git@1.2` is `git`."""
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


_NPM = re.compile(
    r"(?P<name>(?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*)(?:@(?P<version>[A-Za-z0-9.^~+_-]+))?"
)
_PYPI = re.compile(
    r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(?P<extras>\[[A-Za-z0-9,._ -]+\])?"
    r"(?:(?:==|@)(?P<version>[A-Za-z0-9.!+_-]+))?"
)
_FLOATING = frozenset({"latest", "*", "next"})


def npm_reference(spec: str) -> str | None:
    """`npm:NAME[@VERSION]`, or None for what is no package of a registry."""
    found = _NPM.fullmatch(spec)
    if found is None or found["name"].startswith("-"):
        return None
    version = found["version"]
    return f"npm:{found['name']}" + (f"@{version}" if version and version not in _FLOATING else "")


def pypi_reference(spec: str) -> str | None:
    """`pypi:NAME[==VERSION]`, or None for what is no package of an index."""
    found = _PYPI.fullmatch(spec.strip())
    if found is None:
        return None
    version = found["version"]
    name = f"{found['name']}{found['extras'] or ''}"
    return f"pypi:{name}" + (f"=={version}" if version and version not in _FLOATING else "")


_SCHEMES = ("cursor", "vscode", "vscode-insiders", "lmstudio")


def is_link(word: str) -> bool:
    """Whether a word is such a link."""
    scheme, sign, _ = word.partition(":")
    return bool(sign) and scheme.lower() in _SCHEMES


def read_link(word: str, cwd: Path) -> PastedDocument | None:
    """The server of the link as a config file; None where it holds none."""
    parts = urlsplit(word)
    try:
        if parts.scheme.startswith("vscode"):
            found = json.loads(unquote(parts.query))
            name = str(found.pop("name", "server"))
        else:
            query = parse_qs(parts.query)
            name = query.get("name", ["server"])[0]
            found = json.loads(base64.b64decode(query["config"][0]))
    except (ValueError, KeyError, AttributeError, binascii.Error):
        return None
    if not isinstance(found, dict):
        return None
    return PastedDocument(text=json.dumps({"mcpServers": {name: found}}), file=cwd / "pasted.json")
