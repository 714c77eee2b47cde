"""Where operations run: in the running host, or in this process. The caller need not know which."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

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
