"""Recognises the servers in a pasted text: warnings about look-alikes of known packages, programs that are
not installed, and alternatives if nothing was recognised. Nothing is run, downloaded or written."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from toolcrib.catalog.listing import by_name
from toolcrib.config.hidden import shown
from toolcrib.config.paste.checks import check_local
from toolcrib.config.paste.parser import is_launcher
from toolcrib.config.secret_detection import without_secrets
from toolcrib.errors import ConfigError, Denied, ToolcribError, UsageError
from toolcrib.feature import find_feature
from toolcrib.host import Host
from toolcrib.operations.operation import Invocation, operation
from toolcrib.operations.pastes import (
    Paste,
    document_needs,
    free_name,
    known_to,
    needed_variables,
    of_draft,
    package_of,
    read_document,
    read_paste,
)
from toolcrib.operations.results.additions import LookAlike, Recognised, RecognisedServer
from toolcrib.servers.installers.engine.package_names import distance, looks_like

_BARE = re.compile(r"[A-Za-z0-9@][A-Za-z0-9@/_.-]{1,120}")


@operation(page=True)
async def recognise(
    host: Host, invocation: Invocation[Any], text: Annotated[str, Field(repr=False)], *, as_is: bool = False
) -> Recognised:
    """Recognise the servers in a pasted text; nothing is run, downloaded or written.

    `problem` says why a text was not recognised.
    """
    try:
        paste = await asyncio.to_thread(read_paste, text, Path.cwd(), as_is=as_is)
        if paste.document is not None:
            return await _document(host, paste, as_is, invocation.from_page)
        _check_program(host, paste)
        return {**_nothing(), "kind": paste.kind, "servers": [_server(host, paste)]}
    except (UsageError, ConfigError, Denied) as error:
        return _not_recognised(text.strip(), error)


def _check_program(host: Host, paste: Paste) -> None:
    """Refuse a command whose first word is not a program here: any sentence could be a command."""
    entry = paste.entry or {}
    if is_launcher(str(entry.get("command", ""))):
        return
    try:
        check_local(entry, host.core.connector.environ, Path.cwd())
    except UsageError as error:
        raise UsageError(error.message, hint="Install it first, or use the form to add it anyway.") from None


async def _document(host: Host, paste: Paste, as_is: bool, from_page: bool) -> Recognised:
    document = paste.document
    assert document is not None
    reading = await asyncio.to_thread(read_document, document, from_page=from_page)
    found: Recognised = {**_nothing(), "kind": paste.kind, "refused": dict(reading.refused)}
    # The content of a file is not sent back: the page has not seen it.
    text = None if await asyncio.to_thread(document.file.exists) else document.text
    found |= {"file": str(document.file), "text": text, "host": document.host, "digest": reading.digest}
    if len(reading.drafts) == 1:
        return {**found, "servers": [_server(host, of_draft(paste, reading, as_is=as_is))]}
    if not reading.drafts:
        return {**found, "kind": "nothing", "problem": "It contains no server."}
    return {**found, "servers": await _several(host, paste, from_page)}


async def _several(host: Host, paste: Paste, from_page: bool) -> list[RecognisedServer]:
    document = paste.document
    assert document is not None
    plans = await find_feature("clients").function("operations.imports:plans_of")(
        host, document, from_page=from_page
    )
    taken = set(host.config.names)
    return [
        {
            **_plain(server.name, taken=server.name in taken),
            "standing": server.standing,
            "way": "connect" if "url" in server.entry else "run",
            "reference": server.install,
            "words": _command(server.entry),
            "url": shown(without_secrets(str(server.entry.get("url", "")))),
            "secrets": sorted(server.secrets),
            "needed": document_needs(server.questions),
            "notes": list(server.notes),
        }
        for server in plans
    ]


def _server(host: Host, paste: Paste) -> RecognisedServer:
    taken = set(host.config.names)
    install, entry = paste.install, paste.entry or {}
    found = _plain(free_name(paste.name, taken), taken=paste.name in taken)
    found["notes"] = list(paste.notes)
    found["needed"] = document_needs(paste.questions.values())
    if install is None:
        found["way"] = "connect" if "url" in entry else "run"
        found["words"] = _command(entry)
        found["url"] = shown(without_secrets(str(entry.get("url", ""))))
        found["needed"] += needed_variables(entry.get("env") or {}, is_known=known_to(host))
        return found
    package, version = package_of(install.reference)
    found["way"] = "install"
    found["reference"], found["package"], found["version"] = install.reference, package, version
    found["words"] = [shown(argument) for argument in install.args]
    found["needed"] += needed_variables(install.env, install.reference, is_known=known_to(host))
    found["lookalike"] = _lookalike(install.reference)
    return found


def _not_recognised(text: str, error: ToolcribError) -> Recognised:
    answer: Recognised = {**_nothing(), "problem": error.message, "hint": error.hint}
    if " " in text or "\n" in text or not _BARE.fullmatch(text) or "/" in text.removeprefix("@"):
        return answer
    listed = by_name(text)
    if listed is not None:
        return {**answer, "kind": "ambiguous", "alternatives": [f"{listed.reference or listed.url}"]}
    likes = [_lookalike(f"{index}:{text}") for index in ("npm", "pypi")]
    near = next((lookalike for lookalike in likes if lookalike is not None), None)
    server: RecognisedServer = {**_plain(text), "package": text, "lookalike": near}
    return {
        **answer,
        "kind": "ambiguous",
        "alternatives": [f"npm:{text}", f"pypi:{text}"],
        "servers": [server] if near else [],
    }


def _lookalike(reference: str) -> LookAlike | None:
    index, _, _ = reference.partition(":")
    package, _ = package_of(reference)
    if not package:
        return None
    known = looks_like(index, package)
    if known is None:
        return None
    letters = distance(package.lower(), known.lower(), most=2)
    return {
        "name": known,
        "reference": f"{index}:{known}",
        "letters": letters,
        "listed": by_name(known) is not None,
    }


def _plain(name: str, *, taken: bool = False) -> RecognisedServer:
    return {
        "name": name,
        "taken": taken,
        "standing": "new",
        "way": "run",
        "reference": "",
        "package": "",
        "version": "",
        "words": [],
        "url": "",
        "secrets": [],
        "needed": [],
        "lookalike": None,
        "notes": [],
    }


def _nothing() -> Recognised:
    return {
        "kind": "nothing",
        "servers": [],
        "alternatives": [],
        "refused": {},
        "problem": "",
        "hint": "",
        "file": "",
        "text": None,
        "host": None,
        "digest": "",
    }


def _command(entry: object) -> list[str]:
    assert isinstance(entry, dict) or hasattr(entry, "get")
    parts = [str(entry.get("command", "")), *map(str, entry.get("args") or ())]
    return [shown(part) for part in parts if part]
