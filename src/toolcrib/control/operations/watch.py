"""`watch`: every server, then each change as it happens, for as long as somebody listens."""

from __future__ import annotations

from toolcrib.control.answers.servers import Watched
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import RUNNING, Configured, Emit, Needs
from toolcrib.control.shapes import server_json
from toolcrib.host import Host
from toolcrib.schema.events import ConfigChanged, ServerChanged, ServerRemoved
from toolcrib.schema.events import Event as HostEvent

Event = Watched
FOR_PAGES = False  # pages use the live stream, which sends the same events and can be resumed


class Params(OperationParams):
    """Nothing."""


def needs(params: Params, configured: Configured) -> Needs:
    """A host that goes on running."""
    return RUNNING


async def run(host: Host, params: Params, emit: Emit) -> None:
    """Emits `{"server": …}`, `{"removed": NAME}` and `{"config_error": …}`; ends with its listener."""
    with host.events.subscribe() as news:
        for status in host.servers.statuses():
            await emit({"server": server_json(status, host.caller.counts)})
        async for event in news:
            shown = _shown(host, event)
            if shown is not None:
                await emit(shown)


def _shown(host: Host, event: HostEvent) -> Watched | None:
    if isinstance(event, ServerChanged):
        return {"server": server_json(event.status, host.caller.counts)}
    if isinstance(event, ServerRemoved):
        return {"removed": event.name}
    if isinstance(event, ConfigChanged) and event.error is not None:
        return {"config_error": event.error}
    return None
