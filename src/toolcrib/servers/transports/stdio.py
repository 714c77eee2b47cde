"""A server in a child process, with one JSON message a line on stdin and stdout.

Other output on stdout is counted and logged. The process has its own group; when the block is left, the group
and any process that escaped from it have ended.
"""

from __future__ import annotations

import asyncio
import errno
import os
import re
import shutil
import subprocess
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolcrib.config.sections import Section, full_text, named_texts, text, texts
from toolcrib.errors import ConnectionLost, NotDelivered, SpawnFailed, ToolcribError
from toolcrib.servers.processes.child import Child, LineCutter, LineTooLong, restore_limit, shortage_of
from toolcrib.servers.processes.log import LONGEST_LINE, ServerLog
from toolcrib.servers.processes.orphans import MARKER
from toolcrib.servers.processes.termination import end_group
from toolcrib.servers.sessions.codec import SMALL, NotAMessage, decode, decode_any, encode, is_large
from toolcrib.servers.transport import Inbox, Link, LinkContext, Message, Traits

TRAITS = Traits(spawns=True)

EXIT_GRACE = 0.2
"""Seconds after a process's end in which its last output may still arrive."""
LONGEST_JUNK = 2 * LONGEST_LINE
"""Twice what the log keeps, so that a secret at the cut can be masked."""
LONGEST_SHOWN_LINE = 500
TELLING = re.compile(r"\b\w*(error|exception|fatal|panic|cannot|denied|refused|not found)\b", re.IGNORECASE)
"""Matches lines that usually explain a failure."""
CANNOT_RUN = {126: "is not executable", 127: "was not found"}


@dataclass(frozen=True, kw_only=True)
class Spec(Section):
    """The keys of a `stdio` entry."""

    command: str = full_text()
    args: tuple[str, ...] = texts()
    env: dict[str, str] = named_texts()
    cwd: str | None = text(None)


class StdioLink:
    """A link to a child process; receives the child's events."""

    def __init__(self, inbox: Inbox, context: LinkContext) -> None:
        self._inbox = inbox
        self._context = context
        self._cutter = LineCutter(self._on_line, context.max_message_bytes)
        self._child: Child | None = None
        self._writable: asyncio.Future[None] | None = None
        self._lost = False
        self._spoke = False
        self._waiting: deque[bytes | bytearray] | None = None
        """Lines received while a large one is parsed in a thread."""
        self._reading: asyncio.Task[None] | None = None
        self._loss: ToolcribError | None = None
        self.log = ServerLog(context.log_path, secrets=context.masked)
        self.junk_lines = 0
        self._loop = asyncio.get_running_loop()

    @property
    def pid(self) -> int | None:
        """Also the id of its process group."""
        return self._child.pid if self._child is not None else None

    async def send(self, message: Message) -> None:
        """Write one line, waiting until the child reads."""
        while self._writable is not None and not self._lost:
            await asyncio.shield(self._writable)
        stdin = self._child.input if self._child is not None else None
        if self._lost or stdin is None or stdin.is_closing():
            raise NotDelivered(f"{self._context.server} no longer reads its input.")
        stdin.write(encode(message) + b"\n")

    def post(self, message: Message) -> bool:
        """Write one line if the pipe has room."""
        if self._writable is not None or self._lost or self._child is None:
            return False
        stdin = self._child.input
        if stdin is None or stdin.is_closing():
            return False
        stdin.write(encode(message) + b"\n")
        return not stdin.is_closing()  # a broken pipe has taken nothing

    async def adopt(self, process: subprocess.Popen[bytes]) -> None:
        """Use this process."""
        self._child = Child(process, self)
        self._context.on_spawn(process.pid)
        await _finish(asyncio.ensure_future(self._child.connect()))

    async def end(self) -> None:
        """Close stdin and end the process group."""
        self._lost = True
        self._release_writers()
        if self._reading is not None:
            self._reading.cancel()
        if self._child is None:
            return
        self._child.close_input()
        await end_group(self._child.pid, self._context.marker, self._child.gone)
        self._child.close()
        self._context.on_exit(self._child.pid)
        self.log.close()

    # Events of the child.

    def wrote(self, data: bytes) -> None:
        if self._lost:
            return
        try:
            self._cutter.feed(data)
        except LineTooLong:
            megabytes = self._context.max_message_bytes >> 20
            self._lose(ConnectionLost(f"{self._context.server} sent a line of more than {megabytes} MB."))

    def complained(self, data: bytes) -> None:
        self.log.feed(data)

    def closed(self, stream: str) -> None:
        """A closed input or output ends the link, but an exit that follows gives a better reason."""
        if stream != "errors":
            self._loop.call_later(EXIT_GRACE, self._check_closed, stream)

    def exited(self) -> None:
        """Output may still be in the pipes, or a grandchild may hold them open forever."""
        self._loop.call_later(EXIT_GRACE / 2, self.finished)

    def finished(self) -> None:
        if self._lost:
            return
        assert self._child is not None
        code, last_lines = self._child.code, self.log.tail(30)
        self._lose(exit_error(self._context.server, code, last_lines, ran=self._spoke))

    def _check_closed(self, stream: str) -> None:
        """It closed a pipe and still runs; or it has just ended, and this timer came first."""
        if self._child is None or not self._child.has_ended():
            self._lose(ConnectionLost(f"{self._context.server} closed its {stream}."))

    def pause_writing(self) -> None:
        self._writable = self._loop.create_future()

    def resume_writing(self) -> None:
        self._release_writers()

    def _on_line(self, line: bytes | bytearray) -> None:
        if self._waiting is not None:
            self._waiting.append(line)
            return
        if len(line) > SMALL and is_large(line):
            self._parse_in_thread(line)
            return
        try:
            messages = decode(line)
        except NotAMessage as error:
            self._reject(line, error)
            return
        self._spoke = True
        for message in messages:
            self._inbox.receive(message)

    def _reject(self, line: bytes | bytearray, error: NotAMessage) -> None:
        self._count_junk(line)
        if error.answer is not None:
            self._inbox.receive(error.answer)

    def _parse_in_thread(self, line: bytes | bytearray) -> None:
        """Parse a large line in a thread; later lines wait, to keep the order."""
        assert self._child is not None
        self._waiting = deque([line])
        self._child.pause_output()
        self._reading = self._loop.create_task(self._read_waiting(self._waiting))

    async def _read_waiting(self, lines: deque[bytes | bytearray]) -> None:
        while lines:
            line = lines.popleft()
            try:
                messages = await decode_any(line)
            except NotAMessage as error:
                self._reject(line, error)
                continue
            self._spoke = True
            for message in messages:
                self._inbox.receive(message)
        self._waiting = None
        if self._child is not None:
            self._child.resume_output()
        if self._loss is not None:  # its last output may still be in the pipe
            self._loop.call_later(EXIT_GRACE / 2, self._lose, self._loss)

    def _count_junk(self, line: bytes | bytearray) -> None:
        text = bytes(line[:LONGEST_JUNK]).decode("utf-8", "replace").strip()
        if not text:
            return
        self.junk_lines += 1
        self.log.line(f"[stdout] {text}")
        self._context.on_junk(self.junk_lines)

    def _lose(self, error: ToolcribError) -> None:
        if self._lost:
            return
        if self._waiting is not None:
            self._loss = error  # reported once its output was read
            return
        self._lost = True
        self._release_writers()
        self._inbox.lost(error)

    def _release_writers(self) -> None:
        waiting, self._writable = self._writable, None
        if waiting is not None and not waiting.done():
            waiting.set_result(None)


