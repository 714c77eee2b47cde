"""A child process: its three pipes, its lines, and the limit on open files. Has the error messages and
install hints for a command that cannot be run, such as npx or uvx.

Not the loop's own `subprocess_exec`: that needs a loop iteration for each chunk, and under uvloop a child
holds its ends of the pipes twice, so that a closed output goes unnoticed.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import resource
import shutil
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Protocol

from toolcrib.errors import ResourceShortage, SpawnFailed, ToolcribError
from toolcrib.servers.processes.orphans import MARKER
from toolcrib.servers.transport import LinkContext


class StartCommand(Protocol):
    """The part of a stdio server's entry that says what to run."""

    @property
    def command(self) -> str: ...

    @property
    def args(self) -> tuple[str, ...]: ...

    @property
    def env(self) -> dict[str, str]: ...

    @property
    def cwd(self) -> str | None: ...


def start(spec: StartCommand, context: LinkContext) -> subprocess.Popen[bytes]:
    """Start the server's process; raises `SpawnFailed`."""
    environment = environment_of(spec, context)
    program = find_program(spec.command, environment, spec.cwd)
    return spawn(spec, [program, *spec.args], environment, cwd=spec.cwd)


def environment_of(spec: StartCommand, context: LinkContext) -> dict[str, str]:
    return {**context.environment, **spec.env, MARKER: context.marker}


def spawn(
    spec: StartCommand,
    argv: list[str],
    environment: Mapping[str, str],
    *,
    cwd: str | None,
    descriptors: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Start a process in its own session with three pipes; errors are about `spec`."""
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=environment,
            cwd=cwd,
            pass_fds=descriptors,
            start_new_session=True,
        )
    except OSError as error:
        raise _start_error(spec, error) from None
    except ValueError as error:  # a null byte, or a variable with "=" in its name
        raise SpawnFailed(
            f"The command {spec.command!r} cannot be run: {error}.",
            hint="Fix `command`, `args`, `env` or `cwd`.",
        ) from None
    restore_limit(process.pid)
    return process


def find_program(command: str, environment: Mapping[str, str], cwd: str | None) -> str:
    """The executable's full path; raises `SpawnFailed`."""
    if os.sep in command:
        return str(Path(cwd or ".", command).absolute()) if not command.startswith("/") and cwd else command
    path = environment.get("PATH", os.defpath)
    found = shutil.which(command, path=path)
    if found is None:
        raise SpawnFailed(
            f"The command {command!r} was not found on the PATH ({path}).", hint=_install_hint(command)
        )
    return found


def _install_hint(command: str) -> str:
    if " " in command:
        return "`command` is only the program; put its arguments into `args`."
    known = {
        "npx": "Install Node.js, which includes npx.",
        "node": "Install Node.js.",
        "uvx": "Install uv, which includes uvx: `pip install uv`.",
        "uv": "Install uv: `pip install uv`.",
        "docker": "Install Docker.",
        "python": "Use python3 as the command.",
    }
    return known.get(command, f"Install {command}, or use its full path as the command.")


def _start_error(spec: StartCommand, error: OSError) -> ToolcribError:
    shortage = shortage_of(error)
    if shortage is not None:
        return shortage
    if spec.cwd and not Path(spec.cwd).is_dir():
        return SpawnFailed(f"The working folder {spec.cwd!r} does not exist.", hint="Fix `cwd`.")
    if spec.cwd and not os.access(spec.cwd, os.X_OK):
        return SpawnFailed(f"The working folder {spec.cwd!r} is not accessible.", hint="Fix `cwd`.")
    why, hint = _why_not(Path(spec.cwd or ".", spec.command), error)
    return SpawnFailed(f"The command {spec.command!r} {why}.", hint=hint)


def _why_not(program: Path, error: OSError) -> tuple[str, str]:
    if error.errno == errno.ENOEXEC:
        return "cannot run on this machine", "Is it for another architecture, or a script without #!?"
    if error.errno == errno.EACCES:
        return "is not executable", "Make it executable: chmod +x."
    if error.errno == errno.ENOENT and program.exists():
        return "needs an interpreter that is missing", "Fix its first line, or reinstall it."
    if error.errno == errno.ENOENT:
        return "was not found", "Fix `command`, or install the program."
    return f"cannot be run ({error.strerror})", "Fix `command`."


class ChildListener(Protocol):
    """Receives the events of a child; the methods must not block."""

    def wrote(self, data: bytes) -> None:
        """It wrote to stdout."""

    def complained(self, data: bytes) -> None:
        """It wrote to stderr."""

    def closed(self, stream: str) -> None:
        """It closed its `input`, `output` or `errors`."""

    def exited(self) -> None:
        """It ended; its output may still be unread."""

    def finished(self) -> None:
        """It ended and all of its output was read."""

    def pause_writing(self) -> None:
        """Its stdin is full."""

    def resume_writing(self) -> None:
        """Its stdin has room again."""


class Child:
    """A process just started with three pipes; call `connect`, and `close` at the end."""

    def __init__(self, process: subprocess.Popen[bytes], owner: ChildListener) -> None:
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
        """Open the pipes. Must not be cancelled halfway."""
        owner, process = self._owner, self._process
        self.input, _ = await self._loop.connect_write_pipe(lambda: _Input(owner), process.stdin)
        await self._read("output", process.stdout, owner.wrote)
        await self._read("errors", process.stderr, owner.complained)

    def close_input(self) -> None:
        """Close its stdin; unread input is dropped."""
        if self.input is not None:
            self.input.abort() if self.input.get_write_buffer_size() else self.input.close()

    def pause_output(self) -> None:
        self._outputs[0].pause_reading()

    def resume_output(self) -> None:
        if not self._outputs[0].is_closing():
            self._outputs[0].resume_reading()

    def limit_reads(self, size: int) -> None:
        """Read at most so many bytes of its output at once.

        A process that fills its pipe works as long as it takes to fill what was read, and others wait for the
        processor meanwhile.
        """
        with contextlib.suppress(AttributeError):  # other event loops than asyncio's own
            self._outputs[0].max_size = size  # type: ignore[attr-defined]

    def close(self) -> None:
        """Close the pipes; the process must have ended."""
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
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._reap)

    def _unwatch(self) -> None:
        if self._descriptor is not None:
            self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = None

    def has_ended(self) -> bool:
        """Check now whether it ended; the listener is called first."""
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
    def __init__(self, owner: ChildListener) -> None:
        self._owner = owner

    def pause_writing(self) -> None:
        self._owner.pause_writing()

    def resume_writing(self) -> None:
        self._owner.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._owner.closed("input")


