"""Runs extraction in a few processes, so that no document can stop or exhaust the server. Decides how many
run at once, the timeout for a document, when a process is replaced, and the errors for pages that are too
large.

A process is kept for the next document, and ends when it was idle for a while, has read many documents, or
takes too long. A cancelled caller ends the process that works for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
from typing import Any

from toolcrib.bundled.websearch.extraction.document import Extract, WebDocument
from toolcrib.bundled.websearch.extraction.worker import LENGTHS, pack, unpack_header
from toolcrib.serverkit.context import ToolFailure

MODULE = "toolcrib.bundled.websearch.extraction.worker"
AT_ONCE = 2
DEADLINE = 60.0
"""Seconds for one document on a busy machine; the process limits its own processor time."""
IDLE = 120.0
DOCUMENTS = 200
"""After this many documents a process is replaced: parsers written in C do not return all of their memory."""
_EXIT_GRACE = 5.0
_READ_AHEAD = 1024 * 1024
_TOO_MUCH = "It is too large or too complex to be read."
_TRY_RAW = 'Try mode="raw", or another page.'
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "TMPDIR", "TEMP", "SYSTEMROOT", "HOME")


class ExtractionProcess:
    """One process, and the socket to it.

    Not asyncio's own subprocess: that can neither be ended nor reaped once its event loop stops running.
    """

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self.process = process
        self._reader = reader
        self._writer = writer
        self.documents = 0

    @classmethod
    async def start(cls) -> ExtractionProcess:
        environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        # Extras may be installed beside the environment of the server.
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
        ours, theirs = socket.socketpair()
        with theirs:
            process = subprocess.Popen(  # noqa: ASYNC220 - returns as soon as the process exists
                [sys.executable, "-P", "-m", MODULE],
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=subprocess.DEVNULL,
                env=environment,
                start_new_session=True,
            )
        reader, writer = await asyncio.open_connection(sock=ours, limit=_READ_AHEAD)
        return cls(process, reader, writer)

    @property
    def usable(self) -> bool:
        return self.process.poll() is None and self.documents < DOCUMENTS

    async def extract(self, document: WebDocument) -> Extract:
        """Have it read a document; raises `ToolFailure` if that is not possible."""
        self.documents += 1
        header = {
            "url": document.url,
            "media_type": document.media_type,
            "charset": document.charset,
            "mode": document.mode,
        }
        try:
            answer = await self._ask(pack(header, document.content))
        except (asyncio.IncompleteReadError, ConnectionError):
            raise await self._died() from None
        if "unreadable" in answer:
            raise ToolFailure(answer["unreadable"], _TRY_RAW if document.mode != "raw" else "")
        return Extract(**answer["extract"])

    async def _ask(self, message: bytes) -> dict[str, Any]:
        self._writer.write(message)
        await self._writer.drain()
        length, _ = LENGTHS.unpack(await self._reader.readexactly(LENGTHS.size))
        return unpack_header(await self._reader.readexactly(length))

    async def _died(self) -> ToolFailure:
        with contextlib.suppress(subprocess.TimeoutExpired):
            await asyncio.to_thread(self.process.wait, _EXIT_GRACE)
        self.end()
        code = self.process.returncode
        if code in (-signal.SIGXCPU, -signal.SIGSEGV, -signal.SIGKILL, -signal.SIGABRT, -signal.SIGBUS):
            return ToolFailure(_TOO_MUCH, _TRY_RAW)
        return ToolFailure(
            f"The process that reads pages ended with code {code}.",
            "Check that the packages of the extra `web` are installed.",
        )

    def end(self) -> None:
        """End it at once; it holds nothing that could be lost."""
        self.process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(_EXIT_GRACE)
        with contextlib.suppress(RuntimeError):  # the event loop is closed
            self._writer.close()


class ExtractionWorkers:
    """Lends extraction processes to documents."""

    def __init__(self) -> None:
        self._idle: list[ExtractionProcess] = []
        self._places: asyncio.Semaphore | None = None
        self._expiry: asyncio.TimerHandle | None = None

    async def extract(self, document: WebDocument) -> Extract:
        """Read a document; raises `ToolFailure` with the reason if that is not possible."""
        if self._places is None:
            self._places = asyncio.Semaphore(AT_ONCE)
        async with self._places:
            worker = await self._take()
            try:
                async with asyncio.timeout(DEADLINE):
                    return await worker.extract(document)
            except TimeoutError:
                worker.end()
                raise ToolFailure(_TOO_MUCH, _TRY_RAW) from None
            except asyncio.CancelledError:
                worker.end()
                raise
            finally:
                self._put_back(worker)

    async def _take(self) -> ExtractionProcess:
        while self._idle:
            worker = self._idle.pop()
            if worker.usable:
                return worker
            worker.end()
        return await ExtractionProcess.start()

    def _put_back(self, worker: ExtractionProcess) -> None:
        if not worker.usable:
            worker.end()
            return
        self._idle.append(worker)
        if self._expiry is not None:
            self._expiry.cancel()
        self._expiry = asyncio.get_running_loop().call_later(IDLE, self.close)

    def close(self) -> None:
        """End all processes that are not at work."""
        if self._expiry is not None:
            self._expiry.cancel()
        while self._idle:
            self._idle.pop().end()
