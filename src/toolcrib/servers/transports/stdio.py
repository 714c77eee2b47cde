"""A server in a child process, with one JSON message a line on stdin and stdout. Has the handling of other
output on stdout, too long lines, too fast output, and the errors when the process ends.

Other output on stdout is counted and logged. The process has its own group; when the block is left, the group
and any process that escaped from it have ended.
"""

from __future__ import annotations

import asyncio
import subprocess
import time
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from toolcrib.config.sections import Section, full_text, named_texts, text, texts
from toolcrib.errors import ConnectionLost, NotDelivered, ToolcribError
from toolcrib.serverkit.encoding import SMALL, is_large
from toolcrib.servers.metered import THREAD_WEIGHT, ServerShare
from toolcrib.servers.processes import child
from toolcrib.servers.processes.child import Child, LineCutter, LineTooLong
from toolcrib.servers.processes.log import LONGEST_LINE, ServerLog, exit_error
from toolcrib.servers.processes.termination import end_group
from toolcrib.servers.sessions.codec import NotAMessage, decode, decode_timed, encode_any, encode_light
from toolcrib.servers.transport import Inbox, Link, LinkContext, Message, Traits

if TYPE_CHECKING:
    from toolcrib.servers.sandbox.running import SandboxHints

TRAITS = Traits(spawns=True)

PIECE = 2 * 1024
USUAL_READ = 256 * 1024
"""Bytes that asyncio reads at once."""
FEW = 8
"""A chunk of more bytes and lines than these is handled piece by piece; most chunks are one line."""
SLICE = 0.001
"""Seconds of work before others get their turn: the fastest calls take a fifth of it."""
REPLY = 0.0002
"""Seconds that answering a request of the server takes, in a task of its own."""
LARGE_WRITE = 1024 * 1024
"""Bytes of a line that are written at once: the transport copies what the pipe does not take."""
EXIT_GRACE = 0.2
"""Seconds after a process's end in which its last output may still arrive."""
LONGEST_JUNK = 2 * LONGEST_LINE
"""Twice what the log keeps, so that a secret at the cut can be masked."""


@dataclass(frozen=True, kw_only=True)
class ProcessSpec(Section):
    """The keys of every entry that starts a process."""

    args: tuple[str, ...] = texts()
    env: dict[str, str] = named_texts()
    cwd: str | None = text(None)


@dataclass(frozen=True, kw_only=True)
class StdioSpec(ProcessSpec):
    """The keys of a `stdio` entry."""

    command: str = full_text()


Spec = StdioSpec


