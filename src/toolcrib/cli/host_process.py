"""Runs the host in the foreground with its gateway, page, socket and display, and closes it in order; waits
while a restore replaces its files (time limit)."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from toolcrib.cli.browser import can_open, open_address
from toolcrib.cli.foreground import Ending, ended_by_signals, loop_factory
from toolcrib.cli.host_connection import serve_operations, warn_of_incident
from toolcrib.cli.host_log import keep_log
from toolcrib.cli.surface import Surface
from toolcrib.gateway.bridge import bridge_handlers
from toolcrib.host import open_host
from toolcrib.loading import preload

if TYPE_CHECKING:
    from toolcrib.web.serving import Served

RESTORE_WAIT = 600.0
"""Seconds for which a host that was closed for a restore waits for it."""
View = AbstractAsyncContextManager[None]


@dataclass(frozen=True, kw_only=True)
class Page:
    """Options of the page; without a port it gets the default one or the next free one."""

    port: int | None = None
    browser: bool = True


def run_host(surface: Surface, page: Page | None = None) -> int:
    """Run until a signal; returns the exit code."""
    page = page or Page()
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        while runner.run(_run(surface, page)):
            page = replace(page, browser=False)
            _wait_for_restore(surface)
    return 0


def _wait_for_restore(surface: Surface) -> None:
    """Wait until the command that replaces the files has ended, however it ends."""
    from toolcrib.config.file_swap import recovered

    with recovered(surface.paths.restore_journal, RESTORE_WAIT):
        pass


async def _run(surface: Surface, page: Page) -> bool:
    """Run the host once; True if it is to be opened again."""
    with ended_by_signals() as ending:
        async with open_host(surface.home, exclusive=True, handlers=bridge_handlers()) as host:
            ending.host = host
            host.reopen = ending.reopen
            warn_of_incident(host.paths)
            keep_log(host.paths.state / "host.log", host.core.masker.text)
            await preload(
                "toolcrib.cli.plain_view",
                "toolcrib.ipc.server",
                "toolcrib.host.chat_services",
                "toolcrib.web.serving",
            )
            from toolcrib.host.features import background
            from toolcrib.web.serving import serve_page

            async with serve_page(host, port=page.port) as served, serve_operations(host), background(host):
                if page.browser and not surface.json and can_open():
                    open_address(served.sign_in_address())
                async with _view(surface, served, ending):
                    await ending.wait()
        return ending.again


def _view(surface: Surface, served: Served, ending: Ending) -> View:
    from toolcrib.cli.plain_view import announce_json, plain_view

    if surface.json:
        return announce_json(served)
    if not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
        return plain_view(served)
    from toolcrib.cli.live_view import live_view

    return live_view(served, ending)
