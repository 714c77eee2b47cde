"""Serves a `ToolServer` to the process that started this one, over stdin and stdout: the longest line, how
long running calls have after the input ends, and errors for invalid messages.

Messages are lines of JSON. Linear in the size of a message, bounded in the length of a line; what is no
message gets an error and is otherwise ignored. Whatever a tool prints goes to stderr. The process ends within
a second of the end of its input, whatever its tools are doing.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import stat
import sys
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, NoReturn, Protocol, cast

from pydantic_core import from_json

from toolcrib.errors import ToolcribError, UsageError
from toolcrib.serverkit.encoding import (
    HEAVY,
    SMALL,
    Excessive,
    encode_heavy_message,
    encode_message,
    is_large,
    parse_any,
    weight,
)
from toolcrib.serverkit.protocol import (
    BATCHING_VERSION,
    INVALID_REQUEST,
    PARSE_ERROR,
    Message,
    Refusal,
    refuse,
)
from toolcrib.serverkit.server import ToolServer

MAX_LINE_BYTES = 64 * 1024 * 1024
LAST_WORDS = 0.6
"""Seconds that running calls have for their answers once the input has ended."""
CANCEL_GRACE = 0.1
PIECE = 1024 * 1024
"""Bytes of a large message that are written at once."""
BOM = b"\xef\xbb\xbf"

FLUSH_GRACE = 0.2
"""Seconds that the last answers have to reach a client that is slow to read them."""


class MessageHandler(Protocol):
    """Who answers: a session of a tool server, or anything that answers as one does."""

    @property
    def version(self) -> str | None:
        """The version the client opened with; None while it has not."""

    async def respond(self, message: Message, notify: Callable[[Message], None]) -> Message | None:
        """The answer to one message; None for a notification."""

    def end(self) -> None:
        """The client is leaving; running calls may still be answered."""

    def cancel_all(self) -> None:
        """Stop every running call."""


class LineProtocol(asyncio.Protocol):
    """Cuts the input into messages and has each answered in a task of its own."""

    def __init__(
        self,
        session: MessageHandler,
        write: Callable[[bytes], None],
        drained: Callable[[], Awaitable[object]],
    ) -> None:
        self._session = session
        self._write = write
        self._drained = drained
        self._chunks: list[bytes] = []
        self._size = 0
        self._skipping = False
        self._unsent: deque[Message | list[Message]] = deque()
        """A large message that is being encoded, and those after it."""
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
        if len(line) > SMALL and is_large(line):
            self._start(self._take_large(line))
            return
        try:
            message = from_json(line.removeprefix(BOM))
        except ValueError as error:
            self._complain(PARSE_ERROR, f"Not valid JSON: {error}")
            return
        self._take_message(message)

    async def _take_large(self, line: bytes) -> None:
        """Parse a line in a thread; those after it may overtake it."""
        try:
            message = await parse_any(line)
        except Excessive as error:
            self._complain(INVALID_REQUEST, f"The message is refused: {error}.", error.request_id)
        except ValueError as error:
            self._complain(PARSE_ERROR, f"Not valid JSON: {error}")
        else:
            self._take_message(message)

    def _take_message(self, message: Any) -> None:
        if isinstance(message, dict):
            if message.get("method") == "exit" and "id" not in message:
                self._leave()
                return
            self._start(self._answer(message))
        elif isinstance(message, list) and message and self._session.version == BATCHING_VERSION:
            self._start(self._answer_batch(message))
        else:
            self._complain(INVALID_REQUEST, "A message must be one JSON object.")

    def _leave(self) -> None:
        """The client says that it is done, as one of a language server does; not part of MCP."""
        if not self.ended.done():
            self.ended.set_result(None)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
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

    def _complain(self, code: int, text: str, request_id: Any = None) -> None:
        print(text, file=sys.stderr)  # noqa: T201 - stderr is this program's log
        self._say(refuse(request_id, Refusal(code, text)))

    def _say(self, message: Message | list[Message]) -> None:
        """Write a message, after a large one that is still being encoded."""
        if self._unsent:
            self._unsent.append(message)
        elif weight(message) > HEAVY:
            self._unsent.append(message)
            self._start(self._say_unsent())
        else:
            self._write(encode_message(message) + b"\n")

    async def _say_unsent(self) -> None:
        while self._unsent:
            message = self._unsent[0]
            line = await encode_heavy_message(message)
            for start in range(0, len(line), PIECE):
                self._write(line[start : start + PIECE])
                await self._drained()  # the transport copies what it cannot write yet
            self._write(b"\n")
            self._unsent.popleft()


def run(server: ToolServer) -> NoReturn:
    """Serve until the input ends, then end the process."""
    incoming, outgoing = claim_streams()
    loop = _new_loop()
    code = 0
    try:
        loop.run_until_complete(serve_session(server.session(), incoming, outgoing))
    except KeyboardInterrupt:
        code = 130
    server.close()
    with contextlib.suppress(OSError):
        sys.stderr.flush()
    # Not sys.exit: that would wait for threads and tasks of tools that never return.
    os._exit(code)


async def serve_session(session: MessageHandler, incoming: int, outgoing: int) -> None:
    """Answer what comes on one descriptor on the other, until the input ends or nobody reads any more."""
    output = await _open_output(outgoing)
    wire = LineProtocol(session, output.write, output.writable.wait)
    loop = asyncio.get_running_loop()
    reader, _ = await loop.connect_read_pipe(lambda: wire, os.fdopen(_pollable(incoming), "rb", 0))
    output.on_full, output.on_ready = reader.pause_reading, reader.resume_reading
    await asyncio.wait((wire.ended, output.lost), return_when=asyncio.FIRST_COMPLETED)
    await wire.finish()
    await output.finish()


class _PipeOutput(asyncio.Protocol):
    """A pipe or socket; asks the reader to pause while the other side does not read."""

    def __init__(self) -> None:
        self.on_full: Callable[[], None] = lambda: None
        self.on_ready: Callable[[], None] = lambda: None
        self.lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.writable = asyncio.Event()
        """Set while the other side reads what is written, or is gone."""
        self.writable.set()
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember where to write."""
        self._transport = cast("asyncio.WriteTransport", transport)

    def connection_lost(self, error: Exception | None) -> None:
        """Nobody reads any more."""
        self.writable.set()
        if not self.lost.done():
            self.lost.set_result(None)

    def pause_writing(self) -> None:
        """The other side is slow: take no more work."""
        self.writable.clear()
        with contextlib.suppress(RuntimeError):  # uvloop objects once the input has ended
            self.on_full()

    def resume_writing(self) -> None:
        """The other side caught up."""
        self.writable.set()
        with contextlib.suppress(RuntimeError):
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


def claim_streams() -> tuple[int, int]:
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


def serve(create: Callable[[Sequence[str]], ToolServer], usage: str) -> NoReturn:
    """Make the server from the command line and serve it over stdio; wrong use ends with 2."""
    arguments = sys.argv[1:]
    if "--help" in arguments or "-h" in arguments:
        sys.stdout.write(f"{usage.strip()}\n")
        raise SystemExit(0)
    try:
        server = create(arguments)
    except ToolcribError as error:
        sys.stderr.write("\n".join(filter(None, (f"error: {error.message}", error.hint))) + "\n")
        raise SystemExit(error.exit_code) from None
    run(server)


class ServerArguments(argparse.ArgumentParser):
    """Raises `UsageError` with the first line of the usage text; options are never abbreviated."""

    def __init__(self, server: str, usage: str) -> None:
        super().__init__(server, add_help=False, allow_abbrev=False)
        self._hint = usage.strip().splitlines()[0]

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{self.prog}: {message}.", hint=self._hint)