class StdioLink:
    """A link to a child process; receives the child's events."""

    def __init__(self, inbox: Inbox, context: LinkContext) -> None:
        self._inbox = inbox
        self._context = context
        self._cutter = LineCutter(self._on_line, context.max_message_bytes)
        self._child: Child | None = None
        self._writable: asyncio.Future[None] | None = None
        self._writing = asyncio.Lock()
        """Held while a line is written in pieces."""
        self._lost = False
        self._spoke = False
        self._waiting: deque[bytes | bytearray] | None = None
        """Lines received while a large one is parsed in a thread."""
        self._backlog: deque[bytes] = deque()
        """Output that was read and not handled yet: the server floods, or others get their turn."""
        self._share = ServerShare(self._flooded)
        self._expected = 0
        """Answers that may still come."""
        self._paused = 0
        """Reasons not to read."""
        self._unasked = self._handled = self._requests = 0
        """Lines since the last look: unsolicited ones, all, and the requests among the unsolicited."""
        self._reading: asyncio.Task[None] | None = None
        self._loss: ToolcribError | None = None
        self.log = ServerLog(context.log_path, secrets=context.masked)
        self.junk_lines = 0
        self.hints: SandboxHints | None = None
        """Of a server in a sandbox."""
        self._loop = asyncio.get_running_loop()

    @property
    def pid(self) -> int | None:
        """Also the id of its process group."""
        return self._child.pid if self._child is not None else None

    @property
    def throttled(self) -> float:
        return self._share.throttled

    async def send(self, message: Message) -> None:
        """Write one line, waiting until the child reads."""
        line = await encode_any(message)
        async with self._writing:
            stdin = await self._usable_input()
            if "id" in message and "method" in message:
                self._expected += 1
            written = 0
            try:
                while len(line) - written > LARGE_WRITE:
                    stdin.write(line[written : written + LARGE_WRITE])
                    written += LARGE_WRITE
                    await asyncio.sleep(0)
            finally:  # a cancelled sender must not leave half a line
                stdin.write(line[written:] + b"\n")

    async def _usable_input(self) -> asyncio.WriteTransport:
        while self._writable is not None and not self._lost:
            await asyncio.shield(self._writable)
        stdin = self._child.input if self._child is not None else None
        if self._lost or stdin is None or stdin.is_closing():
            raise NotDelivered(f"{self._context.server} no longer reads its input.")
        return stdin

    def post(self, message: Message) -> bool:
        """Write one line if the pipe has room and the message is not large."""
        if self._writable is not None or self._lost or self._child is None or self._writing.locked():
            return False
        stdin = self._child.input
        if stdin is None or stdin.is_closing():
            return False
        line = encode_light(message)
        if line is None:
            return False
        if "id" in message and "method" in message:
            self._expected += 1
        stdin.write(line + b"\n")
        return not stdin.is_closing()  # a broken pipe has taken nothing

    async def adopt(self, process: subprocess.Popen[bytes]) -> None:
        """Use this process."""
        self._child = Child(process, self)
        self._context.on_spawn(process.pid)
        await _finish(asyncio.ensure_future(self._child.connect()))

    async def end(self) -> None:
        """Close stdin and end the process group."""
        self._lost = True
        self._share.close()
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
        if self._backlog:
            self._backlog.append(data)
            return
        if len(data) > PIECE and data.count(b"\n") > FEW:
            self._backlog.append(data)
            self._wait(0)
            return
        # Written out, as is `_on_line`: this is on the path of every call.
        self._handled, began = 0, time.perf_counter()
        try:
            self._cutter.feed(data)
        except LineTooLong:
            self._refuse_line()
        if self._unasked and (pause := self._charge(began)):
            self._wait(pause)

    def _take(self, data: bytes) -> float:
        """Handle a piece of output; returns how long to pause before the next."""
        self._handled, began = 0, time.perf_counter()
        try:
            self._cutter.feed(data)
        except LineTooLong:
            self._refuse_line()
        return self._charge(began) if self._unasked else 0.0

    def _charge(self, began: float) -> float:
        """Charge the time since then for unsolicited lines; returns how long to pause."""
        unasked, self._unasked = self._unasked, 0
        replies, self._requests = self._requests * REPLY, 0
        seconds = (time.perf_counter() - began) * unasked / max(self._handled, unasked)
        return self._share.spend(seconds + replies)

    def _refuse_line(self) -> None:
        megabytes = self._context.max_message_bytes >> 20
        self._lose(ConnectionLost(f"{self._context.server} sent a line of more than {megabytes} MB."))

    def _wait(self, pause: float) -> None:
        """Go on with the backlog after other work, or after a pause."""
        self._pause_output(1)
        if pause:
            self._loop.call_later(pause, self._go_on)
        else:
            self._loop.call_soon(self._go_on)

    def _flooded(self, flooding: bool) -> None:
        if self._child is not None:
            self._child.limit_reads(PIECE if flooding else USUAL_READ)
        self._context.on_flood(flooding)

    def _go_on(self) -> None:
        """Handle the backlog for a moment."""
        until = time.perf_counter() + SLICE
        pause = 0.0
        while self._backlog and not self._lost and not pause and time.perf_counter() < until:
            data = self._backlog[0]
            pause = self._take(data if len(data) <= PIECE else data[:PIECE])
            if len(data) > PIECE:
                self._backlog[0] = data[PIECE:]
            else:
                self._backlog.popleft()
        self._pause_output(-1)
        if (pause or self._backlog) and not self._lost:
            self._wait(pause)
        elif self._loss is not None:
            self._loop.call_later(EXIT_GRACE / 2, self._lose, self._loss)

    def _pause_output(self, change: int) -> None:
        """Reading is paused as long as there is any reason for it."""
        self._paused += change
        if self._child is None:
            return
        if self._paused and change > 0:
            self._child.pause_output()
        elif not self._paused:
            self._child.resume_output()

    def complained(self, data: bytes) -> None:
        self.log.feed(data)
        if self.hints is not None:
            self._give_hints(data)

    def _give_hints(self, data: bytes | bytearray) -> None:
        for hint in self.hints.of(bytes(data[:LONGEST_JUNK])) if self.hints is not None else ():
            self.log.line(hint)

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
        if self.hints is not None:
            self._give_hints(line)
        if self._waiting is not None:
            self._waiting.append(line)
            return
        if len(line) > SMALL and is_large(line):
            self._parse_in_thread(line)
            return
        try:
            messages = decode(line)
        except NotAMessage as error:
            self._handled += 1
            self._unasked += 1
            self._reject(line, error)
            return
        self._spoke = True
        self._handled += len(messages)
        for message in messages:
            if "method" not in message and self._expected:
                self._expected -= 1
            else:
                self._unasked += 1
                self._requests += "id" in message and "method" in message
            self._inbox.receive(message)

    def _receive(self, messages: Sequence[Message]) -> None:
        self._spoke = True
        self._handled += len(messages)
        for message in messages:
            if "method" not in message and self._expected:
                self._expected -= 1
            else:
                self._unasked += 1
                self._requests += "id" in message and "method" in message
            self._inbox.receive(message)

    def _reject(self, line: bytes | bytearray, error: NotAMessage) -> None:
        self._count_junk(line)
        if error.answer is not None:
            self._inbox.receive(error.answer)

    def _parse_in_thread(self, line: bytes | bytearray) -> None:
        """Parse a large line in a thread; later lines wait, to keep the order."""
        assert self._child is not None
        self._waiting = deque([line])
        self._pause_output(1)
        self._reading = self._loop.create_task(self._read_waiting(self._waiting))

    async def _read_waiting(self, lines: deque[bytes | bytearray]) -> None:
        while lines:
            line = lines.popleft()
            try:
                messages, seconds = await decode_timed(line)
            except NotAMessage as error:
                self._reject(line, error)
                await self._pay(error.seconds)
                continue
            self._unasked = 0
            self._receive(messages)
            if self._unasked:
                await self._pay(seconds)
        self._waiting = None
        self._pause_output(-1)
        if self._loss is not None:  # its last output may still be in the pipe
            self._loop.call_later(EXIT_GRACE / 2, self._lose, self._loss)

    async def _pay(self, seconds: float) -> None:
        """Charge the time that a thread used for unsolicited messages."""
        if pause := self._share.spend(seconds * THREAD_WEIGHT):
            await asyncio.sleep(pause)

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
        if self._waiting is not None or self._backlog:
            self._loss = error  # reported once its output was handled
            return
        self._lost = True
        self._release_writers()
        self._inbox.lost(error)

    def _release_writers(self) -> None:
        waiting, self._writable = self._writable, None
        if waiting is not None and not waiting.done():
            waiting.set_result(None)


