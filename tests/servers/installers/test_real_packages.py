"""Servers from npm and PyPI that nobody here wrote: installed and called.

One of each registry is also updated, rolled back and uninstalled. The first run fetches them; afterwards they
come from the caches in `.cache/installers`.
"""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import toolcrib
from tests.servers.installers.packages import client_settings
from toolcrib.errors import UnknownServer
from toolcrib.operations.operation import Invocation
from toolcrib.operations.registry import perform
from toolcrib.servers.processes.orphans import stat_of

# The first run fetches the packages.
pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(900)]
START = 100.0


@dataclass(frozen=True)
class Package:
    """Two versions of a package, and one harmless call that both answer."""

    old: str
    new: str
    """The version that the first is updated to."""
    tool: str
    arguments: dict[str, Any]
    answer: str
    args: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    prepare: Callable[[Path], object] = lambda work: None

    @property
    def version(self) -> str:
        """The older one."""
        return self.old.replace("==", "@").rpartition("@")[2]


def write_note(work: Path) -> None:
    (work / "note.txt").write_text("kept in the crib\n")


def make_repository(work: Path) -> None:
    subprocess.run(["git", "init", "--quiet", "--initial-branch", "workbench", str(work)], check=True)


OFFICIAL = "npm:@modelcontextprotocol/server"
THOUGHT = {"thought": "Measure twice.", "nextThoughtNeeded": False, "thoughtNumber": 1, "totalThoughts": 1}
TIMES = {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}
PACKAGES = (
    Package(
        f"{OFFICIAL}-memory@2026.7.4",
        "2026.8.31",
        "read_graph",
        {},
        "entities",
        env={"MEMORY_FILE_PATH": "{work}/memory.jsonl"},
    ),
    Package(
        f"{OFFICIAL}-sequential-thinking@2026.7.4",
        "2026.8.31",
        "sequentialthinking",
        THOUGHT,
        "thoughtHistoryLength",
    ),
    Package(
        f"{OFFICIAL}-filesystem@2026.7.10",
        "2026.8.31",
        "read_text_file",
        {"path": "{work}/note.txt"},
        "kept in the crib",
        args=("{work}",),
        prepare=write_note,
    ),
    Package(f"{OFFICIAL}-everything@2026.8.18", "2026.8.31", "echo", {"message": "hello"}, "Echo: hello"),
    Package("npm:time-mcp@1.0.4", "1.0.6", "days_in_month", {"date": "2026-02-01"}, "28"),
    Package(
        "pypi:mcp-server-time==2026.10.10",
        "2026.10.19",
        "convert_time",
        TIMES,
        "T21:00:00+09:00",
        args=("--local-timezone", "UTC"),
    ),
    Package(
        "pypi:mcp-server-git==2026.10.10",
        "2026.10.19",
        "git_status",
        {"repo_path": "{work}"},
        "workbench",
        prepare=make_repository,
    ),
    Package(
        "pypi:mcp-server-fetch==2026.10.19", "2026.10.24", "fetch", {"url": "http://127.0.0.1:9/"}, "efuse"
    ),
    Package(
        "pypi:mcp-shell-server==1.1.13",
        "1.1.14",
        "shell_execute",
        {"command": ["echo", "sharp"], "directory": "{work}"},
        "sharp",
        env={"ALLOW_COMMANDS": "echo"},
    ),
    Package(
        "pypi:prometheus-mcp-server==1.6.1",
        "1.6.2",
        "health_check",
        {},
        "status",
        env={"PROMETHEUS_URL": "http://127.0.0.1:9"},
    ),
)


UPDATED = [package for package in PACKAGES if "memory" in package.old or "server-time" in package.old]
"""One of each registry; the others are installed once."""


def fill(value: Any, work: Path) -> Any:
    """Put the scratch folder in the place of `{work}`, at any depth."""
    if isinstance(value, str):
        return value.replace("{work}", str(work))
    if isinstance(value, dict):
        return {key: fill(inner, work) for key, inner in value.items()}
    return [fill(inner, work) for inner in value] if isinstance(value, list | tuple) else value


