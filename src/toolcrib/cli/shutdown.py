"""How a host in the foreground ends: the first signal asks, the second hurries, the third insists."""

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


class Ending:
    """Waits for the end; knows the processes to kill when somebody is in a hurry."""

    def __init__(self) -> None:
        self._asked = asyncio.Event()
        self._count = 0
        self._groups: list[int] = []
        self.host: Host | None = None
        self.restore: Callable[[], None] = lambda: None
        """Puts the terminal right, for the end that allows nothing else."""

    @property
    def asked(self) -> bool:
        """True once the end was asked for."""
        return self._asked.is_set()

    async def wait(self) -> None:
        """Until the end is asked for."""
        await self._asked.wait()

    def ask(self) -> None:
        """One more signal."""
        self._count += 1
        if self._count == 1:
            # Noted now: a host that is closing has let go of its servers.
            self._groups = _groups(self.host)
            self._asked.set()
            return
        if self._count == 2:
            for group in self._groups:
                signal_group(group, signal.SIGKILL)
            return
        self.restore()
        # What is left of the servers is ended by the watchdog.
        os._exit(1)


def _groups(host: Host | None) -> list[int]:
    if host is None:
        return []
    return [status.pid for status in host.servers.statuses() if status.pid not in (None, os.getpid())]


@contextmanager
def heeding(ending: Ending) -> Iterator[None]:
    """Signals go to this ending while the block runs."""
    loop = asyncio.get_running_loop()
    for one in SIGNALS:
        loop.add_signal_handler(one, ending.ask)
    try:
        yield
    finally:
        for one in SIGNALS:
            loop.remove_signal_handler(one)
