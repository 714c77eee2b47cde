"""Servers that are being added, installed or tried out in the host, whoever looks."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from toolcrib.control.answers.failures import Failure
from toolcrib.control.answers.overview import ServerSource


class SetupStepShown(TypedDict):
    """One step; `ms` is how long it took, once it is over."""

    key: Literal["resolve", "install", "start", "connect", "handshake", "list", "review"]
    state: Literal["wait", "work", "done", "fail"]
    detail: str
    ms: float | None
    began: str | None


class SetupShown(TypedDict):
    """How far it is; it goes on when nobody looks."""

    name: str
    kind: Literal["add", "trust", "test", "update"]
    state: Literal["running", "ok", "failed", "stopped"]
    installing: bool
    """Its files are being fetched or put in place now."""
    source: ServerSource | None
    began: str
    ended: str | None
    steps: list[SetupStepShown]
    done: int
    total: int
    """Packages of an installation; 0 where they cannot be counted."""
    error: Failure | None
    review: list[str]
    """What a model would find unclear about its tools."""
    tools: int
    log: list[str]
    """The last lines that it wrote, where it did not work."""


class SetupForgotten(TypedDict):
    """Whether it is gone now; one that is under way is not."""

    name: str
    forgotten: bool
