"""What a module of `servers/installers` offers.

* `recognises(reference)`: whether this installer is meant by the words a person gave; touches no network.
* `plan(request, bench)`: what would happen, as data. It may ask the package index, and runs no code of the
  package.
* `apply(plan, folder, bench)`: fill the folder of this version, and say how the server is launched. It may be
  cancelled at any moment; the folder is thrown away then.
* `newest(record, bench)`: the newest version there is, or None where nobody can know (a file, a folder).
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from toolcrib.servers.installing.context import InstallContext
from toolcrib.servers.installing.plan import Launch, Plan, Record, Request

INSTALLERS = "toolcrib.servers.installers"


class Installer(Protocol):
    """A module of the folder."""

    def recognises(self, reference: str) -> bool:
        """True when the reference is one of this installer's."""

    async def plan(self, request: Request, bench: InstallContext) -> Plan:
        """What would happen; raises `ToolcribError`."""

    async def apply(self, plan: Plan, folder: Path, bench: InstallContext) -> Launch:
        """Do it, inside this folder alone; raises `ToolcribError`."""

    async def newest(self, record: Record, bench: InstallContext) -> str | None:
        """The newest version's number."""
