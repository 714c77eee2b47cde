"""A server being added, installed or tested: the names of its steps, its progress, and the options of a
reinstallation that may help if it does not start.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from toolcrib.errors import ToolcribError

SetupKind = Literal["add", "trust", "test", "update"]
SetupState = Literal["running", "ok", "failed", "stopped"]
StepKey = Literal["resolve", "install", "start", "connect", "handshake", "list", "ready", "review"]
StepState = Literal["wait", "work", "done", "fail"]


@dataclass(frozen=True, kw_only=True)
class SetupStep:
    """One step; `ms` is its duration once it has ended."""

    key: StepKey
    state: StepState = "wait"
    detail: str = ""
    ms: float | None = None
    began: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class SetupStatus:
    name: str
    kind: SetupKind
    began: datetime
    steps: tuple[SetupStep, ...]
    entry: Mapping[str, Any] = field(default_factory=dict)
    """The server's entry; secrets are references."""
    state: SetupState = "running"
    ended: datetime | None = None
    done: int = 0
    total: int = 0
    """Packages to install; 0 if unknown."""
    error: ToolcribError | None = None
    review: tuple[str, ...] = ()
    """Unclear points in its tool definitions."""
    tools: int = 0
    log: tuple[str, ...] = ()
    """The last lines of a server that failed."""

    @property
    def running(self) -> bool:
        return self.state == "running"

    @property
    def installing(self) -> bool:
        return self.running and any(step.key == "install" and step.state == "work" for step in self.steps)


@dataclass(frozen=True, kw_only=True)
class Remedy:
    """Install options with which the server may start."""

    reason: str
    option: Literal["also", "allow_scripts"]
    values: tuple[str, ...]

    @property
    def words(self) -> list[str]:
        """As options of `toolcrib install`."""
        name = {"also": "--with", "allow_scripts": "--allow-scripts"}[self.option]
        return [word for value in self.values for word in (name, value)]
