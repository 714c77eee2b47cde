"""`import_found`: the files of other hosts that are here, and how many servers each names."""

from __future__ import annotations

import asyncio
from pathlib import Path

from toolcrib.config.client_files.client import find_client
from toolcrib.config.client_files.places import find_places
from toolcrib.config.importing.finding import Source, find_sources
from toolcrib.config.importing.sources import read_source
from toolcrib.control.answers.importing import FoundSource
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.errors import ConfigError
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """The folder of a project whose files are looked at too; the host's own where none is named."""

    folder: str = ""


def needs(params: Params, configured: Configured) -> Needs:
    """The configuration alone."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> list[FoundSource]:
    """An array of `{host, title, file, table, workspace, servers, new, problem}`."""
    sources = await asyncio.to_thread(_find, params.folder)
    told = [await asyncio.to_thread(_told, host, source) for source in sources]
    return [one for one in told if one["servers"] or one["problem"]]


def _find(folder: str) -> list[Source]:
    return find_sources(find_places(), Path(folder).absolute() if folder else Path.cwd())


def _told(host: Host, source: Source) -> FoundSource:
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
