"""A child process and its three pipes, the same on every event loop.

Not the loop's own `subprocess_exec`: that takes a turn of the loop for each chunk, and under uvloop a child
holds its ends of the pipes twice, so that it can close its output and nobody notices.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import threading
from collections.abc import Callable
from typing import IO, Protocol


class Owner(Protocol):
    """Who hears of a child. All methods are plain calls."""

    def wrote(self, data: bytes) -> None:
        """It wrote to stdout."""

    def complained(self, data: bytes) -> None:
        """It wrote to stderr."""

    def closed(self, stream: str) -> None:
        """It closed its `input`, `output` or `errors`."""

    def exited(self) -> None:
        """It ended; what it wrote before may still have to be read."""

    def finished(self) -> None:
        """It ended and all that it wrote was read."""

    def pause_writing(self) -> None:
        """Its stdin is full."""

    def resume_writing(self) -> None:
        """Its stdin has room again."""


class Child:
    """A process that was just started with three pipes; it has to be connected, and closed in the end."""

    def __init__(self, process: subprocess.Popen[bytes], owner: Owner) -> None:
        self.pid = process.pid
        self.gone = asyncio.Event()
        """Set once the process has ended."""
        self.input: asyncio.WriteTransport | None = None
        self._process = process
        self._owner = owner
        self._loop = asyncio.get_running_loop()
        self._outputs: list[asyncio.ReadTransport] = []
        self._unread = {"output", "errors"}
        self._descriptor: int | None = None
        self._watch()

    @property
    def code(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        return self._process.returncode

    async def connect(self) -> None:
        """Take hold of the pipes. Not to be cancelled half-way."""
        owner, process = self._owner, self._process
        self.input, _ = await self._loop.connect_write_pipe(lambda: _Input(owner), process.stdin)
        await self._read("output", process.stdout, owner.wrote)
        await self._read("errors", process.stderr, owner.complained)

    def close_input(self) -> None:
        """Let it know that nothing more comes; what it has not read by now is not kept for it."""
        if self.input is not None:
            self.input.abort() if self.input.get_write_buffer_size() else self.input.close()

    def pause_output(self) -> None:
        """Read nothing more of its stdout for now."""
        self._outputs[0].pause_reading()

    def resume_output(self) -> None:
        """Read its stdout again."""
        if not self._outputs[0].is_closing():
            self._outputs[0].resume_reading()

    def close(self) -> None:
        """Let go of everything; the process itself has to be ended before."""
        self.close_input()
        for transport in self._outputs:
            transport.close()
        self._unwatch()

    async def _read(self, name: str, pipe: IO[bytes] | None, take: Callable[[bytes], None]) -> None:
        def ended() -> None:
            self._unread.discard(name)
            self._owner.closed(name)
            self._check_finished()

        transport, _ = await self._loop.connect_read_pipe(lambda: _Output(take, ended), pipe)
        self._outputs.append(transport)

    def _watch(self) -> None:
        try:
            self._descriptor = os.pidfd_open(self.pid)
        except (AttributeError, OSError):  # not Linux, or not allowed
            threading.Thread(target=self._wait, daemon=True, name=f"wait for {self.pid}").start()
        else:
            self._loop.add_reader(self._descriptor, self._reap)

    def _wait(self) -> None:
        self._process.wait()
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody cares any more
            self._loop.call_soon_threadsafe(self._reap)

    def _unwatch(self) -> None:
        if self._descriptor is not None:
            self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = None

    def has_ended(self) -> bool:
        """Look whether it ended; if so, the owner has heard of it by now."""
        self._reap()
        return self.gone.is_set()

    def _reap(self) -> None:
        if self._process.poll() is None or self.gone.is_set():
            return
        self._unwatch()
        self.gone.set()
        self._owner.exited()
        self._check_finished()

    def _check_finished(self) -> None:
        if self.gone.is_set() and not self._unread:
            self._owner.finished()


class _Input(asyncio.BaseProtocol):
    """The pipe that the child reads."""

    def __init__(self, owner: Owner) -> None:
        self._owner = owner

    def pause_writing(self) -> None:
        self._owner.pause_writing()

    def resume_writing(self) -> None:
        self._owner.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._owner.closed("input")


class _Output(asyncio.Protocol):
    """A pipe that the child writes."""

    def __init__(self, take: Callable[[bytes], None], ended: Callable[[], None]) -> None:
        self.data_received = take  # type: ignore[assignment]  # nothing in between: every answer comes here
        self._ended = ended

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended()
