"""`doctor`: looks at everything that servers depend on, and at each server."""

from __future__ import annotations

import asyncio
from typing import cast

from pydantic import Field

from toolcrib import plugins
from toolcrib.config.paths import Paths
from toolcrib.control.answers.doctor import Checkup, Diagnosis
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.findings import Check, Finding, Place, broken, odd, well
from toolcrib.control.needs import EVERYTHING, Configured, Emit, Needs
from toolcrib.errors import ConfigError
from toolcrib.host import Host
from toolcrib.schema.servers import ServerState, ServerStatus

FOR_PAGES = True

CHECKS = "toolcrib.control.checks"


class Params(OperationParams):
    """How long to wait for servers that are starting."""

    wait: float = Field(default=20.0, ge=0, le=3600)


def needs(params: Params, configured: Configured) -> Needs:
    """Really connects."""
    return EVERYTHING


async def run(host: Host, params: Params, emit: Emit) -> Diagnosis:
    """`{ok, checks: [{name, verdict, detail, hint}]}`; `ok` is false when anything is broken."""
    place = Place(paths=host.paths, host=host)
    findings, servers = await asyncio.gather(_examine(place), _servers(host, params.wait))
    return _report([*findings, *servers])


async def run_without(paths: Paths, params: Params, error: ConfigError) -> Diagnosis:
    """The same, without the servers: no host can be opened, and this is when the doctor is needed most."""
    return _report(await _examine(Place(paths=paths, error=error)))


async def _examine(place: Place) -> list[Finding]:
    checks = [cast("Check", plugins.find(CHECKS, name)) for name in plugins.names(CHECKS)]
    found = await asyncio.gather(*(check.check(place) for check in checks))
    return [finding for findings in found for finding in findings]


async def _servers(host: Host, wait: float) -> list[Finding]:
    try:
        async with asyncio.timeout(wait):
            await host.servers.settle()
    except TimeoutError:
        pass
    return [_judge(status) for status in host.servers.statuses()]


def _judge(status: ServerStatus) -> Finding:
    name = f"server {status.name}"
    if status.state is ServerState.READY:
        junk = f"; {status.junk_lines} lines on its stdout were no messages" if status.junk_lines else ""
        failed = f"; it failed at {status.last_failure}" if status.last_failure else ""
        said = (
            f"{status.reason or 'ready'}, {status.tools} tool{'' if status.tools == 1 else 's'}{junk}{failed}"
        )
        hint = f"See what it said then with: toolcrib logs {status.name}" if failed else ""
        return odd(name, said, hint) if junk or failed else well(name, said)
    detail = f"{status.state}: {status.reason}" if status.reason else status.state.value
    if status.state is ServerState.DISABLED:
        return well(name, detail)
    if status.state in (ServerState.DEGRADED, ServerState.STARTING, ServerState.NEEDS_TRUST):
        return odd(name, detail, status.hint)
    return broken(name, detail, status.hint or f"See what it says with: toolcrib logs {status.name}")


def _report(findings: list[Finding]) -> Diagnosis:
    return {
        "ok": all(finding.verdict != "broken" for finding in findings),
        "checks": [cast("Checkup", finding.as_json()) for finding in findings],
    }
