"""A server as a child process that speaks lines of JSON on stdin and stdout.

Linear in message size, bounded in line length, deaf to rubbish on stdout (it is counted and logged). The
process has a group of its own; when the block is left, the group and whatever escaped from it are gone.
"""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, Field

from toolcrib.errors import ConnectionLost, SpawnFailed, ToolcribError
from toolcrib.servers.codec import NotAMessage, decode, encode
from toolcrib.servers.lines import LineCutter, LineTooLong
from toolcrib.servers.link import Inbox, Link, LinkContext, Message
from toolcrib.servers.log import LONGEST_LINE, ServerLog
from toolcrib.servers.orphans import MARKER, kill_marked
from toolcrib.servers.processes import end_group

EXIT_GRACE = 0.2
"""Seconds after a process's end in which its last words may still arrive."""
LONGEST_JUNK = 2 * LONGEST_LINE
"""Twice what the log keeps, so that a secret is still whole when it looks for it."""
LONGEST_LAST_WORDS = 500
CANNOT_RUN = {126: "is not executable", 127: "was not found"}


class Spec(BaseModel):
    """The keys of a `stdio` entry."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    command: str = Field(min_length=1)
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    cwd: str | None = None


class StdioLink(asyncio.SubprocessProtocol):
    """The child process as a link; the event loop calls it with what the child writes."""

    def __init__(self, spec: Spec, inbox: Inbox, context: LinkContext) -> None:
        self._spec = spec
        self._inbox = inbox
        self._context = context
        self._cutter = LineCutter(self._on_line, context.max_message_bytes)
        self._transport: asyncio.SubprocessTransport | None = None
        self._stdin: asyncio.WriteTransport | None = None
        self._writable: asyncio.Future[None] | None = None
        self._lost = False
        self._spoke = False
        self.log = ServerLog(context.log_path, secrets=context.masked)
        self.gone = asyncio.Event()
        self.junk_lines = 0

    @property
    def pid(self) -> int | None:
        """The child's process id, which is also its group's."""
        return self._transport.get_pid() if self._transport is not None else None

    async def send(self, message: Message) -> None:
        """Write one line; waits while the child does not read."""
        while self._writable is not None and not self._lost:
            await asyncio.shield(self._writable)
        if self._lost or self._stdin is None or self._stdin.is_closing():
            raise ConnectionLost(f"{self._context.server} no longer reads its input.")
        self._stdin.write(encode(message) + b"\n")

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The child runs (called by the event loop)."""
        self._transport = cast("asyncio.SubprocessTransport", transport)
        self._stdin = cast("asyncio.WriteTransport", self._transport.get_pipe_transport(0))
        self._context.on_spawn(self._transport.get_pid())

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """The child wrote something (called by the event loop)."""
        if fd == 2:
            self.log.feed(data)
            return
        if self._lost:
            return
        try:
            self._cutter.feed(data)
        except LineTooLong:
            megabytes = self._context.max_message_bytes >> 20
            self._lose(ConnectionLost(f"{self._context.server} sent a line of more than {megabytes} MB."))

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """The child closed one of its streams (called by the event loop)."""
        if fd == 2:
            return
        stream = "input" if fd == 0 else "output"
        asyncio.get_running_loop().call_later(
            EXIT_GRACE, self._lose, ConnectionLost(f"{self._context.server} closed its {stream}.")
        )

    def process_exited(self) -> None:
        """The child ended (called by the event loop); its last lines may still be in the pipe."""
        self.gone.set()
        asyncio.get_running_loop().call_later(EXIT_GRACE / 2, self._lose_after_exit)

    def connection_lost(self, exc: Exception | None) -> None:
        """The child ended and all it wrote was read (called by the event loop)."""
        self._lose_after_exit()

    def pause_writing(self) -> None:
        """The pipe is full (called by the event loop)."""
        self._writable = asyncio.get_running_loop().create_future()

    def resume_writing(self) -> None:
        """The pipe has room again (called by the event loop)."""
        self._release_writers()

    async def end(self) -> None:
        """Close stdin, wait, insist; afterwards nothing of the child is left."""
        self._lost = True
        self._release_writers()
        if self._transport is None:  # it may have been cancelled in the middle of spawning
            await asyncio.to_thread(kill_marked, self._context.marker)
            return
        group = self._transport.get_pid()
        if self._stdin is not None:
            self._stdin.abort() if self._stdin.get_write_buffer_size() else self._stdin.close()
        await end_group(group, self._context.marker, self.gone)
        self._transport.close()
        self._context.on_exit(group)
        self.log.close()

    def _on_line(self, line: bytes | bytearray) -> None:
        try:
            messages = decode(line)
        except NotAMessage:
            self._count_junk(line)
            return
        self._spoke = True
        for message in messages:
            self._inbox.receive(message)

    def _count_junk(self, line: bytes | bytearray) -> None:
        text = bytes(line[:LONGEST_JUNK]).decode("utf-8", "replace").strip()
        if not text:
            return
        self.junk_lines += 1
        self.log.line(f"[stdout] {text}")
        self._context.on_junk(self.junk_lines)

    def _lose_after_exit(self) -> None:
        if self._lost:
            return
        assert self._transport is not None
        code = self._transport.get_returncode()
        self._lose(exit_error(self._context.server, code, self.log.tail(3), ran=self._spoke))

    def _lose(self, error: ToolcribError) -> None:
        if self._lost:
            return
        self._lost = True
        self._release_writers()
        self._inbox.lost(error)

    def _release_writers(self) -> None:
        waiting, self._writable = self._writable, None
        if waiting is not None and not waiting.done():
            waiting.set_result(None)


