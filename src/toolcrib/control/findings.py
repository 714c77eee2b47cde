"""What the doctor finds, and what it looks at."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Protocol

from toolcrib.config.paths import Paths
from toolcrib.errors import ConfigError
from toolcrib.host import Host

Verdict = Literal["ok", "warning", "broken"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One sentence about one thing, and what to do where something is to be done."""

    name: str
    verdict: Verdict
    detail: str
    hint: str = ""

    def as_json(self) -> dict[str, Any]:
        """The form that `doctor --json` shows."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Place:
    """The patient: a home, and the host that was opened on it, if one could be."""

    paths: Paths
    host: Host | None = None
    error: ConfigError | None = None
    """Why no host could be opened."""
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)


class Check(Protocol):
    """What a module of `control/checks` offers."""

    async def check(self, place: Place) -> list[Finding]:
        """Look; never raises for what it finds."""


def well(name: str, detail: str) -> Finding:
    """Nothing to be done."""
    return Finding(name=name, verdict="ok", detail=detail)


def odd(name: str, detail: str, hint: str = "") -> Finding:
    """Works, and could be better."""
    return Finding(name=name, verdict="warning", detail=detail, hint=hint)


def broken(name: str, detail: str, hint: str = "") -> Finding:
    """Does not work."""
    return Finding(name=name, verdict="broken", detail=detail, hint=hint)
