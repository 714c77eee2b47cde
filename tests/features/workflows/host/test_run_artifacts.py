"""Files of runs: stored once, limited in size and age."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from toolcrib.errors import NotFound, ResultTooLarge
from toolcrib.features.workflows import artifacts as run_artifacts
from toolcrib.features.workflows.artifacts import RunArtifacts


@pytest.fixture
def artifacts(tmp_path: Path) -> RunArtifacts:
    return RunArtifacts(tmp_path / "artifacts")


def test_a_file_is_read_back_with_its_type_and_stored_once(artifacts: RunArtifacts) -> None:
    first = artifacts.keep("run-1", b"picture", "image/png")
    again = artifacts.keep("run-1", b"picture", "image/png")

    assert first == again
    assert artifacts.read("run-1", first) == ("image/png", b"picture")
    assert len(list((artifacts.folder / "run-1").iterdir())) == 1


@pytest.mark.parametrize("id_", ["../run-2/0123456789abcdef.png", "replay", "", "0123456789abcdef.png"])
def test_only_files_of_the_run_can_be_read(artifacts: RunArtifacts, id_: str) -> None:
    artifacts.replay("run-1", {"step": {"text": "secret"}})
    artifacts.keep("run-2", b"other", "image/png")

    with pytest.raises(NotFound):
        artifacts.read("run-1", id_)


def test_a_run_cannot_store_more_than_its_share(
    artifacts: RunArtifacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_artifacts, "LARGEST_RUN", 10)
    artifacts.keep("run-1", b"12345678", "text/plain")

    with pytest.raises(ResultTooLarge):
        artifacts.keep("run-1", b"abcdefgh", "text/plain")
    assert artifacts.keep("run-2", b"abcdefgh", "text/plain")


def test_old_files_and_the_oldest_of_too_many_are_deleted(artifacts: RunArtifacts) -> None:
    now = time.time()
    for name, days in (("old", 40), ("large", 3), ("new", 1)):
        artifacts.keep(name, name.encode() * 100, "text/plain")
        os.utime(artifacts.folder / name, (now - days * 86_400,) * 2)

    artifacts.trim(days=30, total=400)

    assert [path.name for path in artifacts.folder.iterdir()] == ["new"]


def test_a_replay_has_a_decision_for_each_step_or_says_so(artifacts: RunArtifacts) -> None:
    artifacts.replay("run-1", {"think": {"text": "yes"}})

    assert artifacts.recorded("run-2", "think") is None
    assert artifacts.recorded("run-1", "think") == {"text": "yes"}
    with pytest.raises(NotFound, match="no recorded decision"):
        artifacts.recorded("run-1", "other")
