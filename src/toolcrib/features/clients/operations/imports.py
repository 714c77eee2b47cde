"""Importing servers from other programs' config files: what is found, the plan, writing it, and which files
the page may read.
"""

from __future__ import annotations

import asyncio
from copy import deepcopy
from pathlib import Path
from typing import Any

from pydantic import Field

from toolcrib.config.contents import SERVERS
from toolcrib.config.drafts import DraftSource, SourceContents
from toolcrib.config.paste.pasted import PastedDocument
from toolcrib.config.secret_detection import looks_secret
from toolcrib.errors import ConfigError, Denied, MissingSecret, UsageError
from toolcrib.features.clients.files.client import find_client
from toolcrib.features.clients.files.gateway import find_user_folders
from toolcrib.features.clients.results import (
    FoundSource,
    ImportPlan,
    ImportPlanned,
)
from toolcrib.features.clients.transfer.plan import Action, Decision, KnownServers, PlannedImport, plan
from toolcrib.features.clients.transfer.sources import (
    find_sources,
    read_file,
    read_source,
    read_words,
)
from toolcrib.host import Host
from toolcrib.operations.operation import Invocation, operation
from toolcrib.operations.params_model import OperationParams
from toolcrib.operations.server_notes import note_import


@operation(page=True)
async def import_found(host: Host, *, folder: str = "") -> list[FoundSource]:
    """List the config files of other programs found here, and their servers."""
    sources = await asyncio.to_thread(_find, folder)
    found = [await asyncio.to_thread(_found_json, host, source) for source in sources]
    return [source for source in found if source["servers"] or source["problem"]]


def _find(folder: str) -> list[DraftSource]:
    return find_sources(find_user_folders(), Path(folder).absolute() if folder else Path.cwd())


def _found_json(host: Host, source: DraftSource) -> FoundSource:
    problem, names = "", []
    try:
        names = [draft.name for draft in read_source(source).drafts]
    except ConfigError as error:
        problem = error.message
    known = {*host.config.servers, *host.config.broken}
    return {
        "host": source.host,
        "title": find_client(source.host).title,
        "file": str(source.file),
        "table": list(source.table),
        "workspace": str(source.workspace) if source.workspace else None,
        "servers": names,
        "new": [name for name in names if name not in known],
        "problem": problem,
    }


class ImportPlanParams(OperationParams):
    """A source, and the user's decisions; `text` is the pasted content of a file."""

    file: str
    host: str | None = None
    table: list[str] | None = None
    workspace: str | None = None
    text: str | None = Field(default=None, repr=False)
    only: list[str] = Field(default_factory=list)
    choices: dict[str, Decision] = Field(default_factory=dict)
    otherwise: Action = "skip"
    answers: dict[str, str] = Field(default_factory=dict, repr=False)


@operation(page=True)
async def import_plan(host: Host, invocation: Invocation[Any], params: ImportPlanParams) -> ImportPlan:
    """Show what importing servers from another program's file would do; nothing is written."""
    reading, found = await _planned(host, params, from_page=invocation.from_page)
    return _plan_json(reading, found, written=False)


class ImportApplyParams(ImportPlanParams):
    """The source, the user's decisions, and the digest of the plan that was shown."""

    digest: str


@operation(page=True)
async def import_apply(host: Host, invocation: Invocation[Any], params: ImportApplyParams) -> ImportPlan:
    """Import the servers as shown; none is trusted or started.

    `written` is true if anything was written.
    """
    reading, found = await _planned(host, params, from_page=invocation.from_page)
    if reading.digest != params.digest:
        raise ConfigError(f"{reading.source.file} has changed meanwhile.", hint="Run the command again.")
    wanted = [server for server in found if server.action != "skip"]
    if wanted:
        for server in wanted:
            for name, value in server.secrets.items():
                await asyncio.to_thread(host.core.secrets.set, name, value)
        await asyncio.to_thread(_write, host, wanted)
        await asyncio.to_thread(note_import, host, [server.as_name for server in wanted], reading.title)
        await host.reload()
    return _plan_json(reading, found, written=bool(wanted))


