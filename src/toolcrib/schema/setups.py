"""A server that is being added, installed or tried out: each step, and how far it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from toolcrib.errors import ToolcribError

SetupKind = Literal["add", "trust", "test", "update"]
SetupState = Literal["running", "ok", "failed", "stopped"]
StepKey = Literal["resolve", "install", "start", "connect", "handshake", "list", "review"]
StepState = Literal["wait", "work", "done", "fail"]


@dataclass(frozen=True, kw_only=True)
class SetupStep:
    """One step; `ms` is how long it took, once it is over."""

    key: StepKey
    state: StepState = "wait"
    detail: str = ""
    ms: float | None = None
    began: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class SetupStatus:
    """All of it, as it stands now."""

    name: str
    kind: SetupKind
    began: datetime
    steps: tuple[SetupStep, ...]
    entry: Mapping[str, Any] = field(default_factory=dict)
    """What the server is, or will be; secrets are references."""
    state: SetupState = "running"
    ended: datetime | None = None
    done: int = 0
    total: int = 0
    """Packages of an installation; 0 where they cannot be counted."""
    error: ToolcribError | None = None
    review: tuple[str, ...] = ()
    """What a model would find unclear about its tools."""
    tools: int = 0
    log: tuple[str, ...] = ()
    """The last lines that a server wrote which did not work."""

    @property
    def running(self) -> bool:
        """Whether it goes on."""
        return self.state == "running"

    @property
    def installing(self) -> bool:
        """Whether it is about files now."""
        return self.running and any(step.key == "install" and step.state == "work" for step in self.steps)
