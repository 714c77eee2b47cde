"""`outdated`: which installed servers there is a newer version of; nothing is changed."""

from __future__ import annotations

import asyncio

from toolcrib.control import failures
from toolcrib.control.answers.installing import VersionLook
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.installing import installations_of, version_json
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.control.server_notes import note_newest
from toolcrib.host import Host
from toolcrib.servers.installing.installations import Installations

FOR_PAGES = True

AT_ONCE = 3


class Params(OperationParams):
    """One server, or all."""

    name: str | None = None


def needs(params: Params, configured: Configured) -> Needs:
    """The installed versions alone."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> list[VersionLook]:
    """`[{name, …the active version, newest, outdated, error, kept}]`, by name."""
    installations = installations_of(host)
    names = [params.name] if params.name else await asyncio.to_thread(installations.names)
    turns = asyncio.Semaphore(AT_ONCE)

    async def look(name: str) -> VersionLook:
        async with turns:
            return await _look(installations, name)

    found = list(await asyncio.gather(*(look(name) for name in names)))
    known = {one["name"]: one["newest"] for one in found if one["newest"]}
    if known:
        await asyncio.to_thread(note_newest, host, known)
    return found


async def _look(installations: Installations, name: str) -> VersionLook:
    found = await installations.newest(name)
    versions = await asyncio.to_thread(installations.place(name).versions)
    return {
        "name": name,
        **version_json(found.record),
        "newest": found.newest,
        "outdated": found.outdated,
        "error": failures.to_json(found.error) if found.error else None,
        "kept": [version_json(one) for one in versions if one.id != found.record.id],
    }
