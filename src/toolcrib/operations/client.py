"""Calls every operation as a method, with keyword arguments; `client.pyi` has their types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from toolcrib.operations.local import OnEvent, Runner


class Client:
    """`await client.call(tool="demo__add", arguments={"a": 1, "b": 2})`"""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    @property
    def running(self) -> bool:
        return self._runner.running

    @property
    def socket(self) -> Path:
        return self._runner.socket

    def __getattr__(self, operation: str) -> Callable[..., Awaitable[Any]]:
        if operation.startswith("_"):
            raise AttributeError(operation)

        def run(*, on_event: OnEvent | None = None, **params: Any) -> Awaitable[Any]:
            return self._runner.run(operation, params, on_event)

        return run