@pytest.fixture
async def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[toolcrib.Host]:
    """A running host with no servers."""
    for name, value in client_settings().items():
        monkeypatch.setenv(name, value)
    home = tmp_path / "home"
    home.mkdir()
    (home / "mcp.json").write_text('{"mcpServers": {}}')
    async with toolcrib.open_host(home) as opened:
        yield opened


async def ask(host: toolcrib.Host, operation: str, **params: Any) -> Any:
    async def unheard(event: Any) -> None:
        pass

    return await perform(host, operation, params, Invocation())


async def agree(host: toolcrib.Host) -> None:
    """Tools that another version describes in other words wait for a person's word."""
    async with asyncio.timeout(START):
        await host.servers["srv"].settled()
    await host.agree("srv")


async def call(host: toolcrib.Host, package: Package, work: Path) -> str:
    """What the server answers, once it runs; an error counts as an answer."""
    async with asyncio.timeout(START):
        status = await host.servers["srv"].settled()
    assert status.state == toolcrib.ServerState.READY, f"{status.reason} {host.log_lines('srv', 20)}"
    name = next(tool.name for tool in host.tools("srv") if tool.definition.name == package.tool)
    result = await host.call(name, fill(package.arguments, work))
    return "\n".join(part.get("text", "") for part in result["content"])


def installed_version(host: toolcrib.Host) -> str:
    """The version that the running process was started from, by where its program lies."""
    pid = host.servers.status("srv").pid
    assert pid is not None
    command = Path(f"/proc/{pid}/cmdline").read_bytes().decode()
    current = (host.core.connector.installs / "srv" / "current").resolve()
    assert str(current) in command
    assert stat_of(pid) is not None
    version = host.config.servers["srv"].raw["version"]
    return str(version)


async def install(host: toolcrib.Host, package: Package, reference: str, work: Path) -> Any:
    work.mkdir()
    package.prepare(work)
    settings = {"args": fill(package.args, work), "env": fill(package.env, work)}
    return await ask(host, "install", name="srv", reference=reference, **settings)


@pytest.mark.parametrize(
    "package", [package for package in PACKAGES if package not in UPDATED], ids=lambda package: package.old
)
async def test_a_real_package_is_installed_and_answers(
    package: Package, host: toolcrib.Host, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    newer = package.old.replace(package.version, package.new)

    done = await install(host, package, newer, work)

    assert done["installed"]["version"] == package.new
    assert package.answer in await call(host, package, work)
    assert installed_version(host) == package.new


@pytest.mark.parametrize("package", UPDATED, ids=lambda package: package.old)
async def test_a_real_package_is_installed_called_updated_rolled_back_and_uninstalled(
    package: Package, host: toolcrib.Host, tmp_path: Path
) -> None:
    work, old = tmp_path / "work", package.version

    done = await install(host, package, package.old, work)
    assert done["installed"]["version"] == old
    assert package.answer in await call(host, package, work)
    assert installed_version(host) == old

    (found,) = await ask(host, "outdated")
    assert (found["name"], found["version"], found["outdated"]) == ("srv", old, True)

    updated = await ask(host, "update", name="srv", to=package.new)
    assert (updated["updated"], updated["installed"]["replaced"]) == (True, old)
    await agree(host)
    assert package.answer in await call(host, package, work)
    assert installed_version(host) == package.new

    back = await ask(host, "rollback", name="srv")
    assert (back["active"]["version"], back["before"]["version"]) == (old, package.new)
    await agree(host)
    assert package.answer in await call(host, package, work)
    assert installed_version(host) == old

    gone = await ask(host, "uninstall", name="srv")
    assert sorted(gone["versions"]) == sorted([old, package.new])
    assert "srv" not in host.config.servers
    assert list(host.core.connector.installs.iterdir()) == []
    with pytest.raises(UnknownServer):
        await ask(host, "uninstall", name="srv")
