"""Folders and programs of one's own: copied, so that what runs does not change under one's feet."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.servers.installers.conftest import Tell
from tests.servers.installers.packages import PROGRAMS, npm_package
from toolcrib.errors import InstallFailed, UsageError
from toolcrib.servers.installers.engine.installations import Installations
from toolcrib.servers.installers.engine.plan import Options


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program with a file beside it."""
    folder = tmp_path / "mine"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "note.txt").write_text("kept")
    target = folder / "run"
    shutil.copy(PROGRAMS / "tiny.py", target)
    target.chmod(0o755)
    return target


async def test_a_program_is_copied_with_its_whole_folder(
    installations: Installations, tell: Tell, program: Path
) -> None:
    plan = await installations.plan(str(program), "mine", args=["x"])
    installed = await installations.apply(plan)
    shutil.rmtree(program.parent)

    told = await tell("mine", plan.entry)
    assert (told["args"], told["cwd"]) == (["x"], str(installed.folder / "content"))
    assert (installed.folder / "content" / "data" / "note.txt").read_text() == "kept"
    assert "2 files" in plan.copies


async def test_a_program_in_a_folder_of_many_is_copied_alone(
    installations: Installations, environ: dict[str, str], program: Path
) -> None:
    environ["PATH"] = f"{program.parent}:{environ['PATH']}"

    installed = await installations.apply(await installations.plan(str(program), "mine"))

    assert [one.name for one in (installed.folder / "content").iterdir()] == ["run"]


async def test_a_folder_with_one_program_is_that_program(installations: Installations, program: Path) -> None:
    plan = await installations.plan(str(program.parent), "mine")

    assert plan.launch.command.endswith("/content/run")
    shutil.copy(program, program.with_name("other"))
    with pytest.raises(UsageError, match="several programs"):
        await installations.plan(str(program.parent), "mine")
    named = await installations.plan(str(program.parent), "mine", Options(program="other"))
    assert named.launch.command.endswith("/content/other")


async def test_a_link_out_of_the_folder_is_refused(installations: Installations, program: Path) -> None:
    (program.parent / "out").symlink_to("/etc/passwd")

    with pytest.raises(UsageError, match="outside the folder"):
        await installations.plan(str(program), "mine")


async def test_a_link_inside_the_folder_stays_a_link(installations: Installations, program: Path) -> None:
    (program.parent / "again").symlink_to("data/note.txt")

    installed = await installations.apply(await installations.plan(str(program), "mine"))

    assert (installed.folder / "content" / "again").readlink() == Path("data/note.txt")


async def test_a_pipe_is_refused(installations: Installations, program: Path) -> None:
    os.mkfifo(program.parent / "pipe")

    with pytest.raises(UsageError, match="neither a file nor a folder"):
        await installations.plan(str(program), "mine")


async def test_a_folder_that_changed_after_it_was_shown_is_not_installed(
    installations: Installations, program: Path
) -> None:
    plan = await installations.plan(str(program), "mine")
    (program.parent / "data" / "note.txt").write_text("other")

    with pytest.raises(InstallFailed, match="has changed"):
        await installations.apply(plan)


async def test_a_changed_folder_counts_as_a_newer_version(
    installations: Installations, program: Path
) -> None:
    await installations.apply(await installations.plan(str(program), "mine"))
    assert not (await installations.newest("mine")).outdated

    (program.parent / "data" / "note.txt").write_text("other")

    assert (await installations.newest("mine")).outdated


async def test_an_npm_package_in_a_folder_is_packed_without_running_its_scripts(
    installations: Installations, tell: Tell, tmp_path: Path
) -> None:
    mark = tmp_path / "ran"
    scripts = {"prepare": f"touch {mark}", "prepack": f"touch {mark}"}
    package = npm_package(tmp_path / "package", "2.0.0", scripts=scripts)

    plan = await installations.plan(str(package), "tiny", offline=True)
    await installations.apply(plan, offline=True)

    assert (await tell("tiny", plan.entry))["version"] == "2.0.0"
    assert not mark.exists()


async def test_a_python_project_is_built_and_that_is_said(
    installations: Installations, tell: Tell, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    shutil.copy(PROGRAMS / "tiny.py", project / "tiny.py")
    (project / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "tiny"\nversion = "3.0"\nscripts = {tiny = "tiny:main"}\n'
        '[tool.hatch.build]\ninclude = ["tiny.py"]\n'
    )

    plan = await installations.plan(str(project), "tiny")
    await installations.apply(plan)

    assert (plan.version, plan.builds) == ("3.0", ("tiny",))
    assert (await tell("tiny", plan.entry))["args"] == []


async def test_a_folder_of_nothing_is_said_so(installations: Installations, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    with pytest.raises(UsageError, match="nothing to install"):
        await installations.plan(str(tmp_path / "empty"), "x")
