"""`import_apply`: take in the servers of another host's file as they were shown; trusts and starts none."""

from __future__ import annotations

import asyncio
from copy import deepcopy

from toolcrib.config.contents import SERVERS
from toolcrib.config.importing.planning import Planned
from toolcrib.control.answers.importing import ImportPlan
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.control.server_notes import note_import
from toolcrib.control.taking_in import ImportParams, planned, planned_json, source_json
from toolcrib.errors import ConfigError, UsageError
from toolcrib.host import Host

FOR_PAGES = True


class Params(ImportParams):
    """The source, what a person decided, and the digest of what they were shown."""

    digest: str


def needs(params: Params, configured: Configured) -> Needs:
    """A change of the file."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> ImportPlan:
    """As `import_plan`, with `written` true where anything was."""
    reading, found = await planned(host, params)
    if reading.digest != params.digest:
        raise ConfigError(f"{reading.source.file} has changed meanwhile.", hint="Run the command again.")
    wanted = [one for one in found if one.action != "skip"]
    if wanted:
        for one in wanted:
            for name, value in one.secrets.items():
                await asyncio.to_thread(host.secrets.set, name, value)
        await asyncio.to_thread(_write, host, wanted)
        await asyncio.to_thread(note_import, host, [one.as_name for one in wanted], reading.title)
        await host.reload()
    return {
        "source": source_json(reading),
        "servers": [planned_json(one) for one in found],
        "refused": dict(reading.refused),
        "digest": reading.digest,
        "written": bool(wanted),
    }


def _write(host: Host, wanted: list[Planned]) -> None:
    """All of them in one change, or none."""
    with host.config_store.edit() as document:
        servers = document.setdefault(SERVERS, {})
        for one in wanted:
            if one.as_name in servers and one.action != "replace":
                raise UsageError(f"There is already a server called {one.as_name!r}.", hint="Run it again.")
            servers[one.as_name] = deepcopy(dict(one.entry))
