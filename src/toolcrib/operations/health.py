"""`toolcrib doctor`: runs all checks, and decides which states of a server are a warning or broken, with
their hints. What is checked about the installation is in `checks/`."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, Protocol, cast

from pydantic import Field

from toolcrib import plugins
from toolcrib.config.paths import Paths
from toolcrib.errors import ConfigError, ToolcribError
from toolcrib.feature import features
from toolcrib.host import Host
from toolcrib.operations.lookup import servers_settled
from toolcrib.operations.operation import EVERYTHING, operation
from toolcrib.operations.params_model import OperationParams
from toolcrib.schema.servers import ServerState, ServerStatus
from toolcrib.schema.system_failures import explained

CHECKS = "toolcrib.operations.checks"


class DoctorParams(OperationParams):
    """How long to wait for servers that are starting."""

    wait: float = Field(default=20.0, ge=0, le=3600)


async def _examine_home(paths: Paths, params: DoctorParams, error: ConfigError) -> Diagnosis:
    """Check without the servers, because no host can be opened."""
    return _report(await _examine(CheckContext(paths=paths, error=error)))


@operation(page=True, needs=EVERYTHING, without_config=_examine_home)
async def doctor(host: Host, params: DoctorParams) -> Diagnosis:
    """Check the installation and each server.

    `ok` is false if anything is broken.
    """
    context = CheckContext(paths=host.paths, host=host)
    findings, servers = await asyncio.gather(_examine(context), _servers(host, params.wait))
    return _report([*findings, *servers])


async def _examine(context: CheckContext) -> list[CheckResult]:
    ours = ((name, partial(plugins.find, CHECKS, name)) for name in plugins.names(CHECKS))
    theirs = (
        (f"{feature.name} {name}", partial(feature.module, name))
        for feature in features()
        for name in feature.checks
    )
    found = await asyncio.gather(*(_run_check(name, find, context) for name, find in (*ours, *theirs)))
    return [finding for findings in found for finding in findings]


async def _run_check(name: str, find: Callable[[], Any], context: CheckContext) -> Sequence[CheckResult]:
    """Its findings, or the reason why it cannot be made: the others are reported all the same."""
    try:
        return await cast("CheckModule", find()).check(context)
    except (ToolcribError, OSError, sqlite3.Error) as error:
        reason = explained(error)
        if reason is None:
            raise
        return [broken(name.replace("_", " "), reason.message, reason.hint)]


async def _servers(host: Host, wait: float) -> list[CheckResult]:
    await servers_settled(host, wait)
    return [_judge(status) for status in host.servers.statuses()]


def _judge(status: ServerStatus) -> CheckResult:
    name = f"server {status.name}"
    if status.state is ServerState.READY:
        junk = f"; {status.junk_lines} lines on its stdout were not messages" if status.junk_lines else ""
        failed = f"; it failed at {status.last_failure}" if status.last_failure else ""
        detail = (
            f"{status.reason or 'ready'}, {status.tools} tool{'' if status.tools == 1 else 's'}{junk}{failed}"
        )
        hint = f"See its log with: toolcrib logs {status.name}" if failed else ""
        return warning(name, detail, hint) if junk or failed else ok(name, detail)
    detail = f"{status.state}: {status.reason}" if status.reason else status.state.value
    if status.state is ServerState.DISABLED:
        return ok(name, detail)
    if status.state in (ServerState.DEGRADED, ServerState.STARTING, ServerState.NEEDS_TRUST):
        return warning(name, detail, status.hint)
    return broken(name, detail, status.hint or f"See its log with: toolcrib logs {status.name}")


def _report(findings: list[CheckResult]) -> Diagnosis:
    return Diagnosis(ok=all(finding.verdict != "broken" for finding in findings), checks=findings)


Verdict = Literal["ok", "warning", "broken"]


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """The result of one check; `hint` says how to fix a problem."""

    name: str
    verdict: Verdict
    detail: str
    hint: str = ""


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """All checks; `ok` is false if anything is broken."""

    ok: bool
    checks: list[CheckResult]


@dataclass(frozen=True, kw_only=True)
class CheckContext:
    """What is checked: a home, and the host opened on it, if possible."""

    paths: Paths
    host: Host | None = None
    error: ConfigError | None = None
    """Why no host could be opened."""
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)


class CheckModule(Protocol):
    """The interface of a module in `operations/checks`."""

    async def check(self, context: CheckContext) -> list[CheckResult]:
        """Run the check; problems are returned, not raised."""


def ok(name: str, detail: str) -> CheckResult:
    return CheckResult(name=name, verdict="ok", detail=detail)


def warning(name: str, detail: str, hint: str = "") -> CheckResult:
    return CheckResult(name=name, verdict="warning", detail=detail, hint=hint)


def broken(name: str, detail: str, hint: str = "") -> CheckResult:
    return CheckResult(name=name, verdict="broken", detail=detail, hint=hint)