@asynccontextmanager
async def open(spec: StdioSpec, inbox: Inbox, context: LinkContext) -> AsyncIterator[Link]:  # noqa: A001
    """Run the command while the block runs."""
    link = StdioLink(inbox, context)
    async with AsyncExitStack() as stack:
        cleaning = await stack.enter_async_context(AsyncExitStack())
        stack.push_async_callback(lambda: _finish(asyncio.ensure_future(link.end())))
        if context.sandbox is None:
            await link.adopt(child.start(spec, context))
        else:
            await _adopt_sandboxed(link, spec, context, stack, cleaning)
        yield link


async def _adopt_sandboxed(
    link: StdioLink, spec: StdioSpec, context: LinkContext, stack: AsyncExitStack, cleaning: AsyncExitStack
) -> None:
    """`cleaning` is done after the process has ended."""
    from toolcrib.servers.sandbox.running import start_sandboxed, watch

    started = start_sandboxed(spec, context)
    cleaning.push_async_callback(lambda: _finish(asyncio.ensure_future(started.clean_up())))
    link.hints = started.hints
    await link.adopt(started.process)
    await stack.enter_async_context(watch(started, link.log.line))


async def _finish(ending: asyncio.Future[Any]) -> None:
    """Wait for the end even if cancelled: a process or its control group would stay behind."""
    cancelled: asyncio.CancelledError | None = None
    while not ending.done():
        try:
            await asyncio.shield(ending)
        except asyncio.CancelledError as error:
            cancelled = error
    ending.result()
    if cancelled is not None:
        raise cancelled
