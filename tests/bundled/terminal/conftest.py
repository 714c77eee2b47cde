"""A terminal in a folder of its own, with nothing left behind."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from toolcrib.bundled.terminal.sandbox import Kind, Sandbox, missing
from toolcrib.bundled.terminal.sessions import CommandSessions
from toolcrib.bundled.terminal.tools import TerminalTools
from toolcrib.bundled.terminal.workplace import Workplace

ON_LINUX: tuple[Kind, ...] = ("bubblewrap", "landlock", "none")
KINDS: tuple[Kind, ...] = ON_LINUX if sys.platform == "linux" else ("none",)
"""The sandboxes of this system, the preferred one first."""


def available(kind: Kind) -> Kind:
    """This kind, where this machine can make it; else the test fails with the reason."""
    reason = missing(kind)
    assert not reason, f"This test needs {kind}, which `make needs` installs where it can: {reason}"
    return kind


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    return made


@pytest.fixture
def workplace(folder: Path) -> Callable[..., Workplace]:
    """Makes one for the folder; without the caches."""

    def make(**options: Any) -> Workplace:
        sandbox = Sandbox(caches=False, **options.pop("sandbox", {}))
        return Workplace(folder=lambda: folder, sandbox=sandbox, **options)

    return make


@pytest.fixture(params=KINDS)
def confined(workplace: Callable[..., Workplace], request: pytest.FixtureRequest) -> Callable[..., Workplace]:
    """The same, once with each sandbox of this system."""

    def make(**sandbox: Any) -> Workplace:
        return workplace(sandbox={"wanted": available(request.param), **sandbox})

    return make


HOLDING = [kind for kind in KINDS if kind != "none"]


@pytest.fixture(params=HOLDING)
def held(workplace: Callable[..., Workplace], request: pytest.FixtureRequest) -> Callable[..., Workplace]:
    """The same, only with sandboxes that hold something."""

    def make(**sandbox: Any) -> Workplace:
        return workplace(sandbox={"wanted": available(request.param), **sandbox})

    return make


@pytest.fixture(params=[kind for kind in HOLDING if kind == "bubblewrap"])
def mounted(workplace: Callable[..., Workplace], request: pytest.FixtureRequest) -> Callable[..., Workplace]:
    """The same, only with the sandbox that shows other folders in the place of the real ones."""

    def make(**sandbox: Any) -> Workplace:
        return workplace(sandbox={"wanted": available(request.param), **sandbox})

    return make


@pytest.fixture
async def terminal(workplace: Callable[..., Workplace]) -> AsyncIterator[TerminalTools]:
    sessions = CommandSessions()
    yield TerminalTools(workplace(), sessions)
    await sessions.end_all()
