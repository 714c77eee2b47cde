"""A server as a child process that speaks lines of JSON on stdin and stdout.

Linear in message size, bounded in line length, deaf to rubbish on stdout (it is counted and logged). The
process has a group of its own; when the block is left, the group and whatever escaped from it are gone.
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

from toolcrib.config.kinds import full_text, named_texts, text, texts
from toolcrib.config.reading import Section
from toolcrib.errors import ConnectionLost, NotDelivered, SpawnFailed, ToolcribError
from toolcrib.servers.link import Inbox, Link, LinkContext, Message
from toolcrib.servers.processes.child import Child
from toolcrib.servers.processes.descriptors import restore_limit, shortage_of
from toolcrib.servers.processes.lines import LineCutter, LineTooLong
from toolcrib.servers.processes.log import LONGEST_LINE, ServerLog
from toolcrib.servers.processes.orphans import MARKER
from toolcrib.servers.processes.termination import end_group
from toolcrib.servers.sessions.codec import SMALL, NotAMessage, decode, decode_any, encode, is_large
from toolcrib.servers.transport import Traits

TRAITS = Traits(spawns=True)

EXIT_GRACE = 0.2
"""Seconds after a process's end in which its last words may still arrive."""
LONGEST_JUNK = 2 * LONGEST_LINE
"""Twice what the log keeps, so that a secret is still whole when it looks for it."""
LONGEST_LAST_WORDS = 500
TELLING = re.compile(r"\b\w*(error|exception|fatal|panic|cannot|denied|refused|not found)\b", re.IGNORECASE)
"""What a line about the cause of an end usually contains."""
CANNOT_RUN = {126: "is not executable", 127: "was not found"}


@dataclass(frozen=True, kw_only=True)
class Spec(Section):
    """The keys of a `stdio` entry."""

    command: str = full_text()
    args: tuple[str, ...] = texts()
    env: dict[str, str] = named_texts()
    cwd: str | None = text(None)


class StdioLink:
    """The child process as a link; it is told what happens to the child."""

    def __init__(self, inbox: Inbox, context: LinkContext) -> None:
        self._inbox = inbox
        self._context = context
        self._cutter = LineCutter(self._on_line, context.max_message_bytes)
        self._child: Child | None = None
        self._writable: asyncio.Future[None] | None = None
        self._lost = False
        self._spoke = False
        self._waiting: deque[bytes | bytearray] | None = None
        """Lines that came while a large one is read in a thread."""
        self._reading: asyncio.Task[None] | None = None
        self._loss: ToolcribError | None = None
        self.log = ServerLog(context.log_path, secrets=context.masked)
        self.junk_lines = 0
        self._loop = asyncio.get_running_loop()

    @property
    def pid(self) -> int | None:
        """The child's process id, which is also its group's."""
        return self._child.pid if self._child is not None else None

    async def send(self, message: Message) -> None:
        """Write one line; waits while the child does not read."""
        while self._writable is not None and not self._lost:
            await asyncio.shield(self._writable)
        stdin = self._child.input if self._child is not None else None
        if self._lost or stdin is None or stdin.is_closing():
            raise NotDelivered(f"{self._context.server} no longer reads its input.")
        stdin.write(encode(message) + b"\n")

    def post(self, message: Message) -> bool:
        """Write one line at once, if the child reads and the pipe has room."""
        if self._writable is not None or self._lost or self._child is None:
            return False
        stdin = self._child.input
        if stdin is None or stdin.is_closing():
            return False
        stdin.write(encode(message) + b"\n")
        return not stdin.is_closing()  # a pipe that turns out to be broken has taken nothing

    async def adopt(self, process: subprocess.Popen[bytes]) -> None:
        """Speak with this process from now on."""
        self._child = Child(process, self)
        self._context.on_spawn(process.pid)
        await _to_the_end(asyncio.ensure_future(self._child.connect()))

    async def end(self) -> None:
        """Close stdin, wait, insist; afterwards nothing of the child is left."""
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

    # What the child does.

    def wrote(self, data: bytes) -> None:
        """Cut it into lines."""
        if self._lost:
            return
        try:
            self._cutter.feed(data)
        except LineTooLong:
            megabytes = self._context.max_message_bytes >> 20
            self._lose(ConnectionLost(f"{self._context.server} sent a line of more than {megabytes} MB."))

    def complained(self, data: bytes) -> None:
        """Into the log."""
        self.log.feed(data)

    def closed(self, stream: str) -> None:
        """Without its input or output it is of no use; but an exit that follows tells more."""
        if stream != "errors":
            self._loop.call_later(EXIT_GRACE, self._stayed, stream)

    def exited(self) -> None:
        """What it wrote may still be in the pipes, or a child of its own may hold them open for ever."""
        self._loop.call_later(EXIT_GRACE / 2, self.finished)

    def finished(self) -> None:
        """Nothing more will come."""
        if self._lost:
            return
        assert self._child is not None
        code, last_words = self._child.code, self.log.tail(30)
        self._lose(exit_error(self._context.server, code, last_words, ran=self._spoke))

    def _stayed(self, stream: str) -> None:
        """It closed a pipe a while ago and lives; or it ended, and this came first because we stood still."""
        if self._child is None or not self._child.has_ended():
            self._lose(ConnectionLost(f"{self._context.server} closed its {stream}."))

    def pause_writing(self) -> None:
        """The pipe is full."""
        self._writable = self._loop.create_future()

    def resume_writing(self) -> None:
        """The pipe has room again."""
        self._release_writers()

    def _on_line(self, line: bytes | bytearray) -> None:
        if self._waiting is not None:
            self._waiting.append(line)
            return
        if len(line) > SMALL and is_large(line):
            self._read_aside(line)
            return
        try:
            messages = decode(line)
        except NotAMessage as error:
            self._reject(line, error)
        else:
            self._take(messages)

    def _take(self, messages: list[Message]) -> None:
        self._spoke = True
        for message in messages:
            self._inbox.receive(message)

    def _reject(self, line: bytes | bytearray, error: NotAMessage) -> None:
        self._count_junk(line)
        if error.answer is not None:
            self._inbox.receive(error.answer)

    def _read_aside(self, line: bytes | bytearray) -> None:
        """Read a large line in a thread; what comes after it waits, so that the order stays."""
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
            else:
                self._take(messages)
        self._waiting = None
        if self._child is not None:
            self._child.resume_output()
        if self._loss is not None:  # what it wrote last may still be in the pipe
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
            self._loss = error  # known once all that it wrote before was read
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
    words = [line[:LONGEST_LAST_WORDS] for line in telling_lines(last_words)]
    said = f" It said: {' / '.join(words)}" if words else ""
    hint = f"`toolcrib logs {server}` shows what it wrote before."
    if code in CANNOT_RUN and not ran:
        return SpawnFailed(f"The command of {server} {CANNOT_RUN[code]} (exit code {code}).{said}", hint=hint)
    how = f"was killed by signal {-code}" if code is not None and code < 0 else f"exited with code {code}"
    return ConnectionLost(f"{server} {how}.{said}", hint=hint)