def _write(host: Host, wanted: list[PlannedImport]) -> None:
    """Write all servers in one change, or none."""
    with host.core.config_store.edit() as document:
        servers = document.setdefault(SERVERS, {})
        for server in wanted:
            name = server.as_name
            if name in servers and server.action != "replace":
                raise UsageError(f"There is already a server called {name!r}.", hint="Run it again.")
            servers[name] = deepcopy(dict(server.entry))


async def _planned(
    host: Host, params: ImportPlanParams, *, from_page: bool
) -> tuple[SourceContents, list[PlannedImport]]:
    """Read the source and plan the import."""
    reading = await asyncio.to_thread(_read, params, from_page)
    return reading, await asyncio.to_thread(_plan, host, params, reading)


def _plan(host: Host, params: ImportPlanParams, reading: SourceContents) -> list[PlannedImport]:
    config = host.config
    servers = {name: entry.raw for name, entry in config.servers.items()}
    known = KnownServers(
        servers={**servers, **dict.fromkeys(config.broken)},
        stored=lambda name: _stored(host, name),
        looks_secret=looks_secret,
    )
    return plan(
        reading,
        known,
        only=params.only,
        choices=params.choices,
        otherwise=Decision(action=params.otherwise),
        answers=params.answers,
    )


def _read(params: ImportPlanParams, from_page: bool) -> SourceContents:
    file = Path(params.file)
    if params.text is not None:
        return read_words(params.text, file, params.host)
    check_readable(file, from_page=from_page)
    if params.host is None or params.table is None:
        return read_file(file, params.host)
    workspace = Path(params.workspace) if params.workspace else None
    return read_source(
        DraftSource(host=params.host, file=file, table=tuple(params.table), workspace=workspace)
    )


def read_document(text: str, file: Path, host: str | None, *, from_page: bool) -> SourceContents:
    """The servers of a pasted text, or of the file that it names; raises `Denied` for the page."""
    if file.exists():
        check_readable(file, from_page=from_page)
    return read_words(text, file, host)


async def plans_of(host: Host, document: PastedDocument, *, from_page: bool) -> list[PlannedImport]:
    """How each server of a pasted document would be imported."""
    params = ImportPlanParams(file=str(document.file), host=document.host, text=document.text)
    return (await _planned(host, params, from_page=from_page))[1]


def check_readable(file: Path, *, from_page: bool) -> None:
    """Raise `Denied` if the page asks for a file that is not the config file of a known host."""
    if from_page and not _is_known_place(file):
        raise Denied(
            f"{file} is not the config file of a known host.",
            hint="Paste its content, or use the command: toolcrib import FILE",
        )


def _is_known_place(file: Path) -> bool:
    """True for a file that `import_found` could return; the page cannot read others."""
    places = find_user_folders()
    folders = {file.parent, file.parent.parent}
    return any(source.file == file for folder in folders for source in find_sources(places, folder))


def _stored(host: Host, name: str) -> str | None:
    try:
        return host.core.secrets.get(name)
    except MissingSecret:
        # It exists, but the keyring does not return it: treat it as a different value.
        return "\0"


def _plan_json(reading: SourceContents, found: list[PlannedImport], *, written: bool) -> ImportPlan:
    source = reading.source
    return {
        "source": {"host": source.host, "title": reading.title, "file": str(source.file)},
        "servers": [_planned_json(server) for server in found],
        "refused": dict(reading.refused),
        "digest": reading.digest,
        "written": written,
    }


def _planned_json(server: PlannedImport) -> ImportPlanned:
    """The server as JSON, without the values of secrets."""
    return {
        "name": server.name,
        "as": server.as_name,
        "standing": server.standing,
        "action": server.action,
        "entry": dict(server.entry),
        "secrets": sorted(server.secrets),
        "waiting": list(server.waiting),
        "questions": list(server.questions),
        "notes": list(server.notes),
        "remarks": list(server.remarks),
        "install": server.install,
    }
