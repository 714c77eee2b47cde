"""What every command is given: how to answer, and the way to a host."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolcrib.cli import output
from toolcrib.cli.questions import can_ask, confirm
from toolcrib.errors import Denied

if TYPE_CHECKING:
    from toolcrib.config.paths import Paths
    from toolcrib.control.needs import Crib


@dataclass(frozen=True, kw_only=True)
class Surface:
    """One run of the program."""

    json: bool = False
    yes: bool = False
    debug: bool = False
    home: Path | None = None

    def reach(self) -> AbstractAsyncContextManager[Crib]:
        """The running host, or what opens one for each operation."""
        from toolcrib.control.reach import reach

        return reach(self.home)

    @property
    def paths(self) -> Paths:
        """Where this home's things live."""
        from toolcrib.config.paths import find_paths

        return find_paths(self.home)

    def answer(self, value: Any) -> bool:
        """Print the JSON form when it was asked for; True when that was the whole answer."""
        if self.json:
            output.print_json(value)
        return self.json

    def ask(self, question: str, *, refused: str) -> None:
        """Go on only after a yes; raises `Denied`. Without a terminal and without --yes the answer is no."""
        if self.yes:
            return
        if not can_ask():
            raise Denied(f"{refused} There is no terminal to ask on.", hint="Add --yes to agree beforehand.")
        if not confirm(question):
            raise Denied(refused)
