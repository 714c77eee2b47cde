"""`recognise`: what a pasted text means; nothing is run, fetched or written to find out."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from pydantic import Field

from toolcrib.catalog.listing import by_name
from toolcrib.config.address_secrets import without_secrets
from toolcrib.config.hidden import shown
from toolcrib.config.importing.sources import Reading
from toolcrib.config.paste.checking import check_local
from toolcrib.config.paste.understanding import is_launcher
from toolcrib.control.answers.adding import LookAlike, Recognised, RecognisedServer
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needed import document_needs, known_to, needed_variables
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.control.reading_pastes import Paste, free_name, of_draft, package_of, read_document, read_paste
from toolcrib.control.taking_in import ImportParams, planned
from toolcrib.errors import ConfigError, Denied, ToolcribError, UsageError
from toolcrib.host import Host
from toolcrib.servers.installing.lookalikes import distance, looks_like

FOR_PAGES = True

_BARE = re.compile(r"[A-Za-z0-9@][A-Za-z0-9@/_.-]{1,120}")


class Params(OperationParams):
    """The text."""

    text: str = Field(repr=False)
    as_is: bool = False


def needs(params: Params, configured: Configured) -> Needs:
    """The configuration alone."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> Recognised:
    """What it is, and the servers in it; where it makes no sense, `problem` says why."""
    try:
        paste = await asyncio.to_thread(read_paste, params.text, Path.cwd(), as_is=params.as_is)
        if paste.document is not None:
            return await _document(host, paste, params.as_is)
        _check_program(host, paste)
        return {**_nothing(), "kind": paste.kind, "servers": [_server(host, paste)]}
    except (UsageError, ConfigError, Denied) as error:
        return _not_understood(host, params.text.strip(), error)


def _check_program(host: Host, paste: Paste) -> None:
    """Any sentence could be a command; one whose first word is no program here is none."""
    entry = paste.entry or {}
    if is_launcher(str(entry.get("command", ""))):
        return
    try:
        check_local(entry, host.connector.environ, Path.cwd())
    except UsageError as error:
        raise UsageError(
            error.message, hint="Install it first, or fill in the form to add it all the same."
        ) from None


async def _document(host: Host, paste: Paste, as_is: bool) -> Recognised:
    document = paste.document
    assert document is not None
    reading = await asyncio.to_thread(read_document, document)
    found: Recognised = {**_nothing(), "kind": paste.kind, "refused": dict(reading.refused)}
    # What stands in a file is not sent back: it may hold what the page has never seen.
    text = None if await asyncio.to_thread(document.file.exists) else document.text
    found |= {"file": str(document.file), "text": text, "host": document.host, "digest": reading.digest}
    if len(reading.drafts) == 1:
        return {**found, "servers": [_server(host, of_draft(paste, reading, as_is=as_is))]}
    if not reading.drafts:
        return {**found, "kind": "nothing", "problem": "There is no server in it."}
    return {**found, "servers": await _several(host, paste, reading)}


async def _several(host: Host, paste: Paste, reading: Reading) -> list[RecognisedServer]:
    document = paste.document
    assert document is not None
    params = ImportParams(file=str(document.file), host=document.host, text=document.text)
    _, plans = await planned(host, params)
    taken = {*host.config.servers, *host.config.broken}
    return [
        {
            **_plain(one.name, taken=one.name in taken),
            "standing": one.standing,
            "way": "connect" if "url" in one.entry else "run",
            "reference": one.install,
            "words": _words(one.entry),
            "url": shown(without_secrets(str(one.entry.get("url", "")))),
            "secrets": sorted(one.secrets),
            "needed": document_needs(one.questions),
            "notes": list(one.notes),
        }
        for one in plans
    ]


def _server(host: Host, paste: Paste) -> RecognisedServer:
    taken = {*host.config.servers, *host.config.broken}
    install, entry = paste.install, paste.entry or {}
    found = _plain(free_name(paste.name, taken), taken=paste.name in taken)
    found["notes"] = list(paste.notes)
    found["needed"] = document_needs(paste.questions.values())
    if install is None:
        found["way"] = "connect" if "url" in entry else "run"
        found["words"] = _words(entry)
        found["url"] = shown(without_secrets(str(entry.get("url", ""))))
        found["needed"] += needed_variables(entry.get("env") or {}, is_known=known_to(host))
        return found
    package, version = package_of(install.reference)
    found["way"] = "install"
    found["reference"], found["package"], found["version"] = install.reference, package, version
    found["words"] = [shown(word) for word in install.args]
    found["needed"] += needed_variables(install.env, install.reference, is_known=known_to(host))
    found["lookalike"] = _lookalike(install.reference)
    return found


def _not_understood(host: Host, text: str, error: ToolcribError) -> Recognised:
    answer: Recognised = {**_nothing(), "problem": error.message, "hint": error.hint}
    if " " in text or "\n" in text or not _BARE.fullmatch(text) or "/" in text.removeprefix("@"):
        return answer
    listed = by_name(text)
    if listed is not None:
        return {**answer, "kind": "ambiguous", "alternatives": [f"{listed.reference or listed.url}"]}
    likes = [_lookalike(f"{index}:{text}") for index in ("npm", "pypi")]
    near = next((one for one in likes if one is not None), None)
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


def _words(entry: object) -> list[str]:
    assert isinstance(entry, dict) or hasattr(entry, "get")
    words = [str(entry.get("command", "")), *map(str, entry.get("args") or ())]
    return [shown(word) for word in words if word]
