"""A home, the program on it, and a running host."""

from __future__ import annotations

import json
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command_line import DEADLINE, CommandLine, Process, end_started, started


@pytest.fixture(autouse=True)
def _no_test_leaves_a_process() -> Iterator[None]:
    """A test that fails ends what it started, too."""
    started.clear()
    yield
    assert end_started() == []


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder with a short name: the address of a socket has little room."""
    folder = Path(tempfile.mkdtemp(prefix="tc-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def toolcrib(home: Path) -> CommandLine:
    """The program on a new home."""
    return CommandLine(home)


@pytest.fixture
def up(toolcrib: CommandLine) -> Iterator[Process]:
    """A running host on that home; ends in order, or the test fails."""
    host = toolcrib.start("up", "--json")
    assert host.stdout is not None
    line = host.stdout.readline()
    assert json.loads(line)["pid"] == host.pid
    yield host
    if host.poll() is None:
        host.send_signal(signal.SIGTERM)
    _, err = host.communicate(timeout=DEADLINE)
    assert (host.returncode, err) == (0, "")