class _Output(asyncio.Protocol):
    def __init__(self, take: Callable[[bytes], None], ended: Callable[[], None]) -> None:
        self.data_received = take  # type: ignore[assignment]  # direct: on the path of every call
        self._ended = ended

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended()


class LineTooLong(Exception):
    """A line exceeded the limit."""


class LineCutter:
    """Splits chunks into lines, in linear time; calls back with each line, without its newline."""

    __slots__ = ("_limit", "_on_line", "_partial")

    def __init__(self, on_line: Callable[[bytes | bytearray], None], limit: int) -> None:
        self._on_line = on_line
        self._limit = limit
        self._partial = bytearray()

    def feed(self, data: bytes) -> None:
        """Take the next chunk; raises `LineTooLong`."""
        end = data.find(b"\n")
        if 0 < end == len(data) - 1 <= self._limit and not self._partial:
            self._on_line(data[:end])  # the common case: exactly one line
            return
        start = 0
        if self._partial:
            if end < 0:
                self._grow(data)
                return
            self._grow(data[:end])
            line, self._partial = self._partial, bytearray()
            self._on_line(line)
            start = end + 1
        while (end := data.find(b"\n", start)) >= 0:
            if end - start > self._limit:
                raise LineTooLong
            if end > start:
                self._on_line(data[start:end])
            start = end + 1
        if start < len(data):
            self._grow(data[start:] if start else data)

    def _grow(self, data: bytes) -> None:
        if len(self._partial) + len(data) > self._limit:
            self._partial = bytearray()
            raise LineTooLong
        self._partial += data


ENOUGH = 65_536
SHORTAGES = (errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM)

_usual: list[tuple[int, int]] = []


def raise_limit() -> None:
    """Raise this process's limit on open files: many servers need more than the usual 1,024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = ENOUGH if hard == resource.RLIM_INFINITY else min(hard, ENOUGH)
    if soft == resource.RLIM_INFINITY or soft >= most:
        return
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        _usual[:] = [(soft, hard)]


def restore_limit(pid: int) -> None:
    """Give a child the original limit: some programs loop over every possible descriptor."""
    if not _usual or not hasattr(resource, "prlimit"):
        return
    with contextlib.suppress(OSError):  # it has ended already
        resource.prlimit(pid, resource.RLIMIT_NOFILE, _usual[0])


def shortage_of(error: BaseException) -> ResourceShortage | None:
    """The error for an exhausted system resource; None for any other error."""
    if not isinstance(error, OSError) or error.errno not in SHORTAGES:
        return None
    return ResourceShortage(
        f"The system is out of resources for another server: {error.strerror}.",
        hint="It is retried automatically. Close unused programs, or raise the limit (`ulimit -n`).",
    )