def exit_error(server: str, code: int | None, last_lines: list[str], *, ran: bool = False) -> ToolcribError:
    """The error for a process that exited; `ran` if it had sent a message before."""
    words = [line[:LONGEST_SHOWN_LINE] for line in telling_lines(last_lines)]
    said = f" Last output: {' / '.join(words)}" if words else ""
    hint = f"See `toolcrib logs {server}`."
    if code in CANNOT_RUN and not ran:
        return SpawnFailed(f"The command of {server} {CANNOT_RUN[code]} (exit code {code}).{said}", hint=hint)
    how = f"was killed by signal {-code}" if code is not None and code < 0 else f"exited with code {code}"
    return ConnectionLost(f"{server} {how}.{said}", hint=hint)


def telling_lines(lines: list[str]) -> list[str]:
    """The last lines that explain a failure, if any (traces often end in braces); else the last lines."""
    spoken = [line.strip() for line in lines if line.strip()]
    telling = [line for line in spoken if TELLING.search(line)]
    return telling[-2:] or spoken[-3:]


@asynccontextmanager
async def open(spec: Spec, inbox: Inbox, context: LinkContext) -> AsyncIterator[Link]:  # noqa: A001
    """Run the command while the block runs."""
    link = StdioLink(inbox, context)
    try:
        await link.adopt(_start(spec, context))
        yield link
    finally:
        await _finish(asyncio.ensure_future(link.end()))


def _start(spec: Spec, context: LinkContext) -> subprocess.Popen[bytes]:
    environment = {**context.environment, **spec.env, MARKER: context.marker}
    try:
        process = subprocess.Popen(
            [find_program(spec.command, environment, spec.cwd), *spec.args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=environment,
            cwd=spec.cwd,
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


def _start_error(spec: Spec, error: OSError) -> ToolcribError:
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


async def _finish(ending: asyncio.Future[Any]) -> None:
    """Wait for the end even if cancelled: a half-ended process would be orphaned."""
    cancelled: asyncio.CancelledError | None = None
    while not ending.done():
        try:
            await asyncio.shield(ending)
        except asyncio.CancelledError as error:
            cancelled = error
    ending.result()
    if cancelled is not None:
        raise cancelled
