"""Runs operations without a running host: opens as much of one as each needs, and closes it at the end.

What was opened is closed when the block is left, not before: a command shows its answer first and then waits
for servers that are slow to go.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from toolcrib.config.paths import Paths
from toolcrib.config.store import ConfigStore
from toolcrib.control.dispatch import find_operation, read_params
from toolcrib.control.needs import Needs, OnEvent
from toolcrib.errors import ConfigError, NoHost
from toolcrib.host import Host, open_host


class LocalCrib:
    """Operations in this process; `local_crib` makes one."""

    running = False

    def __init__(self, home: Path | None, paths: Paths, stack: AsyncExitStack) -> None:
        self.socket = paths.socket
        self._home = home
        self._paths = paths
        self._stack = stack
        self._hosts: list[tuple[Needs, Host]] = []

    async def run(
        self, operation: str, params: dict[str, Any] | None = None, on_event: OnEvent | None = None
    ) -> Any:
        """Run an operation; raises `NoHost` for what only a running host can do."""

        async def emit(event: Any) -> None:
            if on_event is not None:
                on_event(event)

        found = find_operation(operation)
        checked = read_params(found, params)
        needs = found.needs(checked, self._configured)
        if needs.running:
            raise NoHost("No host is running, and this needs one.", hint="Start one with: toolcrib up")
        try:
            host = await self._host(needs)
        except ConfigError as error:
            without = getattr(found, "run_without", None)
            if without is None:
                raise
            return await without(self._paths, checked, error)
        return await found.run(host, checked, emit)

    async def _host(self, needs: Needs) -> Host:
        for known, host in self._hosts:
            if known == needs:
                return host
        host = await self._stack.enter_async_context(
            open_host(self._home, exclusive=False, lazy=needs.lazy, only=needs.servers, watch=False)
        )
        self._hosts.append((needs, host))
        return host

    def _configured(self) -> tuple[str, ...]:
        config = ConfigStore(self._paths.config_file, self._paths.files).read()
        return (*config.servers, *config.broken)


@asynccontextmanager
async def local_crib(home: Path | None, paths: Paths) -> AsyncIterator[LocalCrib]:
    """Operations in this process, for as long as the block lasts."""
    async with AsyncExitStack() as stack:
        yield LocalCrib(home, paths, stack)
