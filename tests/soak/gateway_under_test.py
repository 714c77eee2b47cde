"""A real `toolcrib serve` with servers that are killed, and what can be asked of it from outside."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.soak.measuring import Usage, runs, usage

PROGRAMS = Path(__file__).parent / "programs"
DEADLINE = 60.0
RESTART = {"giveUpAfter": 1_000_000, "firstDelay": 0.05, "longestDelay": 0.5}


@dataclass(frozen=True)
class Serving:
    """The process and its home."""

    url: str
    process: asyncio.subprocess.Process
    folder: Path
    servers: tuple[str, ...]

    def usage(self) -> Usage:
        """What it uses now."""
        return usage(self.process.pid, self.folder / "probe")

    def server_pid(self, name: str) -> int | None:
        """The process of a server, if it runs."""
        with contextlib.suppress(OSError, ValueError):
            pid = int((self.folder / f"{name}.pid").read_text())
            return pid if runs(pid, str(self.folder)) else None
        return None

    def journal(self) -> list[str]:
        """What the servers did that must not be done twice."""
        files = [self.folder / f"{name}.journal" for name in self.servers]
        return [line for file in files for line in file.read_text().splitlines()]

    def database(self) -> Path:
        """The record of calls."""
        (found,) = self.folder.joinpath("home").rglob("*.db")
        return found

    def recorded(self) -> int:
        """How many calls are written down."""
        with contextlib.closing(sqlite3.connect(f"file:{self.database()}?mode=ro", uri=True)) as database:
            return int(database.execute("SELECT count(*) FROM calls").fetchone()[0])

    def counted(self) -> list[dict[str, Any]]:
        """What `toolcrib servers --json` says."""
        command = [sys.executable, "-m", "toolcrib", "servers", "--json"]
        done = subprocess.run(command, env=environment(self.folder), capture_output=True, timeout=DEADLINE)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


def environment(folder: Path) -> dict[str, str]:
    """What the gateway is started with."""
    own = {"TOOLCRIB_HOME": str(folder / "home"), "TOOLCRIB_KEYRING": "off", "PROBE": str(folder / "probe")}
    own["TOOLCRIB_TRUST_CONFIG"] = "1"
    return {**os.environ, **own}


def write_config(folder: Path, servers: tuple[str, ...]) -> None:
    """Servers of both eras, which may be killed as often as one likes."""
    program = str(PROGRAMS / "echoing.py")
    entries = {
        name: {
            "command": sys.executable,
            "args": ["-I", "-S", program, name, ("legacy", "modern")[number % 2], str(folder)],
            "restart": RESTART,
        }
        for number, name in enumerate(servers)
    }
    home = folder / "home"
    home.mkdir(parents=True)
    (home / "mcp.json").write_text(json.dumps({"mcpServers": entries}))


@asynccontextmanager
async def serving(folder: Path, servers: tuple[str, ...]) -> AsyncIterator[Serving]:
    """Serve until the block is left; then it must end by itself, and well."""
    write_config(folder, servers)
    with (folder / "stderr").open("wb") as stderr:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, str(PROGRAMS / "serving.py"), "serve", "--json"),
            env=environment(folder),
            stdout=asyncio.subprocess.PIPE,
            stderr=stderr,
        )
    try:
        assert process.stdout is not None
        line = await asyncio.wait_for(process.stdout.readline(), DEADLINE)
        yield Serving(json.loads(line)["url"], process, folder, servers)
        process.send_signal(signal.SIGTERM)
        code = await asyncio.wait_for(process.wait(), DEADLINE)
        assert code in (0, 128 + signal.SIGTERM), (folder / "stderr").read_text()[-2000:]
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def kill_at_random(serving: Serving, over: asyncio.Event, chance: random.Random) -> int:
    """Kill one server after another with -9; returns how often."""
    killed = 0
    while not over.is_set():
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(over.wait(), 0.2 + 2 * chance.random())
        pid = serving.server_pid(chance.choice(serving.servers))
        if pid is not None and not over.is_set():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                killed += 1
    return killed


async def all_back(serving: Serving) -> None:
    """Wait until every server runs again."""
    async with asyncio.timeout(DEADLINE):
        for name in serving.servers:
            while serving.server_pid(name) is None:  # noqa: ASYNC110 - it is another process
                await asyncio.sleep(0.05)
