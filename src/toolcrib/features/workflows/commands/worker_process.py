"""Runs a worker in the foreground: a host that runs workflows, reached by commands if it is the only one.
Prints which servers are not ready and what to do.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import AsyncExitStack

from toolcrib.cli.foreground import ended_by_signals, loop_factory
from toolcrib.cli.host_connection import serve_operations, warn_of_incident
from toolcrib.cli.host_log import keep_log
from toolcrib.cli.output import note
from toolcrib.cli.surface import Surface
from toolcrib.features.workflows.runs import WorkflowRuns
from toolcrib.features.workflows.startup import run_triggers
from toolcrib.host import Host, open_host
from toolcrib.host.database_key import signer_of
from toolcrib.host.lock import running_host
from toolcrib.schema.events import CallFinished
from toolcrib.schema.servers import ServerState, ServerStatus
from toolcrib.tasks import cancel_and_wait


def run_worker(surface: Surface, database: str | None) -> int:
    """Run until a signal; returns the exit code."""
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(_run(surface, database))
    return 0


async def _run(surface: Surface, database: str | None) -> None:
    with ended_by_signals() as ending:
        alone = running_host(surface.paths.lock_file) is None
        opened = open_host(surface.home, exclusive=alone, continue_runs=False)
        async with opened as host, AsyncExitStack() as stack:
            ending.host = host
            warn_of_incident(host.paths)
            worker = await _open(host, database)
            if alone:
                keep_log(host.paths.state / "host.log", host.core.masker.text)
                await stack.enter_async_context(serve_operations(host))
            await stack.enter_async_context(run_triggers(host))
            if not surface.answer({"worker": worker, "pid": os.getpid()}):
                note(f"The worker {worker} is ready. Stop it with Ctrl-C.")
            telling = asyncio.create_task(_tell_servers(host), name="servers that are not ready")
            stack.push_async_callback(cancel_and_wait, telling)
            await ending.wait()


async def _tell_servers(host: Host) -> None:
    """Name the servers that are not ready and what to do, now and when that changes."""
    told: dict[str, str] = {}
    with host.events.subscribe(without=CallFinished) as events:
        while True:
            for status in host.servers.statuses():
                if status.state is ServerState.STARTING:
                    continue
                trouble = _trouble(status)
                if trouble != told.get(status.name, ""):
                    note(trouble or f"{status.name} is ready.")
                    told[status.name] = trouble
            await events.next()


def _trouble(status: ServerStatus) -> str:
    """Empty for one that is ready, or that the user turned off."""
    if status.state in (ServerState.READY, ServerState.DEGRADED, ServerState.DISABLED):
        return ""
    hint = status.hint or f"See its log with: toolcrib logs {status.name}"
    return f"{status.name} is not ready ({status.state}): {status.reason} {hint}"


async def _open(host: Host, database: str | None) -> str:
    """Become a worker; a database in the arguments replaces the one of the settings."""
    runs: WorkflowRuns = host.workflows.runs
    if database:
        runs.engine.url = database
        runs.engine.signer = await signer_of(database, host.core.secrets)
    return (await runs.open(note, take_over=True)).worker
