"""One host for one home, and those who only look whether there is one."""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path

import pytest

from toolcrib.config.paths import find_paths
from toolcrib.errors import ConfigError, HostRunning
from toolcrib.host import open_host
from toolcrib.host.lock import running_host, sole_host


def test_a_home_has_one_host_at_a_time_and_it_is_told_which(tmp_path: Path) -> None:
    file = tmp_path / "lock"
    with sole_host(file, tmp_path):
        assert (running_host(file) or {})["pid"] == os.getpid()
        with pytest.raises(HostRunning, match=str(os.getpid())), sole_host(file, tmp_path):
            pass
    assert running_host(file) is None


def test_one_who_looks_and_stands_still_meanwhile_keeps_no_host_from_starting(tmp_path: Path) -> None:
    file = tmp_path / "lock"
    looking = os.open(file, os.O_RDWR | os.O_CREAT)
    fcntl.flock(looking, fcntl.LOCK_SH)
    started = threading.Event()

    def start() -> None:
        with sole_host(file, tmp_path):
            started.set()

    starting = threading.Thread(target=start)
    starting.start()
    assert not started.wait(0.5)
    os.close(looking)
    starting.join(60)
    assert started.is_set()


def test_a_full_disk_is_told_as_such(tmp_path: Path) -> None:
    file = tmp_path / "lock"
    file.symlink_to("/dev/full")

    with pytest.raises(ConfigError, match="No space left") as caught, sole_host(file, tmp_path):
        pass

    assert "disk is full" in caught.value.hint


async def test_a_host_on_a_full_disk_is_refused_with_a_hint(tmp_path: Path) -> None:
    find_paths(tmp_path).ensure().lock_file.symlink_to("/dev/full")

    with pytest.raises(ConfigError, match="cannot be written to") as caught:
        async with open_host(tmp_path):
            pass

    assert "TOOLCRIB_HOME" in caught.value.hint
