"""The tools for a project's folder stay in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolcrib.bundled.project.tools import ProjectTools
from toolcrib.bundled.terminal.sandbox import Sandbox
from toolcrib.bundled.terminal.workplace import Workplace
from toolcrib.errors import ToolcribError
from toolcrib.serverkit.context import ToolFailure


@pytest.fixture
def project(tmp_path: Path) -> ProjectTools:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.py").write_text("def one():\n    return 'needle'\n")
    (folder / "b.txt").write_text("Needle\n")
    (tmp_path / "secret.txt").write_text("needle outside\n")
    return ProjectTools(Workplace(folder=lambda: folder, sandbox=Sandbox(caches=False)))


def text(result: dict[str, Any]) -> str:
    return str(result["content"][0]["text"])


async def test_files_are_written_and_read(project: ProjectTools) -> None:
    assert "Created" in project.write_file("new.md", "héllo")
    assert project.read_file("new.md") == ["héllo"]


@pytest.mark.parametrize("path", ["../secret.txt", "/etc/passwd", ".git/hooks/x"])
async def test_nothing_outside_is_written(project: ProjectTools, path: str) -> None:
    with pytest.raises(ToolcribError):
        project.write_file(path, "x")


async def test_lines_are_found(project: ProjectTools) -> None:
    assert await project.grep("needle") == "a.py:2:    return 'needle'" or "a.py:2:" in await project.grep(
        "needle"
    )
    assert "b.txt" in await project.grep("needle", ignore_case=True)
    assert "b.txt" not in await project.grep("needle", include="*.py", ignore_case=True)
    assert await project.grep("nowhere") == "No line matches."
    assert "a.py" in await project.grep("-x|needle")
    with pytest.raises(ToolFailure, match="failed"):
        await project.grep("(")
    for outside in ("..", "../secret.txt", "/etc"):
        with pytest.raises(ToolFailure, match="outside"):
            await project.grep("x", path=outside)


async def test_a_link_out_of_the_project_is_not_followed(project: ProjectTools, tmp_path: Path) -> None:
    (tmp_path / "project" / "out").symlink_to(tmp_path / "secret.txt")

    assert "outside" not in await project.grep("needle")
    with pytest.raises(ToolcribError):
        project.read_file("out")


async def test_commands_run_in_the_folder(project: ProjectTools) -> None:
    assert "a.py" in text(await project.terminal("ls"))


async def test_a_snippet_runs_alone(project: ProjectTools, tmp_path: Path) -> None:
    (tmp_path / "project" / "json.py").write_text("raise SystemExit('shadowed')")

    result = await project.python("import json, os\nprint(json.dumps(os.getcwd()))")

    assert str(tmp_path / "project") in text(result)
    assert "[exit code 0]" in text(result)
    assert "ZeroDivisionError" in text(await project.python("1 / 0"))
    ended = await project.python("while True: pass", timeout=1)
    assert ended["isError"]


async def test_a_snippet_cannot_write_outside(project: ProjectTools, elsewhere: Path) -> None:
    result = await project.python(f"open({str(elsewhere / 'x')!r}, 'w').write('x')")

    held = Sandbox().kind != "none"
    assert (elsewhere / "x").exists() is not held
    assert ("Permission" in text(result) or "Read-only" in text(result)) is held
