"""A disk that fills up: nothing is lost, and the error says what to do."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.features.backup import backing_up_on_full_disk, restoring_on_full_disk
from tests.host import serving_on_full_disk

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="The small disk is one of Linux.")
SIZE = 64 * 1024 * 1024


def on_small_disk(program: ModuleType, disk: Path, *arguments: str) -> list[dict[str, Any]]:
    """What a program reports that has a disk of its own, in memory."""
    found = shutil.which("bwrap")
    assert found, "This test needs bubblewrap: run `make needs`, or install it (Debian: bubblewrap)."
    small_disk = ["--bind", "/", "/", "--dev-bind", "/dev", "/dev", "--size", str(SIZE), "--tmpfs", str(disk)]
    variables = ["--setenv", "TOOLCRIB_KEYRING", "off", "--setenv", "TMPDIR", str(disk)]
    command = [found, *small_disk, *variables, sys.executable, "-m", program.__name__, str(disk), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize(("step", "mode"), [("2", []), ("8", ["--backed-up"])])
def test_a_restore_on_a_full_disk_changes_nothing(tmp_path: Path, step: str, mode: list[str]) -> None:
    *refused, last = on_small_disk(restoring_on_full_disk, tmp_path, step, *mode)

    assert not last["refused"]
    assert not last["kept"]
    assert len(refused) > 10
    for attempt in (*refused, last):
        assert attempt["leftovers"] == []
    for attempt in refused:
        assert attempt["kept"], attempt
        assert "disk" in attempt["refused"], attempt
        assert "damaged" not in attempt["refused"], attempt


def test_a_host_on_a_full_disk_reports_it_and_stores_its_changes_later(tmp_path: Path) -> None:
    [told] = on_small_disk(serving_on_full_disk, tmp_path)

    assert "home" in told["broken"]
    assert told["call"] == "3"
    assert "not stored yet" in told["added"]
    assert "toolcrib doctor" in told["added"]
    assert told["rules"] == told["rules later"] == ["deny"]


def test_a_full_home_is_saved_to_another_disk_and_a_full_target_is_named(tmp_path: Path) -> None:
    disk, elsewhere = tmp_path / "disk", tmp_path / "elsewhere"
    disk.mkdir()
    elsewhere.mkdir()
    [told] = on_small_disk(backing_up_on_full_disk, disk, str(elsewhere))

    assert told["saved"] == ""
    assert (elsewhere / "full.zip").exists()
    assert f"cannot be made: {disk}: No space left on device" in told["refused"]
    assert f"The disk of {disk} has 0.0 MB left." in told["refused"]
    assert told["left"] == ["home"]
    assert f"{disk}/home/data/toolcrib.db cannot be used: its disk is full." in told["opened"]
    assert (
        "0.0 MB left. Free at least 16 MB; nothing was lost. To save the data: toolcrib backup"
        in told["opened"]
    )
