"""Reads what a person pasted into servers that could be added; nothing is run, fetched or written."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from toolcrib.config.importing.questions import Question, asked_in, unnamed
from toolcrib.config.importing.sources import Reading, read_words
from toolcrib.config.paste.entry_forms import as_install, named, needed_folder
from toolcrib.config.paste.links import is_link
from toolcrib.config.paste.pasted import Address, Document, Entries, Install, Pasted
from toolcrib.config.paste.understanding import as_command, understand
from toolcrib.control.answers.adding import PasteKind
from toolcrib.control.taking_in import check_readable
from toolcrib.errors import UsageError

LARGEST = 1024 * 1024
_TABLES = re.compile(r"^\s*(?:\[mcp_servers|extensions\s*:|mcpServers\s*:|mcp_servers\s*:)", re.MULTILINE)
_CONTAINERS = ("docker", "podman")


@dataclass(frozen=True, kw_only=True)
class Paste:
    """What a text is: one package, one entry, or the text of a config file."""

    kind: PasteKind
    name: str = ""
    install: Install | None = None
    entry: Mapping[str, Any] | None = field(default=None, repr=False)
    probe: bool = False
    """The entry has an address, and nothing says how it is spoken to."""
    document: Document | None = None
    questions: Mapping[str, Question] = field(default_factory=dict)
    """What a document asks; its marks stand in the entry or in the package's environment."""
    notes: tuple[str, ...] = ()


def read_paste(text: str, here: Path, *, as_is: bool = False) -> Paste:
    """What the text means; raises `UsageError` where it means several things, or nothing."""
    if len(text) > LARGEST:
        raise UsageError("This is too much text.", hint="Paste one server, or a config file.")
    text = text.strip()
    if _TABLES.search(text) and not text.startswith("{"):
        return Paste(kind="document", document=Document(text=text, file=here / "pasted.toml"))
    found = understand([text], here)
    if as_is and isinstance(found, Install):
        found = as_command([text], here)
    return _as_paste(text, found, here)


def _as_paste(text: str, found: Pasted, here: Path) -> Paste:
    if isinstance(found, Document):
        return Paste(kind="link" if is_link(text) else "document", document=found)
    if isinstance(found, Install):
        return Paste(kind=_install_kind(text, found), name=found.name, install=at_home(found))
    if isinstance(found, Address):
        entry: dict[str, Any] = {"url": found.url}
        entry |= {"headers": dict(found.headers)} if found.headers else {}
        entry |= {"type": found.transport} if found.transport else {}
        return Paste(kind="address", name=found.name, entry=entry, probe=not found.transport)
    return _entry_paste(text, found, here)


def _entry_paste(text: str, found: Entries, here: Path) -> Paste:
    ((name, raw),) = found.servers.items()
    entry = _entry_at_home(raw)
    words = (str(entry.get("command", "")), *map(str, entry.get("args", ())))
    folder = entry.get("cwd") or needed_folder(words, here)
    entry |= {"cwd": folder} if folder else {}
    kind: PasteKind = "command"
    if is_link(text):
        kind = "link"
    elif "url" in entry:
        kind = "address"
    elif Path(words[0]).name in _CONTAINERS:
        kind = "command-docker"
    return Paste(kind=kind, name=name, entry=entry, notes=found.notes)


def single(text: str, name: str, here: Path, *, as_is: bool = False) -> Paste:
    """The one server of a text; a document with several raises `UsageError`."""
    paste = read_paste(text, here, as_is=as_is)
    if paste.document is None:
        return replace(paste, name=name or paste.name)
    reading = read_document(paste.document, name)
    if len(reading.drafts) != 1:
        reasons = ". ".join(f"{one}: {why}" for one, why in reading.refused.items())
        raise UsageError(
            f"There are {len(reading.drafts)} servers in it.",
            hint=reasons or "Import them, or paste one of them.",
        )
    return of_draft(paste, reading, name, as_is=as_is)


def of_draft(paste: Paste, reading: Reading, name: str = "", *, as_is: bool = False) -> Paste:
    """A document with one server, as that server."""
    (draft,) = reading.drafts
    entry = dict(draft.entry)
    package = None if as_is else as_install(entry)
    asked = {one: reading.questions.get(one) or unnamed(one) for one in asked_in(entry)}
    return Paste(
        kind=paste.kind,
        name=name or draft.name or (package.name if package else "server"),
        install=at_home(package) if package else None,
        entry=None if package else entry,
        probe="url" in entry and "type" not in entry,
        questions=asked,
        notes=draft.notes,
    )


def read_document(document: Document, name: str = "") -> Reading:
    """The servers of a config file in our words; raises `ConfigError`, and `Denied` for a page."""
    if document.file.exists():
        check_readable(document.file)
    return read_words(named(document.text, name), document.file, document.host)


def at_home(install: Install) -> Install:
    """With `~/` in its arguments written out: no shell does it for what is pasted into a page."""
    return Install(**{**vars(install), "args": tuple(map(_expanded, install.args))})


def _entry_at_home(raw: Mapping[str, Any]) -> dict[str, Any]:
    entry = json.loads(json.dumps(dict(raw)))
    if isinstance(entry.get("command"), str):
        entry["command"] = _expanded(entry["command"])
    if isinstance(entry.get("args"), list):
        entry["args"] = [_expanded(one) if isinstance(one, str) else one for one in entry["args"]]
    return dict(entry)


def _expanded(word: str) -> str:
    return str(Path.home() / word[2:]) if word.startswith("~/") else word


def _install_kind(text: str, found: Install) -> PasteKind:
    index, sign, _ = found.reference.partition(":")
    if sign and index in ("npm", "pypi"):
        first = text.split()[0]
        plain = first.startswith((f"{index}:", "@")) or len(text.split()) == 1
        if index == "npm":
            return "npm" if plain else "command-npm"
        return "pypi" if plain else "command-pypi"
    path = Path(found.reference)
    if path.is_dir():
        return "folder"
    return "bundle" if path.suffix.lower() in (".mcpb", ".dxt") else "file"


def package_of(reference: str) -> tuple[str, str]:
    """The package and the version of a reference; ('', '') for a file or folder."""
    index, sign, rest = reference.partition(":")
    if not sign or index not in ("npm", "pypi"):
        return "", ""
    if index == "pypi":
        name, _, version = rest.partition("==")
        return name, version
    scope, _, bare = rest.rpartition("/")
    name, _, version = bare.partition("@")
    return (f"{scope}/{name}" if scope else name), version


def free_name(wanted: str, taken: Collection[str]) -> str:
    """The name, with a number where it is taken."""
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}-{number}"
    return name
