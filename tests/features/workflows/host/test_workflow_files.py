"""Workflow files: written whole, with versions, and no update is lost."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from toolcrib.errors import Conflict, NotFound, UsageError
from toolcrib.features.workflows.files import KEPT_VERSIONS, LARGEST, WorkflowFiles


@pytest.fixture
def files(tmp_path: Path) -> WorkflowFiles:
    return WorkflowFiles(tmp_path / "workflows")


def test_a_saved_file_is_read_back_with_its_version(files: WorkflowFiles) -> None:
    saved = files.save("report", b"one", expected="")

    assert files.read("report") == saved
    assert files.names() == ["report"]
    assert (files.folder / "report.json").read_bytes() == b"one"


def test_an_update_of_an_older_version_is_refused_and_changes_nothing(files: WorkflowFiles) -> None:
    first = files.save("report", b"one")
    second = files.save("report", b"two", expected=first.version)

    with pytest.raises(Conflict) as caught:
        files.save("report", b"three", expected=first.version)

    assert caught.value.data == {"version": second.version}
    assert files.read("report").content == b"two"


def test_a_new_workflow_does_not_replace_one_of_the_same_name(files: WorkflowFiles) -> None:
    files.save("report", b"one")

    with pytest.raises(Conflict, match="already a workflow"):
        files.save("report", b"two", expected="")


def test_an_edit_by_hand_is_noticed_and_kept_as_a_version(files: WorkflowFiles) -> None:
    first = files.save("report", b"one")
    (files.folder / "report.json").write_bytes(b"by hand")

    with pytest.raises(Conflict):
        files.save("report", b"two", expected=first.version)
    edited = files.read("report")
    files.save("report", b"two", expected=edited.version)

    contents = [files.read("report", one.version).content for one in files.versions("report")]
    assert contents == [b"two", b"by hand", b"one"]


def test_a_removed_workflow_can_be_read_from_its_versions(files: WorkflowFiles) -> None:
    files.save("report", b"one")

    removed = files.remove("report")

    assert files.names() == []
    assert files.read("report", removed.version).content == b"one"
    with pytest.raises(NotFound):
        files.read("report")


def test_the_number_of_versions_is_bounded(files: WorkflowFiles) -> None:
    for number in range(KEPT_VERSIONS + 3):
        files.save("report", str(number).encode())

    kept = files.versions("report")
    assert len(kept) == KEPT_VERSIONS
    assert files.read("report", kept[0].version).content == str(KEPT_VERSIONS + 2).encode()


def test_of_two_updates_at_once_exactly_one_wins(files: WorkflowFiles) -> None:
    first = files.save("report", b"start")
    outcomes: list[str] = []
    begin = threading.Barrier(4)

    def save(number: int) -> None:
        begin.wait()
        try:
            files.save("report", f"from {number}".encode(), expected=first.version)
            outcomes.append("saved")
        except Conflict:
            outcomes.append("refused")

    threads = [threading.Thread(target=save, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert sorted(outcomes) == ["refused", "refused", "refused", "saved"]


@pytest.mark.parametrize("name", ["../mcp", ".hidden", "", "a/b", "UPPER"])
def test_a_name_never_leads_out_of_the_folder(files: WorkflowFiles, name: str) -> None:
    with pytest.raises(NotFound):
        files.read(name)
    with pytest.raises(NotFound):
        files.versions(name)


def test_a_file_that_is_too_large_is_not_saved(files: WorkflowFiles) -> None:
    with pytest.raises(UsageError, match="larger than"):
        files.save("report", bytes(LARGEST + 1))

    assert files.names() == []
