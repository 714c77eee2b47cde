"""A terminal in a folder of its own, with nothing left behind."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from toolcrib.bundled.terminal.sandbox import Sandbox, missing
from toolcrib.bundled.terminal.sessions import Sessions
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
    """Makes one for the folder; without the caches and the folder for temporary files."""

    def make(**options: Any) -> Workplace:
        sandbox = Sandbox(temporary=False, **options.pop("sandbox", {}))
        return Workplace(folder=lambda: folder, sandbox=sandbox, **options)

    return make


@pytest.fixture(params=KINDS)
def confined(workplace: Callable[..., Workplace], request: pytest.FixtureRequest) -> Callable[..., Workplace]:
    """The same, once with each sandbox that can be had here."""

    def make(**sandbox: Any) -> Workplace:
        return workplace(sandbox={"wanted": request.param, **sandbox})

    return make


@pytest.fixture
async def terminal(workplace: Callable[..., Workplace]) -> AsyncIterator[TerminalTools]:
    sessions = Sessions()
    yield TerminalTools(workplace(), sessions)
    await sessions.end_all()
