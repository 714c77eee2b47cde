"""Starts `toolcrib` by forking a process that has it loaded already (see `fork_server.py`)."""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).parents[2]


class Forked:
    """A running `toolcrib`, used like the `subprocess.Popen` of a program that reads and writes text."""

    def __init__(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        stdin: int = subprocess.DEVNULL,
        stdout: int = subprocess.PIPE,
        stderr: int = subprocess.PIPE,
        *,
        on_terminal: bool = False,
    ) -> None:
        self.args = list(arguments)
        self.returncode: int | None = None
        inner = [_Stream(stdin, "r"), _Stream(stdout, "w"), _Stream(stderr, "w")]
        self.stdin, self.stdout, self.stderr = (stream.ours for stream in inner)
        reading, status = os.pipe()
        self._status = os.fdopen(reading, "rb", buffering=0)
        asked = {
            "arguments": self.args,
            "environment": dict(environment),
            "cwd": str(Path.cwd()),
            "on_terminal": on_terminal,
        }
        with tempfile.TemporaryFile("w+", encoding="utf-8") as file:
            json.dump(asked, file)
            file.seek(0)
            _send([file.fileno(), *(stream.theirs for stream in inner), status])
        os.close(status)
        for stream in inner:
            stream.close()
        self.pid = int(self._status.readline())

    def poll(self) -> int | None:
        """The exit code, or None while it runs."""
        if self.returncode is None and select.select([self._status], [], [], 0)[0]:
            self._finish()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """The exit code, once it has ended."""
        if self.returncode is None:
            if not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
            self._finish()
        assert self.returncode is not None
        return self.returncode

    def communicate(self, input: str | None = None, timeout: float | None = None) -> tuple[Any, Any]:  # noqa: A002
        """Send the input, and read both streams to their ends."""
        readers = [_Reader(stream) for stream in (self.stdout, self.stderr)]
        if self.stdin is not None:
            _feed(self.stdin, input)
        for reader in readers:
            reader.join(timeout)
            if reader.is_alive():
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
        self.wait(timeout)
        return readers[0].text, readers[1].text

    def send_signal(self, number: int) -> None:
        """Send it unless the process has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)

    def __enter__(self) -> Forked:
        return self

    def __exit__(self, *_: object) -> None:
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None:
                stream.close()
        self.wait()

    def _finish(self) -> None:
        line = self._status.readline()
        assert line, "the fork server has ended"
        self.returncode = int(line)
        self._status.close()


class _Stream:
    """One stream of a new process: the descriptor it gets, and our end if it is a pipe."""

    def __init__(self, wanted: int, mode: str) -> None:
        self.ours: IO[str] | None = None
        if wanted == subprocess.PIPE:
            reading, writing = os.pipe()
            self.theirs, kept = (reading, writing) if mode == "r" else (writing, reading)
            self.ours = os.fdopen(kept, "w" if mode == "r" else "r", encoding="utf-8")
        elif wanted == subprocess.DEVNULL:
            self.theirs = os.open(os.devnull, os.O_RDWR)
        else:
            self.theirs = os.dup(wanted if isinstance(wanted, int) else wanted.fileno())

    def close(self) -> None:
        """Our copy of its descriptor."""
        os.close(self.theirs)


class _Reader(threading.Thread):
    """Reads a stream to its end."""

    def __init__(self, stream: IO[str] | None) -> None:
        super().__init__(daemon=True)
        self._stream = stream
        self.text: str | None = None
        self.start()

    def run(self) -> None:
        if self._stream is None or self._stream.closed:
            return
        self.text = self._stream.read()
        self._stream.close()


def _feed(stdin: IO[str], text: str | None) -> None:
    try:
        stdin.write(text or "")
        stdin.close()
    except BrokenPipeError:
        pass


_sending = threading.Lock()


def _send(descriptors: list[int]) -> None:
    with _sending:
        socket.send_fds(_server(), [b"."], descriptors)


@cache
def _server() -> socket.socket:
    """A connection to this process's fork server, which ends when we do."""
    ours, theirs = socket.socketpair()
    environment = {**os.environ, "PYTHONUTF8": "1"}
    for name in [name for name in environment if name.startswith("TOOLCRIB_")]:
        del environment[name]
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.cli.fork_server", str(theirs.fileno())],
        pass_fds=[theirs.fileno()],
        stdin=subprocess.DEVNULL,
        cwd=ROOT,
        env=environment,
    )
    theirs.close()
    atexit.register(_end, process, ours)
    return ours


def _end(process: subprocess.Popen[bytes], connection: socket.socket) -> None:
    connection.close()
    process.wait()
