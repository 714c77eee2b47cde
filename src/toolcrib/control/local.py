"""Runs an operation without a running host: opens as much of one as the operation needs, and closes it."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from toolcrib.config.paths import Paths
from toolcrib.config.store import ConfigStore
from toolcrib.control.dispatch import find_operation, read_params
from toolcrib.control.needs import Needs, OnEvent, Operation
from toolcrib.errors import ConfigError, NoHost
from toolcrib.host import open_host


class LocalCrib:
    """Operations in this process, each with a host of its own that ends with it."""

    running = False

    def __init__(self, home: Path | None, paths: Paths) -> None:
        self.socket = paths.socket
        self._home = home
        self._paths = paths

    async def run(
        self, operation: str, params: dict[str, Any] | None = None, on_event: OnEvent | None = None
    ) -> Any:
        """Run an operation; raises `NoHost` for what only a running host can do."""
        found = find_operation(operation)
        checked = read_params(found, params)
        needs = found.needs(checked, self._configured)
        if needs.running:
            raise NoHost(
                f"No host is running, and `{operation}` needs one.", hint="Start one with: toolcrib up"
            )
        return await self._run(found, checked, needs, on_event)

    async def _run(
        self, operation: Operation, params: BaseModel, needs: Needs, on_event: OnEvent | None
    ) -> Any:
        async def emit(event: Any) -> None:
            if on_event is not None:
                on_event(event)

        without = getattr(operation, "run_without", None)
        async with AsyncExitStack() as stack:
            try:
                host = await stack.enter_async_context(
                    open_host(self._home, exclusive=False, lazy=needs.lazy, only=needs.servers, watch=False)
                )
            except ConfigError as error:
                if without is None:
                    raise
                return await without(self._paths, params, error)
            return await operation.run(host, params, emit)

    def _configured(self) -> tuple[str, ...]:
        config = ConfigStore(self._paths.config_file, self._paths.files).read()
        return (*config.servers, *config.broken)
