"""Runs a worker in the foreground: a host that runs workflows, reached by commands if it is the only one."""

from __future__ import annotations

import asyncio
import os
from contextlib import AsyncExitStack

from toolcrib.cli.foreground import ended_by_signals, loop_factory
from toolcrib.cli.host_connection import serve_operations
from toolcrib.cli.host_log import keep_log
from toolcrib.cli.output import note
from toolcrib.cli.surface import Surface
from toolcrib.host import Host, open_host
from toolcrib.host.database_key import signer_of
from toolcrib.host.lock import running_host
from toolcrib.host.trigger_loop import run_triggers


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
            worker = await _open(host, database)
            if alone:
                keep_log(host.paths.state / "host.log", host.core.masker.text)
                await stack.enter_async_context(serve_operations(host))
            await stack.enter_async_context(run_triggers(host))
            if not surface.answer({"worker": worker, "pid": os.getpid()}):
                note(f"The worker {worker} is ready. Stop it with Ctrl-C.")
            await ending.wait()


async def _open(host: Host, database: str | None) -> str:
    """Become a worker; a database in the arguments replaces the one of the settings."""
    runs = host.workflows.runs
    if database:
        runs.engine.url = database
        runs.engine.signer = await signer_of(database, host.core.secrets)
    return (await runs.open(note, take_over=True)).worker
