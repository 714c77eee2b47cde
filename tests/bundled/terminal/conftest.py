"""A terminal in a folder of its own, with nothing left behind."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from toolcrib.bundled.terminal.sandbox import Sandbox, missing
from toolcrib.bundled.terminal.sessions import CommandSessions
from toolcrib.bundled.terminal.tools import TerminalTools
from toolcrib.bundled.terminal.workplace import Workplace

KINDS = [kind for kind in ("bubblewrap", "landlock", "none") if not missing(kind)]
"""The sandboxes that this machine can make."""


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
    """The same, once with each sandbox that can be had here."""

    def make(**sandbox: Any) -> Workplace:
        return workplace(sandbox={"wanted": request.param, **sandbox})

    return make


HOLDING = [kind for kind in KINDS if kind != "none"]


@pytest.fixture(params=HOLDING)
def held(workplace: Callable[..., Workplace], request: pytest.FixtureRequest) -> Callable[..., Workplace]:
    """The same, only with sandboxes that hold something."""

    def make(**sandbox: Any) -> Workplace:
        return workplace(sandbox={"wanted": request.param, **sandbox})

    return make


@pytest.fixture(params=[kind for kind in HOLDING if kind == "bubblewrap"])
def mounted(workplace: Callable[..., Workplace], request: pytest.FixtureRequest) -> Callable[..., Workplace]:
    """The same, only with the sandbox that shows other folders in the place of the real ones."""

    def make(**sandbox: Any) -> Workplace:
        return workplace(sandbox={"wanted": request.param, **sandbox})

    return make


@pytest.fixture
async def terminal(workplace: Callable[..., Workplace]) -> AsyncIterator[TerminalTools]:
    sessions = CommandSessions()
    yield TerminalTools(workplace(), sessions)
    await sessions.end_all()
