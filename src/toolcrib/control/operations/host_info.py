"""`host_info`: the host that answers, and the numbers that every page shows."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

from toolcrib import __version__
from toolcrib.control.answers.overview import HostCounts, HostInfo, Today
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.lookup import UP
from toolcrib.control.needs import RUNNING, Configured, Emit, Needs
from toolcrib.control.shapes import moment
from toolcrib.control.waiting import gather_waiting
from toolcrib.errors import NoModel
from toolcrib.host import Host
from toolcrib.schema.servers import ServerState
from toolcrib.store.turns_taken import sums

FOR_PAGES = True

_TROUBLE = (ServerState.FAILED, ServerState.BACKOFF, ServerState.DEGRADED)


class Params(OperationParams):
    """Nothing."""


def needs(params: Params, configured: Configured) -> Needs:
    """The host itself."""
    return RUNNING


async def run(host: Host, params: Params, emit: Emit) -> HostInfo:
    """What it is, where its things are, and `counts` and `today`."""
    paths, base = host.paths, host.pages.address
    return {
        "version": __version__,
        "pid": os.getpid(),
        "home": str(paths.home or paths.config_file.parent),
        "user_home": str(Path.home()),
        "address": base,
        "gateway": None if base is None else f"{base}/mcp",
        "started": moment(host.started),
        "config": str(paths.config_file),
        "log": str(paths.state / "host.log"),
        "switched_on": host.settings.global_enabled,
        "mode": host.approvals.mode,
        "model": _model(host),
        "counts": await _counts(host),
        "today": await _today(host),
    }


async def _counts(host: Host) -> HostCounts:
    states = [status.state for status in host.servers.statuses()]
    return {
        "servers": len(states) + _coming(host),
        "up": sum(state in UP for state in states),
        "trouble": sum(state in _TROUBLE for state in states),
        "off": states.count(ServerState.DISABLED),
        "needs_you": len(await gather_waiting(host)),
        "tools": len(host.tools()),
        "calls_running": host.caller.counts.in_flight,
        "chats": await host.audit.look(
            lambda connection: int(connection.execute("SELECT COUNT(*) FROM chats").fetchone()[0])
        ),
    }


def _coming(host: Host) -> int:
    """Those that are being installed and are in no file yet; lists show them among the others."""
    known = (*host.config.servers, *host.config.broken)
    return sum(setup.installing and setup.name not in known for setup in host.setups.all())


async def _today(host: Host) -> Today:
    midnight = datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    used, written, cost = await host.audit.look(lambda connection: sums(connection, midnight))
    return {"tokens": used + written, "input": used, "output": written, "cost": cost}


def _model(host: Host) -> str | None:
    try:
        return host.models.choose()
    except NoModel:
        return None
