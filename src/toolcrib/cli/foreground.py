"""Runs a host in the foreground: its event loop, and what Ctrl-C and other signals do.

The first signal ends it in order, the second kills its servers, the third ends the process at once.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from toolcrib.servers.processes.orphans import signal_group

if TYPE_CHECKING:
    from toolcrib.host import Host

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop's, if it is installed."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


class Ending:
    """Waits for the first signal, and handles those that follow."""

    def __init__(self) -> None:
        self._requested = asyncio.Event()
        self._count = 0
        self._groups: list[int] = []
        self.host: Host | None = None
        self.again = False
        """The host is to be opened again."""
        self.restore: Callable[[], None] = lambda: None
        """Restores the terminal when the process ends at once."""

    async def wait(self) -> None:
        """Wait for the first signal."""
        await self._requested.wait()

    def reopen(self) -> None:
        """End the host in order, to open it again."""
        self.again = self._count == 0
        self._requested.set()

    def request(self) -> None:
        """Handle a signal."""
        self._count += 1
        self.again = False
        if self._count == 1:
            # Collected now: a host that is closing no longer knows its servers.
            self._groups = _groups(self.host)
            self._requested.set()
            return
        if self._count == 2:
            for group in self._groups:
                signal_group(group, signal.SIGKILL)
            return
        self.restore()
        # The watchdog ends the servers that are left.
        os._exit(1)


def _groups(host: Host | None) -> list[int]:
    if host is None:
        return []
    return [status.pid for status in host.servers.statuses() if status.pid not in (None, os.getpid())]


@contextmanager
def ended_by_signals() -> Iterator[Ending]:
    """Signals go to the ending while the block runs."""
    ending = Ending()
    loop = asyncio.get_running_loop()
    for number in SIGNALS:
        loop.add_signal_handler(number, ending.request)
    try:
        yield ending
    finally:
        for number in SIGNALS:
            loop.remove_signal_handler(number)
