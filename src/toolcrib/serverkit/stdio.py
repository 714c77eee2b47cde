"""Serves a `ToolServer` to the process that started this one, over stdin and stdout.

Linear in the size of a message, bounded in the length of a line, deaf to rubbish. Whatever a tool prints goes
to stderr. The process ends within a second of the end of its input, whatever its tools are doing.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import stat
import sys
import threading
from collections.abc import Callable
from typing import Any, NoReturn

from pydantic_core import from_json, to_json

from toolcrib.serverkit.protocol import (
    BATCHING_VERSION,
    INVALID_REQUEST,
    PARSE_ERROR,
    Message,
    Refusal,
    refuse,
)
from toolcrib.serverkit.server import ToolServer
from toolcrib.serverkit.session import Session

MAX_LINE_BYTES = 64 * 1024 * 1024
LAST_WORDS = 0.6
"""Seconds that running calls have for their answers once the input has ended."""
CANCEL_GRACE = 0.1
FLUSH_GRACE = 0.2
BOM = b"\xef\xbb\xbf"


def run(server: ToolServer) -> NoReturn:
    """Serve until the input ends, then end the process."""
    incoming, outgoing = _claim_streams()
    loop = _new_loop()
    code = 0
    try:
        loop.run_until_complete(_serve(server, incoming, outgoing))
    except KeyboardInterrupt:
        code = 130
    server.close()
    with contextlib.suppress(OSError):
        sys.stderr.flush()
    # Not sys.exit: that would wait for threads and tasks of tools that never return.
    os._exit(code)


async def _serve(server: ToolServer, incoming: int, outgoing: int) -> None:
    output = await _open_output(outgoing)
    wire = _Wire(server.session(), output.write)
    loop = asyncio.get_running_loop()
    reader, _ = await loop.connect_read_pipe(lambda: wire, os.fdopen(_pollable(incoming), "rb", 0))
    output.on_full, output.on_ready = reader.pause_reading, reader.resume_reading
    await asyncio.wait((wire.ended, output.lost), return_when=asyncio.FIRST_COMPLETED)
    await wire.finish()
    await output.finish()


class _Wire(asyncio.Protocol):
    """Cuts the input into messages and has each answered in a task of its own."""

    def __init__(self, session: Session, write: Callable[[bytes], None]) -> None:
        self._session = session
        self._write = write
        self._chunks: list[bytes] = []
        self._size = 0
        self._skipping = False
        self._tasks: set[asyncio.Task[None]] = set()
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def data_received(self, data: bytes) -> None:
        """Take what came; whole lines go on, the rest waits for its end."""
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._keep(line)
            self._end_line()
        self._keep(rest)

    def connection_lost(self, error: Exception | None) -> None:
        """The input has ended; a last line without a newline counts."""
        self._end_line()
        if not self.ended.done():
            self.ended.set_result(None)

    async def finish(self) -> None:
        """Let running calls answer, but not for long."""
        self._session.end()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=LAST_WORDS)
        self._session.cancel_all()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=CANCEL_GRACE)

    def _keep(self, part: bytes) -> None:
        if not part or self._skipping:
            return
        self._size += len(part)
        if self._size > MAX_LINE_BYTES:
            self._skipping = True
            self._chunks.clear()
        else:
            self._chunks.append(part)

    def _end_line(self) -> None:
        line, skipped = b"".join(self._chunks), self._skipping
        self._chunks.clear()
        self._size, self._skipping = 0, False
        if skipped:
            self._complain(INVALID_REQUEST, f"The message is longer than {MAX_LINE_BYTES} bytes.")
        elif line and not line.isspace():
            self._take_line(line)

    def _take_line(self, line: bytes) -> None:
        try:
            message = from_json(line.removeprefix(BOM))
        except ValueError as error:
            self._complain(PARSE_ERROR, f"That is no JSON: {error}")
            return
        if isinstance(message, dict):
            self._start(self._answer(message))
        elif isinstance(message, list) and message and self._session.version == BATCHING_VERSION:
            self._start(self._answer_batch(message))
        else:
            self._complain(INVALID_REQUEST, "A message is one JSON object.")

    def _start(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, message: Message) -> None:
        answer = await self._session.respond(message, self._say)
        if answer is not None:
            self._say(answer)

    async def _answer_batch(self, messages: list[Any]) -> None:
        """Each in a task of its own, because cancellation works on tasks."""
        tasks = [
            asyncio.ensure_future(self._session.respond(message, self._say))
            for message in messages
            if isinstance(message, dict)
        ]
        answers = [answer for answer in await asyncio.gather(*tasks) if answer is not None]
        if answers:
            self._say(answers)

    def _complain(self, code: int, text: str) -> None:
        print(text, file=sys.stderr)  # noqa: T201 - stderr is this program's log
        self._say(refuse(None, Refusal(code, text)))

    def _say(self, message: Message | list[Message]) -> None:
        self._write(_encode(message) + b"\n")


class _PipeOutput(asyncio.Protocol):
    """A pipe or socket; asks the reader to pause while the other side does not read."""

    def __init__(self) -> None:
        self.on_full: Callable[[], None] = lambda: None
        self.on_ready: Callable[[], None] = lambda: None
        self.lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember where to write."""
        if isinstance(transport, asyncio.WriteTransport):
            self._transport = transport

    def connection_lost(self, error: Exception | None) -> None:
        """Nobody reads any more."""
        if not self.lost.done():
            self.lost.set_result(None)

    def pause_writing(self) -> None:
        """The other side is slow: take no more work."""
        self.on_full()

    def resume_writing(self) -> None:
        """The other side caught up."""
        self.on_ready()

    def write(self, data: bytes) -> None:
        """Hand over, without waiting."""
        if self._transport is not None and not self.lost.done():
            self._transport.write(data)

    async def finish(self) -> None:
        """Get rid of what is still to be written."""
        if self._transport is not None:
            self._transport.close()
            await asyncio.wait((self.lost,), timeout=FLUSH_GRACE)


class _FileOutput(_PipeOutput):
    """A file or terminal, which an event loop cannot watch; writing there does not wait for anyone."""

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor

    def write(self, data: bytes) -> None:
        """Write all of it."""
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]

    async def finish(self) -> None:
        """Nothing is left to be written."""


async def _open_output(descriptor: int) -> _PipeOutput:
    if not _is_pollable(descriptor):
        return _FileOutput(descriptor)
    loop = asyncio.get_running_loop()
    _, output = await loop.connect_write_pipe(_PipeOutput, os.fdopen(descriptor, "wb", 0))
    return output


def _encode(message: Message | list[Message]) -> bytes:
    try:
        return to_json(message, inf_nan_mode="null")
    except ValueError:  # a lone surrogate, as in the name of a file that is no UTF-8
        return json.dumps(message, ensure_ascii=False, default=str).encode("utf-8", "replace")


def _claim_streams() -> tuple[int, int]:
    """Take stdin and stdout for the protocol alone; what tools read is empty, what they print is stderr."""
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return incoming, outgoing


def _is_pollable(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _pollable(descriptor: int) -> int:
    """The descriptor itself, or a pipe that a thread fills from the file or terminal behind it."""
    if _is_pollable(descriptor):
        return descriptor
    readable, writable = os.pipe()

    def pump() -> None:
        with contextlib.suppress(OSError):
            while data := os.read(descriptor, 65536):
                os.write(writable, data)
        os.close(writable)

    threading.Thread(target=pump, name="stdin", daemon=True).start()
    return readable


def _new_loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()
