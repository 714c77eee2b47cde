"""A filesystem server over a small world: an allowed folder, and beside it one that must never be reached."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from toolcrib.bundled.filesystem.tools import FileTools
from toolcrib.bundled.terminal.sandbox import TEMPORARY
from toolcrib.serverkit.confined import Roots
from toolcrib.serverkit.confined.roots import Opener, has_openat2, open_by_kernel, open_by_walk
from toolcrib.serverkit.server import ToolServer

WAYS: dict[str, Opener] = {"walk": open_by_walk, **({"openat2": open_by_kernel} if has_openat2() else {})}


@dataclass
class World:
    """The folders, and the tools that see only one of them."""

    allowed: Path
    outside: Path
    server: ToolServer
    roots: Roots

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return await self.server.tools[tool].call(arguments)

    async def told(self, tool: str, **arguments: Any) -> str:
        result = await self.call(tool, **arguments)
        assert result["isError"] is False, result
        return str(result["content"][0]["text"])

    async def refused(self, tool: str, **arguments: Any) -> str:
        result = await self.call(tool, **arguments)
        assert result["isError"] is True, result
        text = str(result["content"][0]["text"])
        assert "SECRET" not in text
        return text


@pytest.fixture(params=sorted(WAYS))
def opener(request: pytest.FixtureRequest) -> Opener:
    """Each way to open things; both keep the same promises."""
    return WAYS[request.param]


@pytest.fixture
def make_world(tmp_path: Path, opener: Opener) -> Iterator[Any]:
    """Makes worlds; further roots and options may be given."""
    made: list[Roots] = []

    def make(folders: Sequence[str | Path] = ("allowed",), **options: Any) -> World:
        roots = Roots([tmp_path / folder for folder in folders], opener=opener, **options)
        made.append(roots)
        server = ToolServer("filesystem", "0")
        FileTools(roots).offer(server)
        return World(tmp_path / "allowed", tmp_path / "outside", server, roots)

    (tmp_path / "allowed" / "d").mkdir(parents=True)
    (tmp_path / "allowed" / "d" / "f").write_text("fine")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "f").write_text("SECRET")
    yield make
    for roots in made:
        roots.close()


@pytest.fixture
def world(make_world: Any) -> World:
    """The usual one."""
    made: World = make_world()
    return made


def _lasting_folder() -> Path:
    cache = Path(__file__).parents[2] / ".cache"
    cache.mkdir(exist_ok=True)
    for folder in (cache, Path.home(), Path("/srv")):
        if os.access(folder, os.W_OK) and not any(folder.is_relative_to(place) for place in TEMPORARY):
            return folder
    pytest.fail("Clone the project to a folder outside of /tmp: a sandbox replaces that.")


@pytest.fixture
def elsewhere() -> Iterator[Path]:
    """A folder that is none of the system's temporary ones: those are replaced in a sandbox."""
    made = Path(tempfile.mkdtemp(dir=_lasting_folder(), prefix="sandbox-"))
    yield made
    shutil.rmtree(made)
