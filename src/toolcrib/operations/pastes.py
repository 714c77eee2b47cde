"""Parses a pasted text, and finds the values that the user has to provide: which values are placeholders
(`<your-key>`, `changeme`), unset variables, a free name, and the size limit of a paste."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from toolcrib.catalog.listing import CatalogEntry, by_name
from toolcrib.config.drafts import DraftQuestion, SourceContents, asked_in, unnamed
from toolcrib.config.paste.parser import as_command, as_install, named, needed_folder, understand
from toolcrib.config.paste.pasted import (
    Entries,
    Install,
    Pasted,
    PastedAddress,
    PastedDocument,
    is_link,
)
from toolcrib.config.secret_detection import looks_secret
from toolcrib.errors import UsageError
from toolcrib.feature import find_feature
from toolcrib.host import Host
from toolcrib.operations.results.additions import Needed, PasteKind
from toolcrib.servers.installers.engine.plan import InstallQuestion

LARGEST = 1024 * 1024
_TABLES = re.compile(r"^\s*(?:\[mcp_servers|extensions\s*:|mcpServers\s*:|mcp_servers\s*:)", re.MULTILINE)
_CONTAINERS = ("docker", "podman")


@dataclass(frozen=True, kw_only=True)
class Paste:
    """A parsed text: one package, one entry, or the text of a config file."""

    kind: PasteKind
    name: str = ""
    install: Install | None = None
    entry: Mapping[str, Any] | None = field(default=None, repr=False)
    probe: bool = False
    """The entry has an address, but no transport type."""
    document: PastedDocument | None = None
    questions: Mapping[str, DraftQuestion] = field(default_factory=dict)
    """Questions of a document; their placeholders are in the entry or in the package's environment."""
    notes: tuple[str, ...] = ()


def read_paste(text: str, here: Path, *, as_is: bool = False) -> Paste:
    """Parse a text; raises `UsageError` if it is ambiguous or not recognised."""
    if len(text) > LARGEST:
        raise UsageError("The text is too long.", hint="Paste one server, or a config file.")
    text = text.strip()
    if _TABLES.search(text) and not text.startswith("{"):
        return Paste(kind="document", document=PastedDocument(text=text, file=here / "pasted.toml"))
    found = understand([text], here)
    if as_is and isinstance(found, Install):
        found = as_command([text], here)
    return _as_paste(text, found, here)


def _as_paste(text: str, found: Pasted, here: Path) -> Paste:
    if isinstance(found, PastedDocument):
        return Paste(kind="link" if is_link(text) else "document", document=found)
    if isinstance(found, Install):
        return Paste(kind=_install_kind(text, found), name=found.name, install=at_home(found))
    if isinstance(found, PastedAddress):
        entry: dict[str, Any] = {"url": found.url}
        entry |= {"headers": dict(found.headers)} if found.headers else {}
        entry |= {"type": found.transport} if found.transport else {}
        return Paste(kind="address", name=found.name, entry=entry, probe=not found.transport)
    return _entry_paste(text, found, here)


def _entry_paste(text: str, found: Entries, here: Path) -> Paste:
    ((name, raw),) = found.servers.items()
    entry = _entry_at_home(raw)
    command = (str(entry.get("command", "")), *map(str, entry.get("args", ())))
    folder = entry.get("cwd") or needed_folder(command, here)
    entry |= {"cwd": folder} if folder else {}
    kind: PasteKind = "command"
    if is_link(text):
        kind = "link"
    elif "url" in entry:
        kind = "address"
    elif Path(command[0]).name in _CONTAINERS:
        kind = "command-docker"
    return Paste(kind=kind, name=name, entry=entry, notes=found.notes)


def single(text: str, name: str, here: Path, *, as_is: bool, from_page: bool) -> Paste:
    """The only server of a text; raises `UsageError` if it has several."""
    paste = read_paste(text, here, as_is=as_is)
    if paste.document is None:
        return replace(paste, name=name or paste.name)
    reading = read_document(paste.document, name, from_page=from_page)
    if len(reading.drafts) != 1:
        reasons = ". ".join(f"{server}: {reason}" for server, reason in reading.refused.items())
        raise UsageError(
            f"The text contains {len(reading.drafts)} servers.",
            hint=reasons or "Import them, or paste one of them.",
        )
    return of_draft(paste, reading, name, as_is=as_is)


def of_draft(paste: Paste, reading: SourceContents, name: str = "", *, as_is: bool = False) -> Paste:
    """The server of a document that contains only one."""
    (draft,) = reading.drafts
    entry = dict(draft.entry)
    package = None if as_is else as_install(entry)
    asked = {key: reading.questions.get(key) or unnamed(key) for key in asked_in(entry)}
    return Paste(
        kind=paste.kind,
        name=name or draft.name or (package.name if package else "server"),
        install=at_home(package) if package else None,
        entry=None if package else entry,
        probe="url" in entry and "type" not in entry,
        questions=asked,
        notes=draft.notes,
    )


def read_document(document: PastedDocument, name: str = "", *, from_page: bool) -> SourceContents:
    """The servers of a config file in our format; raises `ConfigError`, or `Denied` for a page."""
    read: Callable[..., SourceContents] = find_feature("clients").function("operations.imports:read_document")
    return read(named(document.text, name), document.file, document.host, from_page=from_page)


