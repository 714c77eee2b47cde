"""A gateway that runs: started in a folder of its own, ended with all that it started."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path

from benchmarks.gateway.client import Client, Failed, connect
from benchmarks.gateway.contract import Peer, Server, Site, Way
from benchmarks.gateway.processes import Usage, started_at, tree, usage

PAUSE = 0.02
TRY = 10.0
"""Seconds that one attempt may take before another is made."""
GRACE = 5.0


class NotReady(Exception):
    """A gateway did not do in time what was waited for; the text is the last thing that went wrong."""


class Gateway:
    """One gateway under test."""

    def __init__(self, peer: Peer, site: Site, processes: list[subprocess.Popen[bytes]]) -> None:
        self.site = site
        self._peer = peer
        self.processes = processes
        self.started = time.perf_counter()

    def connect(self, server: str, way: Way | None = None) -> AbstractAsyncContextManager[Client]:
        """A client of this server's endpoint."""
        return connect(way or self._peer.SPEAKS[0], self._peer.url(self.site, server))

    def tool(self, server: str, tool: str) -> str:
        """What the tool is called."""
        return self._peer.tool(self.site, server, tool)

    def usage(self) -> Usage:
        """What it has used so far."""
        return usage([process.pid for process in self.processes])

    async def until_listed(self, servers: Iterable[str], limit: float) -> float:
        """Wait until a client sees the tools of all of these; seconds since the start."""
        by_url: dict[str, list[str]] = {}
        for server in servers:
            by_url.setdefault(self._peer.url(self.site, server), []).append(server)

        async def listed(names: list[str]) -> bool:
            async with self.connect(names[0]) as client:
                seen = set(await client.tools())
            return all(self.tool(name, "echo") in seen for name in names)

        await asyncio.gather(*(self._until(partial(listed, names), limit) for names in by_url.values()))
        return time.perf_counter() - self.started

    async def until_callable(self, servers: Iterable[str], limit: float) -> float:
        """Wait until a call to each of these was answered; seconds since the start."""

        async def answers(server: str) -> bool:
            async with self.connect(server) as client:
                return "hello" in await client.call(self.tool(server, "echo"), {"text": "hello"})

        await asyncio.gather(*(self._until(partial(answers, name), limit) for name in servers))
        return time.perf_counter() - self.started

    async def _until(self, attempt: Callable[[], Awaitable[bool]], limit: float) -> None:
        last = ""
        end = time.perf_counter() + limit
        while time.perf_counter() < end:
            try:
                async with asyncio.timeout(min(TRY, end - time.perf_counter())):
                    if await attempt():
                        return
            except (Failed, OSError, TimeoutError) as error:
                last = str(error) or type(error).__name__
            self._raise_if_ended()
            await asyncio.sleep(PAUSE)
        raise NotReady(f"not within {limit:.0f} s: {last}"[:300])

    def _raise_if_ended(self) -> None:
        if all(process.poll() is not None for process in self.processes):
            log = (self.site.folder / "log").read_text(errors="replace")
            raise NotReady(f"it ended: {' '.join(log.split())[-300:]}")


@asynccontextmanager
async def running(peer: Peer, servers: Iterable[Server]) -> AsyncIterator[Gateway]:
    """The gateway in front of these servers, as long as the block lasts."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        chosen = tuple(servers)
        site = Site(folder, free_port(len(chosen)), chosen)
        processes: list[subprocess.Popen[bytes]] = []
        gateway = Gateway(peer, site, processes)
        try:
            launches = peer.launch(site)
            gateway.started = time.perf_counter()
            for one in launches:
                processes.append(_start(one.command, dict(one.environment), folder))
            yield gateway
        finally:
            await asyncio.to_thread(_end, processes)


def _start(command: list[str], environment: dict[str, str], folder: Path) -> subprocess.Popen[bytes]:
    quiet = {"HOME": str(folder), "NO_COLOR": "1", "OTEL_SDK_DISABLED": "true"}
    with (folder / "log").open("ab") as log:
        return subprocess.Popen(
            command,
            cwd=folder,
            env=os.environ | quiet | environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def _end(processes: list[subprocess.Popen[bytes]]) -> None:
    """Ask it to end, then see that nothing of it is left."""
    whole = {pid: started_at(pid) for pid in tree([process.pid for process in processes])}
    for process in processes:
        process.send_signal(signal.SIGTERM)
    end = time.monotonic() + GRACE
    for process in processes:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(0.1, end - time.monotonic()))
    for pid, started in whole.items():
        if started and started_at(pid) == started:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    for process in processes:
        process.wait()


def free_port(count: int) -> int:
    """The first of so many ports in a row that nobody uses."""
    while True:
        with contextlib.ExitStack() as stack:
            first = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            port = int(first.getsockname()[1])
            try:
                for number in range(1, count):
                    stack.enter_context(socket.create_server(("127.0.0.1", port + number)))
            except (OSError, OverflowError):
                continue
            return port
