"""Watched folders: each version of a file once, when it is complete, also over restarts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.features.workflows.automation.conftest import Automation
from toolcrib.errors import ToolcribError
from toolcrib.features.workflows.triggers import folder as folder_scan
from toolcrib.schema.workflows import Trigger


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "in"
    place.mkdir()
    return place


async def watch(automation: Automation, folder: Path, **settings: Any) -> None:
    trigger = Trigger(
        type="folder", settings={"path": str(folder), **settings}, input={"file": "{{event.path}}"}
    )
    automation.define("intake", trigger, file={})
    await automation.turn_on("intake", "folder")


async def test_a_new_file_starts_one_run_with_its_path(automation: Automation, folder: Path) -> None:
    await watch(automation, folder)
    (folder / "a.pdf").write_text("content")

    await automation.pass_time(30)

    assert automation.runs.inputs == [f"{{'file': '{folder}/a.pdf'}}"]


async def test_a_file_that_is_still_growing_starts_nothing(automation: Automation, folder: Path) -> None:
    await watch(automation, folder, settle=5)
    file = folder / "a.pdf"
    for size in range(10):
        file.write_text("x" * size)
        await automation.pass_time(3)
    assert automation.runs.runs == []

    await automation.pass_time(20)
    assert len(automation.runs.runs) == 1


async def test_a_changed_file_starts_another_run(automation: Automation, folder: Path) -> None:
    await watch(automation, folder)
    (folder / "a.pdf").write_text("content")
    await automation.pass_time(10)

    (folder / "a.pdf").write_text("other content")
    await automation.pass_time(10)

    assert len(automation.runs.runs) == 2


async def test_changes_can_be_ignored(automation: Automation, folder: Path) -> None:
    await watch(automation, folder, changed=False)
    (folder / "a.pdf").write_text("content")
    await automation.pass_time(10)

    (folder / "a.pdf").write_text("other content")
    await automation.pass_time(10)

    assert len(automation.runs.runs) == 1


@pytest.mark.parametrize(("existing", "started"), [(False, 0), (True, 3)])
async def test_files_that_were_there_before_start_runs_only_if_asked(
    automation: Automation, folder: Path, existing: bool, started: int
) -> None:
    for name in "abc":
        (folder / name).write_text(name)
    await watch(automation, folder, existing=existing)

    await automation.pass_time(10)

    assert len(automation.runs.runs) == started


async def test_only_matching_and_complete_files_count(automation: Automation, folder: Path) -> None:
    (folder / "below").mkdir()
    await watch(automation, folder, pattern="*.pdf")
    for name in ("a.pdf", "b.txt", ".hidden.pdf", "c.pdf.part", "below/d.pdf"):
        (folder / name).write_text(name)
    (folder / "link.pdf").symlink_to("/etc/hostname")
    os.mkfifo(folder / "pipe.pdf")

    await automation.pass_time(10)

    assert automation.runs.inputs == [f"{{'file': '{folder}/a.pdf'}}"]


async def test_folders_below_are_watched_if_asked(automation: Automation, folder: Path) -> None:
    (folder / "below").mkdir()
    await watch(automation, folder, pattern="below/*.pdf", recursive=True)
    (folder / "below" / "a.pdf").write_text("a")
    (folder / "b.pdf").write_text("b")

    await automation.pass_time(10)

    assert automation.runs.inputs == [f"{{'file': '{folder}/below/a.pdf'}}"]


async def test_files_that_came_while_no_host_ran_are_found_and_others_not_repeated(
    automation: Automation, folder: Path
) -> None:
    await watch(automation, folder)
    (folder / "a").write_text("a")
    await automation.pass_time(10)

    (folder / "b").write_text("b")
    automation.restart()
    await automation.pass_time(10)

    assert len(automation.runs.runs) == 2
    assert automation.runs.calls == 2


async def test_a_file_that_was_moved_away_and_back_is_the_same_version(
    automation: Automation, folder: Path
) -> None:
    await watch(automation, folder)
    (folder / "a").write_text("a")
    await automation.pass_time(10)

    (folder / "a").rename(folder.parent / "a")
    await automation.pass_time(7200, step=600)
    (folder.parent / "a").rename(folder / "a")
    await automation.pass_time(10)

    assert len(automation.runs.runs) == 1


async def test_only_the_machine_where_it_was_turned_on_watches_a_folder(
    automation: Automation, folder: Path
) -> None:
    await watch(automation, folder)
    automation.restart(machine="another")
    (folder / "a").write_text("a")

    await automation.pass_time(10)

    assert automation.runs.runs == []


async def test_a_folder_that_is_missing_pauses_with_the_reason_and_goes_on(
    automation: Automation, folder: Path
) -> None:
    await watch(automation, folder)
    await automation.pass_time(5)
    folder.rename(folder.parent / "away")
    await automation.pass_time(30)

    (folder.parent / "away").rename(folder)
    (folder / "a").write_text("a")
    await automation.pass_time(30)

    assert len(automation.runs.runs) == 1


@pytest.mark.parametrize("count", [1000, pytest.param(10_000, marks=pytest.mark.acceptance)])
@pytest.mark.acceptance
async def test_thousands_of_files_start_one_run_each_also_over_restarts(
    automation: Automation, folder: Path, count: int
) -> None:
    await watch(automation, folder)
    for number in range(count):
        (folder / f"{number}.txt").touch()

    for _ in range(4):
        await automation.pass_time(15, step=5)
        automation.restart()
    await automation.pass_time(60, step=5)

    assert len(automation.runs.runs) == count
    assert automation.runs.calls == count


async def test_a_folder_with_too_many_files_is_refused(
    automation: Automation, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_scan, "MOST_FILES", 10)
    for number in range(11):
        (folder / str(number)).touch()

    with pytest.raises(ToolcribError, match="more than 10 files"):
        await watch(automation, folder)
