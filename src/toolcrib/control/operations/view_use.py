"""`view_use`: when each view of the gateway was last used, and how often today."""

from __future__ import annotations

import sqlite3
from datetime import datetime

from toolcrib.control.answers.connecting import ViewUse
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.control.shapes import moment
from toolcrib.host import Host
from toolcrib.store.moments import from_stored, to_stored

FOR_PAGES = True

_USED = """SELECT principal, max(time), sum(time >= ?) FROM calls
WHERE principal = 'gateway' OR principal LIKE 'gateway:%' GROUP BY principal"""


class Params(OperationParams):
    """Nothing."""


def needs(params: Params, configured: Configured) -> Needs:
    """The record alone."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> list[ViewUse]:
    """An array, in the order of `profile_list`."""
    midnight = datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)

    def look(connection: sqlite3.Connection) -> dict[str, tuple[int, int]]:
        rows = connection.execute(_USED, (to_stored(midnight),))
        return {principal: (last, today) for principal, last, today in rows}

    used = await host.audit.look(look)
    return [_use(name, used.get(_principal(name))) for name in ("", *host.settings.profiles)]


def _principal(name: str) -> str:
    return f"gateway:{name}" if name else "gateway"


def _use(name: str, used: tuple[int, int] | None) -> ViewUse:
    if used is None:
        return {"name": name, "today": 0, "last_call": None}
    last, today = used
    return {"name": name, "today": today, "last_call": moment(from_stored(last))}