def telling_lines(lines: list[str]) -> list[str]:
    """The lines that say what went wrong, where some do (traces often end in braces); else the last ones."""
    spoken = [line.strip() for line in lines if line.strip()]
    telling = [line for line in spoken if TELLING.search(line)]
    return telling[-2:] or spoken[-3:]


@asynccontextmanager
async def open(spec: Spec, inbox: Inbox, context: LinkContext) -> AsyncIterator[Link]:  # noqa: A001
    """Run the command for as long as the block lasts."""
    link = StdioLink(inbox, context)
    try:
        await link.adopt(_start(spec, context))
        yield link
    finally:
        await _to_the_end(asyncio.ensure_future(link.end()))


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
    except ValueError as error:  # a zero byte somewhere, or a variable with "=" in its name
        raise SpawnFailed(
            f"The command {spec.command!r} cannot be run: {error}.",
            hint="Correct `command`, `args`, `env` or `cwd`.",
        ) from None
    restore_limit(process.pid)
    return process


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


def _start_error(spec: Spec, error: OSError) -> ToolcribError:
    shortage = shortage_of(error)
    if shortage is not None:
        return shortage
    if spec.cwd and not Path(spec.cwd).is_dir():
        return SpawnFailed(f"The working folder {spec.cwd!r} does not exist.", hint="Correct `cwd`.")
    if spec.cwd and not os.access(spec.cwd, os.X_OK):
        return SpawnFailed(f"The working folder {spec.cwd!r} may not be entered.", hint="Correct `cwd`.")
    why, hint = _why_not(Path(spec.cwd or ".", spec.command), error)
    return SpawnFailed(f"The command {spec.command!r} {why}.", hint=hint)


def _why_not(program: Path, error: OSError) -> tuple[str, str]:
    if error.errno == errno.ENOEXEC:
        return "is no program this machine can run", "Is it for another architecture, or a script without #!?"
    if error.errno == errno.EACCES:
        return "may not be run", "Make it executable: chmod +x."
    if error.errno == errno.ENOENT and program.exists():
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
