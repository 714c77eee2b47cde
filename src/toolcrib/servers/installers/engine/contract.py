"""The contract of an installer module, and what it works with.

An installer may be cancelled at any moment: the folder of the unfinished version is then removed.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from toolcrib.config.paths import make_private
from toolcrib.servers.installers.engine.plan import InstallRequest, LaunchCommand, Plan, Record
from toolcrib.servers.installers.engine.runner import CommandRunner

INSTALLERS = "toolcrib.servers.installers"

Stage = Literal["runtime", "resolve", "fetch", "copy", "scripts", "build", "activate"]


@dataclass(frozen=True)
class InstallProgress:
    """Progress of an installation; `total` is 0 if unknown."""

    stage: Stage
    detail: str
    done: int = 0
    total: int = 0


Progress = Callable[[InstallProgress], None]
"""Must not block."""


def no_progress(step: InstallProgress) -> None:
    """Ignores the report."""


BROKEN = "Only its author can repair this; an earlier version may work: NAME@VERSION or NAME==VERSION."
"""The hint for a package whose own dependencies cannot be had."""


@dataclass(frozen=True, kw_only=True)
class InstallContext:
    """Settings and services for one installation."""

    runtimes: Path
    """The folder of downloaded Node versions."""
    cache: Path
    place: Path
    """The folder of the version being planned or installed."""
    runner: CommandRunner = field(default_factory=CommandRunner)
    progress: Progress = no_progress
    offline: bool = False
    fetch_runtimes: bool = True
    """Whether a missing Node may be downloaded now; a plan that is only shown must not download it."""
    remarks: list[str] = field(default_factory=list)
    """Warnings about the installed files, which the plan could not know."""

    def new_plan(self, request: InstallRequest, *, entry: dict[str, Any], **fields: Any) -> Plan:
        """A plan for the request; its arguments and variables are added to those of the entry."""
        args = [*entry.get("args", ()), *request.args]
        fields.setdefault("options", request.options)
        return Plan(
            name=request.name,
            reference=request.reference,
            place=str(self.place),
            entry={**entry, "args": args, "env": {**entry.get("env", {}), **request.env}},
            **fields,
        )

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """A temporary folder, removed on exit."""
        make_private(self.cache)
        folder = Path(tempfile.mkdtemp(prefix="plan-", dir=self.cache))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


class Installer(Protocol):
    """A module of `servers/installers`."""

    def recognises(self, reference: str) -> bool:
        """Whether this installer handles the reference; uses no network."""

    async def plan(self, request: InstallRequest, context: InstallContext) -> Plan:
        """What would be installed. May query the package index; runs no code of the package."""

    async def apply(self, plan: Plan, folder: Path, context: InstallContext) -> LaunchCommand:
        """Install into `folder` and nowhere else; returns how to start the server."""

    async def newest(self, record: Record, context: InstallContext) -> str | None:
        """The newest available version; None if unknown (a file or folder)."""