def exit_error(server: str, code: int | None, last_words: list[str], *, ran: bool = False) -> ToolcribError:
    """What to say of a process that ended by itself; `ran` when it had spoken our protocol before."""
    words = [line.strip()[:LONGEST_LAST_WORDS] for line in last_words if line.strip()]
    said = f" It said: {' / '.join(words)}" if words else ""
    hint = f"`toolcrib logs {server}` shows what it wrote before."
    if code in CANNOT_RUN and not ran:
        return SpawnFailed(f"The command of {server} {CANNOT_RUN[code]} (exit code {code}).{said}", hint=hint)
    how = f"was killed by signal {-code}" if code is not None and code < 0 else f"exited with code {code}"
    return ConnectionLost(f"{server} {how}.{said}", hint=hint)


@asynccontextmanager
async def open(spec: Spec, inbox: Inbox, context: LinkContext) -> AsyncIterator[Link]:  # noqa: A001
    """Run the command for as long as the block lasts."""
    link = StdioLink(spec, inbox, context)
    try:
        await _spawn(spec, link, context)
        yield link
    finally:
        await _to_the_end(asyncio.ensure_future(link.end()))


async def _spawn(spec: Spec, link: StdioLink, context: LinkContext) -> None:
    environment = {**context.environment, **spec.env, MARKER: context.marker}
    _refuse_nul(spec, environment)
    program = find_program(spec.command, environment, spec.cwd)
    try:
        await asyncio.get_running_loop().subprocess_exec(
            lambda: link, program, *spec.args, env=environment, cwd=spec.cwd, start_new_session=True
        )
    except OSError as error:
        raise _spawn_error(spec, program, error) from None
    except ValueError as error:  # such as a variable with a "=" in its name
        raise SpawnFailed(
            f"The command {spec.command!r} cannot be run: {error}.", hint="Correct `args` or `env`."
        ) from None


def _refuse_nul(spec: Spec, environment: Mapping[str, str]) -> None:
    """The system ends a text there, and not every event loop refuses it: half an argument would be passed."""
    given = [spec.command, *spec.args, *environment, *environment.values(), spec.cwd or ""]
    if any("\0" in text for text in given):
        raise SpawnFailed(
            f"The command {spec.command!r} cannot be run: there is a zero byte in it.",
            hint="Take the zero byte out of `command`, `args`, `env` or `cwd`.",
        )


def find_program(command: str, environment: Mapping[str, str], cwd: str | None) -> str:
    """The executable's full path, or a `SpawnFailed` that says where it was looked for."""
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
        return "The command is only the program; put what follows it into `args`."
    known = {
        "npx": "Install Node.js, which brings npx.",
        "node": "Install Node.js.",
        "uvx": "Install uv, which brings uvx: `pip install uv`.",
        "uv": "Install uv: `pip install uv`.",
        "docker": "Install Docker.",
        "python": "Try python3 as the command.",
    }
    return known.get(command, f"Install {command}, or give its full path as the command.")


def _spawn_error(spec: Spec, program: str, error: OSError) -> SpawnFailed:
    if spec.cwd and not Path(spec.cwd).is_dir():
        return SpawnFailed(f"The working folder {spec.cwd!r} does not exist.", hint="Correct `cwd`.")
    if spec.cwd and not os.access(spec.cwd, os.X_OK):
        return SpawnFailed(f"The working folder {spec.cwd!r} may not be entered.", hint="Correct `cwd`.")
    why, hint = _why_not(program, error)
    return SpawnFailed(f"The command {spec.command!r} {why}.", hint=hint)


def _why_not(program: str, error: OSError) -> tuple[str, str]:
    if error.errno == errno.ENOEXEC:
        return "is no program this machine can run", "Is it for another architecture, or a script without #!?"
    if error.errno == errno.EACCES:
        return "may not be run", "Make it executable: chmod +x."
    if error.errno == errno.ENOENT and Path(program).exists():
        return "needs an interpreter that is not there", "Correct its first line, or install it again."
    if error.errno == errno.ENOENT:
        return "was not found", "Correct `command`, or install what it names."
    return f"cannot be run ({error.strerror})", "Correct `command`."


async def _to_the_end(ending: asyncio.Future[Any]) -> None:
    """Wait for the end even when cancelled meanwhile: a half-ended process would be an orphan."""
    cancelled: asyncio.CancelledError | None = None
    while not ending.done():
        try:
            await asyncio.shield(ending)
        except asyncio.CancelledError as error:
            cancelled = error
    ending.result()
    if cancelled is not None:
        raise cancelled
