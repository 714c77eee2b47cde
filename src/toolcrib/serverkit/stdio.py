"""Serves a `ToolServer` to the process that started this one, over stdin and stdout.

Linear in the size of a message, bounded in the length of a line, deaf to rubbish. Whatever a tool prints goes
to stderr. The process ends within a second of the end of its input, whatever its tools are doing.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
import sys
import threading
from collections.abc import Callable, Sequence
from typing import NoReturn, cast

from toolcrib.errors import ToolcribError
from toolcrib.serverkit.server import ToolServer
from toolcrib.serverkit.wire import LineProtocol, MessageHandler

FLUSH_GRACE = 0.2
"""Seconds that the last answers have to reach a client that is slow to read them."""


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
