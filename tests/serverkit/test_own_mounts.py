"""Toolcrib's own files stay closed where a bind mount or a hard link shows them under another name."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from toolcrib.serverkit.confined.roots import Roots
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.own_places import claimed, contains_mounts


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "crib"
    for folder in ("logs", "run", "files"):
        (home / folder).mkdir(parents=True)
    for file in ("secrets.json", "run/host.token", "logs/demo.log", "files/plain"):
        (home / file).write_text("SECRET")
    return home


@contextmanager
def project_with_mounts(tmp_path: Path, home: Path) -> Iterator[Path]:
    """A folder in which parts of the home are mounted."""
    project = tmp_path / "a project"
    targets = {"run": home / "run", "deep/logs": home / "logs", "one.txt": home / "secrets.json"}
    targets["lent"] = home / "files"
    mounted: list[Path] = []
    try:
        for name, source in targets.items():
            point = project / name
            point.parent.mkdir(parents=True, exist_ok=True)
            point.mkdir() if source.is_dir() else point.touch()
            done = subprocess.run(["mount", "--bind", source, point], capture_output=True, text=True)
            assert done.returncode == 0, f"This test needs the right to mount (CAP_SYS_ADMIN): {done.stderr}"
            mounted.append(point)
        yield project
    finally:
        for point in mounted:
            subprocess.run(["umount", point], check=True)


@pytest.mark.skipif(sys.platform != "linux", reason="Bind mounts are for Linux.")
@pytest.mark.as_root("mounts folders", other_users=False)
def test_mounted_parts_of_a_home_are_neither_read_nor_changed(tmp_path: Path, home: Path) -> None:
    with project_with_mounts(tmp_path, home) as project, claimed([home]):
        assert contains_mounts(project)
        roots = Roots([project])
        try:
            for path in ("run/host.token", "deep/logs/demo.log", "one.txt"):
                with pytest.raises(ToolFailure, match="belongs to Toolcrib"), roots.reading(path):
                    pass
                with pytest.raises(ToolFailure, match="belongs to Toolcrib"), roots.target(path) as place:
                    roots.check_changeable(place)
            for path in ("run", "deep/logs"):
                with pytest.raises(ToolFailure, match="belongs to Toolcrib"), roots.listing(path):
                    pass
            with roots.reading("lent/plain") as descriptor:
                assert os.read(descriptor, 10) == b"SECRET"
        finally:
            roots.close()


def test_a_folder_without_mounts_has_none(tmp_path: Path) -> None:
    assert not contains_mounts(tmp_path)
    assert contains_mounts(Path("/")) or not Path("/proc/self/mountinfo").exists()
