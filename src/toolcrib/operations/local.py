"""Runs operations without a running host: opens the parts of a host that each needs.

They are closed when the block ends, not before: a command shows its result first and then waits
for servers that are slow to stop.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from toolcrib.config.paths import Paths
from toolcrib.config.store import ConfigStore
from toolcrib.errors import ConfigError, NoHost
from toolcrib.host import Host, open_host
from toolcrib.operations.operation import EVERYTHING, Invocation, Needs
from toolcrib.operations.registry import find_operation
from toolcrib.schema.json_values import to_json

OnEvent = Callable[[Any], None]


class Runner(Protocol):
    """Runs operations by name; `client.Client` gives them types."""

    @property
    def running(self) -> bool:
        """True if a host that keeps running does the work."""

    @property
    def socket(self) -> Path:
        """Where a running host listens."""

    async def run(self, operation: str, params: dict[str, Any], on_event: OnEvent | None = None) -> Any:
        """Run an operation; raises `ToolcribError`."""


class LocalRunner:
    """Runs operations in this process; created by `local_runner`."""

    running = False

    def __init__(self, home: Path | None, paths: Paths, stack: AsyncExitStack) -> None:
        self.socket = paths.socket
        self._home = home
        self._paths = paths
        self._stack = stack
        self._hosts: list[tuple[Needs, Host]] = []

    async def run(self, operation: str, params: dict[str, Any], on_event: OnEvent | None = None) -> Any:
        """Run an operation; raises `NoHost` if it needs a running host."""

        async def emit(event: Any) -> None:
            if on_event is not None:
                on_event(event)

        found = find_operation(operation)
        checked = found.read(params)
        needs = found.needs(checked, self._configured)
        if needs.running:
            raise NoHost(
                "No host is running, but this operation needs one.", hint="Start one with: toolcrib up"
            )
        try:
            host = await self._host(needs)
        except ConfigError as error:
            if found.without_config is None:
                raise
            result = await found.without_config(self._paths, checked, error)
            return to_json(result) if found.result_holds_dataclass else result
        return await found.run(host, checked, Invocation(emit=emit))

    async def _host(self, needs: Needs) -> Host:
        for known, host in self._hosts:
            if known in (needs, EVERYTHING):  # one that has everything will do for any operation
                return host
        host = await self._stack.enter_async_context(
            open_host(self._home, exclusive=False, lazy=needs.lazy, only=needs.servers, watch=False)
        )
        self._hosts.append((needs, host))
        return host

    def _configured(self) -> tuple[str, ...]:
        config = ConfigStore(self._paths.config_file, self._paths.files).read()
        return config.names


@asynccontextmanager
async def local_runner(home: Path | None, paths: Paths) -> AsyncIterator[LocalRunner]:
    """Run operations in this process while the block runs."""
    async with AsyncExitStack() as stack:
        yield LocalRunner(home, paths, stack)
