"""An installation killed half-way, as a real process: nothing half-done starts, and it can be repaired."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.servers.installers.packages import client_settings, npm_tarball

pytestmark = pytest.mark.acceptance

PROGRAM = Path(sys.executable).with_name("toolcrib")
DEADLINE = 60.0


def wait_for(condition: Callable[[], bool], what: str) -> None:
    until = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < until, f"{what} did not happen in time"
        time.sleep(0.05)


class Home:
    """A home, and the program on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        ours = {"TOOLCRIB_HOME": str(folder), "TOOLCRIB_KEYRING": "off"}
        self.environment = {**os.environ, **client_settings(), **ours}

    @property
    def versions(self) -> list[Path]:
        """The folders of versions, whole or not."""
        folder = self.folder / "data" / "servers" / "tiny" / "versions"
        return sorted(folder.iterdir()) if folder.exists() else []

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run to the end."""
        return subprocess.run(
            [PROGRAM, *words, "--offline"] if words[0] in ("add", "update") else [PROGRAM, *words],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def kill_half_way(self, mark: Path, *words: str) -> None:
        """Start an installation, and kill it while a script of the package runs."""
        process = subprocess.Popen(
            [PROGRAM, *words, "--offline", "--yes", "--allow-scripts", "tiny-server"],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            wait_for(lambda: mark.exists() and bool(mark.read_text().strip()), "the install script")
        finally:
            process.kill()
            process.wait()
        script = int(mark.read_text())
        wait_for(lambda: not alive(script), "the end of what the killed installation had started")

    def tell(self) -> dict[str, str]:
        """What the installed server says of itself."""
        done = self.run("call", "tiny__tell")
        assert done.returncode == 0, done
        found: dict[str, str] = json.loads(done.stdout)
        return found


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        return b") Z" not in Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return not Path("/proc/self/stat").exists()  # gone meanwhile, or a system that has no such files


def slow(folder: Path, version: str, mark: Path) -> Path:
    """A tarball whose install script never ends."""
    script = f"require('fs').writeFileSync('{mark}', String(process.pid)); setInterval(() => {{}}, 1000)"
    return npm_tarball(folder, version, scripts={"postinstall": f'node -e "{script}"'})


def test_a_killed_first_installation_leaves_no_server_and_is_simply_done_again(tmp_path: Path) -> None:
    home, mark = Home(tmp_path / "home"), tmp_path / "mark"
    tarball = slow(tmp_path, "1.0.0", mark)

    home.kill_half_way(mark, "add", "tiny", str(tarball))

    assert len(home.versions) == 1
    assert not (home.folder / "data" / "servers" / "tiny" / "current").exists()
    assert "tiny" not in json.loads((home.folder / "mcp.json").read_text())["mcpServers"]

    repaired = home.run("add", "tiny", str(tarball), "--yes")
    assert repaired.returncode == 0, repaired
    assert len(home.versions) == 1
    assert home.tell()["version"] == "1.0.0"


def test_a_killed_update_leaves_the_old_version_working_and_is_simply_done_again(tmp_path: Path) -> None:
    home, mark = Home(tmp_path / "home"), tmp_path / "mark"
    assert home.run("add", "tiny", str(npm_tarball(tmp_path, "1.0.0")), "--yes").returncode == 0
    newer = slow(tmp_path, "2.0.0", mark)

    home.kill_half_way(mark, "update", "tiny", str(newer))

    assert len(home.versions) == 2
    assert home.tell()["version"] == "1.0.0"

    repaired = home.run("update", "tiny", str(newer), "--yes")
    assert repaired.returncode == 0, repaired
    assert home.tell()["version"] == "2.0.0"
    assert home.run("rollback", "tiny").returncode == 0
    assert home.tell()["version"] == "1.0.0"
    assert len(home.versions) == 2