def at_home(install: Install) -> Install:
    """Expand `~/` in the arguments: no shell does it for a text pasted into a page."""
    return Install(**{**vars(install), "args": tuple(map(_expanded, install.args))})


def _entry_at_home(raw: Mapping[str, Any]) -> dict[str, Any]:
    entry = json.loads(json.dumps(dict(raw)))
    if isinstance(entry.get("command"), str):
        entry["command"] = _expanded(entry["command"])
    if isinstance(entry.get("args"), list):
        entry["args"] = [
            _expanded(argument) if isinstance(argument, str) else argument for argument in entry["args"]
        ]
    return dict(entry)


def _expanded(text: str) -> str:
    return str(Path.home() / text[2:]) if text.startswith("~/") else text


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
    """The package and the version of a reference; empty for a file or folder."""
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
    """The name, with a number appended if it is already used."""
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}-{number}"
    return name


ENV = "env:"
"""The key of an environment variable starts with this."""
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_PLACEHOLDER = re.compile(
    r"<[^>]*>|\[[^\]]*\]|\$?\{?\{?your[-_ ].*|.*[-_ ]here\}?|x{3,}|\*{3,}|\.{3}|…|"
    r"(?:sk|ghp|xoxb|pat)[-_](?:x+|\.{3}|…)|(?:change|replace)[-_ ]?me",
    re.IGNORECASE,
)


def is_placeholder(value: object) -> bool:
    """Whether a value is a placeholder such as `<your-key>`."""
    return isinstance(value, str) and (not value.strip() or bool(_PLACEHOLDER.fullmatch(value.strip())))


def needed_variables(
    env: Mapping[str, Any], reference: str = "", *, is_known: Callable[[str], bool] = lambda name: True
) -> list[Needed]:
    """The variables of a pasted environment without a value, and those that the catalog lists.

    `is_known` says whether `${NAME}` has a value now. If not, the variable is listed but not required: it can
    still be set before the start.
    """
    entry = _catalog_entry(reference)
    listed = {variable.name: variable for variable in entry.env} if entry else {}
    references = {name: _reference(value) for name, value in env.items()}
    unset = {name: variable for name, variable in references.items() if variable and not is_known(variable)}
    names = [name for name, value in env.items() if is_placeholder(value) or name in unset]
    names += [name for name in listed if name not in env]
    return [
        _needed(
            key=f"{ENV}{name}",
            title=name,
            description=listed[name].about if name in listed else _unset_note(unset.get(name)),
            secret=listed[name].secret if name in listed else looks_secret(name, "x"),
            required=name not in unset and (listed[name].required if name in listed else True),
        )
        for name in names
    ]


def known_to(host: Host) -> Callable[[str], bool]:
    """Whether a variable is set, or stored as a secret of the same name."""
    return lambda name: name in host.core.connector.environ or name in host.core.secrets.names()


def _reference(value: object) -> str:
    """The variable that a value consists of; empty for any other value."""
    found = _VARIABLE.fullmatch(value.strip()) if isinstance(value, str) else None
    return found[1] if found else ""


def _unset_note(variable: str | None) -> str:
    return f"Taken from the variable {variable}, which is not set." if variable else ""


def fill_variables(env: Mapping[str, Any], answers: Mapping[str, str]) -> dict[str, Any]:
    """The environment with the answers filled in; variables without a value are omitted."""
    given = {key.removeprefix(ENV): value for key, value in answers.items() if key.startswith(ENV) and value}
    return {**{name: value for name, value in env.items() if not is_placeholder(value)}, **given}


def plan_needs(questions: Iterable[InstallQuestion]) -> list[Needed]:
    """The values that a package needs."""
    return [
        _needed(
            key=question.key,
            title=question.title or question.key,
            description=question.description,
            kind=question.kind,
            secret=question.secret,
            required=question.required,
            default=_text(question.default),
            choices=list(question.choices),
            multiple=question.multiple,
        )
        for question in questions
    ]


def document_needs(questions: Iterable[DraftQuestion]) -> list[Needed]:
    """The values that a config file needs."""
    return [
        _needed(
            key=question.id,
            title=question.text,
            secret=question.secret,
            required=question.required,
            default=question.default,
            choices=list(question.choices),
            multiple=question.multiple,
        )
        for question in questions
    ]


def missing(needed: Iterable[Needed], answers: Mapping[str, str]) -> list[str]:
    """The keys of required values without a default or an answer."""
    required = (value for value in needed if value["required"] and not value["default"])
    return [value["key"] for value in required if not answers.get(value["key"])]


def plan_answers(needed: Iterable[Needed], answers: Mapping[str, str]) -> dict[str, Any]:
    """The answers to a package's questions; multiple values are separated by line breaks."""
    found: dict[str, Any] = {}
    for value in needed:
        key, given = value["key"], answers.get(value["key"], "")
        if given and not key.startswith(ENV):
            found[key] = given.splitlines() if value["multiple"] else given
    return found


def _needed(**known: Any) -> Needed:
    plain: dict[str, Any] = {
        "description": "",
        "kind": "string",
        "default": "",
        "choices": [],
        "multiple": False,
    }
    return {**plain, **known}  # type: ignore[typeddict-item]


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "\n".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _catalog_entry(reference: str) -> CatalogEntry | None:
    package, _ = package_of(reference)
    return by_name(package) if package else None
