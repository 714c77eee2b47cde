"""The first parameter of every command: its shared options, access to a host, the default of `--wait`, and
the question that `--yes` answers."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolcrib.cli import output
from toolcrib.errors import Denied

if TYPE_CHECKING:
    from toolcrib.config.paths import Paths
    from toolcrib.operations.client import Client

START_WAIT = 20.0
"""Seconds to wait for servers that have to be started first."""


@dataclass(frozen=True, kw_only=True)
class Surface:
    """The shared options of one run."""

    json: bool = False
    yes: bool = False
    debug: bool = False
    home: Path | None = None

    def reach(self) -> AbstractAsyncContextManager[Client]:
        """A client of the running host, or of one in this process."""
        from toolcrib.cli.host_connection import reach

        return reach(self.home)

    @property
    def paths(self) -> Paths:
        from toolcrib.config.paths import find_paths

        return find_paths(self.home)

    def answer(self, value: Any) -> bool:
        """With `--json`, print the value and return True."""
        if self.json:
            output.print_json(value)
        return self.json

    def start_wait(self, wait: float | None, client: Client, *, running: float = 2.0) -> float:
        """The value of `--wait`; the default is shorter in a running host, whose servers have started."""
        if wait is not None:
            return wait
        return running if client.running else START_WAIT

    def ask(self, question: str, *, refused: str) -> None:
        """Ask for a yes, or raise `Denied`; without a terminal and without --yes it is denied."""
        if self.yes:
            return
        from toolcrib.cli.questions import can_ask, confirm

        if not can_ask():
            raise Denied(f"{refused} There is no terminal to ask on.", hint="Add --yes to agree in advance.")
        if not confirm(question):
            raise Denied(refused)
