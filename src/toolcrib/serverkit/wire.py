"""Messages as lines of JSON: cuts the input, has each message answered, and writes the answers.

Linear in the size of a message and bounded in the length of a line; what is no message gets an error and is
otherwise ignored.
"""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol

from pydantic_core import from_json

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

MAX_LINE_BYTES = 64 * 1024 * 1024
LAST_WORDS = 0.6
"""Seconds that running calls have for their answers once the input has ended."""
CANCEL_GRACE = 0.1
PIECE = 1024 * 1024
"""Bytes of a large message that are written at once."""
BOM = b"\xef\xbb\xbf"


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
