"""How much of a host an operation needs when none is running."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pydantic import BaseModel

    from toolcrib.host import Host

Emit = Callable[[Any], Awaitable[None]]
"""Tells the caller something before the answer; waits while the caller is slow to listen."""
Configured = Callable[[], Collection[str]]
"""The names of the configured servers, read when asked for."""


@dataclass(frozen=True, kw_only=True)
class Needs:
    """What is opened for an operation."""

    servers: Collection[str] | None = None
    """Only these; None for all."""
    lazy: bool = False
    """Servers with a known tool list start only when they are called."""
    running: bool = False
    """Makes sense only for a host that goes on running."""


NOTHING = Needs(servers=())
EVERYTHING = Needs()
RUNNING = Needs(servers=(), running=True)


def one(name: str) -> Needs:
    """This server alone."""
    return Needs(servers=(name,))


class Operation(Protocol):
    """What a module of `control/operations` offers.

    `FOR_PAGES = True` offers it to the web page too; without it, only the command line and Python reach it.
    It may also offer `run_without(paths, params, error)`, for when no host can be opened.
    """

    Params: type[BaseModel]

    def needs(self, params: Any, configured: Configured) -> Needs:
        """What is opened for it when no host is running."""

    def run(self, host: Host, params: Any, emit: Emit) -> Awaitable[Any]:
        """Do it; the result is the documented `--json` of the command of the same name."""


class Crib(Protocol):
    """Where operations run; the command line does not know which kind it has."""

    @property
    def running(self) -> bool:
        """True when a host that goes on running does the work."""

    @property
    def socket(self) -> Path:
        """Where a running host listens."""

    async def run(
        self, operation: str, params: dict[str, Any] | None = None, on_event: OnEvent | None = None
    ) -> Any:
        """Run an operation; raises `ToolcribError`."""


OnEvent = Callable[[Any], None]
"""Called with what an operation tells on the way."""
