"""A connection to an X server, owned by one thread that runs jobs and handles events; the timeout of a job,
and the error for a window that closed meanwhile.

A server that hangs, or a client that grabs it, stops only this thread: callers give up after their deadline.
All extensions are imported here because xcffib recognises events only of those known when it connects.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import select
import struct
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import xcffib
import xcffib.composite
import xcffib.damage
import xcffib.randr
import xcffib.record
import xcffib.res
import xcffib.shm
import xcffib.xfixes
import xcffib.xkb
import xcffib.xproto
import xcffib.xtest
from xcffib import ffi, lib

from toolcrib.bundled.desktop.deadline import STEP, Deadline, PatientTimeout
from toolcrib.serverkit.context import ToolFailure

R = TypeVar("R")
COOKIE_KIND = b"MIT-MAGIC-COOKIE-1"
DEADLINE = 10.0
"""Seconds for one job, unless it says otherwise."""
MAX_PROPERTY = 1 << 20
Event = Any


class DisplayLost(ToolFailure):
    """The X server has gone or refuses us."""

    kind = "display_lost"


class _Connection(xcffib.Connection):  # type: ignore[misc]
    """xcffib frees the cookie before libxcb reads it, and splits it at a colon."""

    def __init__(self, display: str, cookie: bytes | None) -> None:
        number = ffi.new("int *")
        name = ffi.new("char[]", display.encode("latin1"))
        if cookie is None:
            self._conn = lib.xcb_connect(name, number)
        else:
            kept = ffi.new("char[]", COOKIE_KIND), ffi.new("char[]", cookie)
            auth = ffi.new("xcb_auth_info_t *")
            auth.name, auth.namelen = kept[0], len(COOKIE_KIND)
            auth.data, auth.datalen = kept[1], len(cookie)
            self._conn = lib.xcb_connect_to_display_with_auth_info(name, auth, number)
        self.pref_screen = number[0]
        self.invalid()
        self._init_x()


class XConnection:
    """Requests of one thread; `XThread` owns it."""

    def __init__(self, display: str, cookie: bytes | None = None) -> None:
        try:
            self.raw = _Connection(display, cookie)
        except xcffib.ConnectionException as error:
            raise DisplayLost(f"The display {display!r} cannot be opened: {error}.") from None
        self.core = self.raw.core
        self.screen = self.raw.setup.roots[self.raw.pref_screen]
        self.root: int = self.screen.root
        self.on_event: Callable[[Event], None] = lambda event: None
        self._atoms: dict[str, int] = {}
        self._names: dict[int, str] = {}

    def extension(self, module: Any) -> Any:
        return self.raw(module.key)

    def atom(self, name: str) -> int:
        if name not in self._atoms:
            self.learn_atoms(name)
        return self._atoms[name]

    def learn_atoms(self, *names: str) -> None:
        """Ask for several at once."""
        missing = [name for name in names if name not in self._atoms]
        asked = [(name, self.core.InternAtom(False, len(name), name)) for name in missing]
        for name, reply in asked:
            self._atoms[name] = reply.reply().atom
            self._names[self._atoms[name]] = name

    def atom_name(self, atom: int) -> str:
        if atom not in self._names:
            self._names[atom] = bytes(self.core.GetAtomName(atom).reply().name.buf()).decode("latin1")
        return self._names[atom]

    def get_property(self, window: int, name: str) -> Any:
        """A request whose reply `numbers` or `text` reads, so that several can be sent at once."""
        return self.core.GetProperty(False, window, self.atom(name), 0, 0, MAX_PROPERTY // 4)

    def read_numbers(self, window: int, name: str) -> list[int]:
        try:
            return numbers(self.get_property(window, name).reply())
        except xcffib.Error:
            return []

    def send_to_root(self, window: int, kind: str, *data: int) -> None:
        """A message to the window manager about a window."""
        mask = xcffib.xproto.EventMask.SubstructureRedirect | xcffib.xproto.EventMask.SubstructureNotify
        self.core.SendEvent(False, self.root, mask, self.client_message(window, kind, *data))
        self.raw.flush()

    def client_message(self, window: int, kind: str, *data: int) -> bytes:
        filled = [*data, *(0,) * (5 - len(data))]
        content = xcffib.xproto.ClientMessageData.synthetic(filled, "IIIII")
        event = xcffib.xproto.ClientMessageEvent.synthetic(32, window, self.atom(kind), content)
        return bytes(event.pack())

    def sync(self) -> None:
        """Return when the server has processed everything so far."""
        self.core.GetInputFocus().reply()

    def events(self) -> Iterator[Event]:
        """Events that have arrived, without waiting."""
        while True:
            try:
                event = self.raw.poll_for_event()
            except xcffib.ConnectionException:
                raise
            except (xcffib.Error, xcffib.ProtocolException):
                continue  # of a request without a reply, such as to a window that has just closed
            if event is None:
                return
            yield event

    def wait_for(self, wanted: Callable[[Event], bool], timeout: float) -> Event | None:
        """The first such event; the others go to `on_event`."""
        deadline = Deadline(timeout)
        self.raw.flush()
        while True:
            for event in self.events():
                if wanted(event):
                    return event
                self.on_event(event)
            left = deadline.look()
            if left <= 0:
                return None
            select.select([self.raw.get_file_descriptor()], [], [], min(left, STEP))


class XThread:
    """The thread of a connection."""

    def __init__(self, display: str, cookie: bytes | None, name: str) -> None:
        self.connection = XConnection(display, cookie)
        self._display = display
        self._jobs: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._woken, self._wake = os.pipe()
        os.set_blocking(self._wake, False)
        self._closing = False
        self._lost = False
        self._at_close: list[Callable[[XConnection], None]] = []
        self._thread = threading.Thread(target=self._run, name=f"desktop-{name}", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        return not self._lost and not self._closing

    def at_close(self, function: Callable[[XConnection], None]) -> None:
        """Have something undone before the connection is closed."""
        self._at_close.append(function)

    async def run(self, function: Callable[..., R], *arguments: Any, timeout: float = DEADLINE) -> R:
        """Run it in the thread with the connection as its first argument."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[R] = loop.create_future()

        def job() -> None:
            value: Any = None
            failure: BaseException | None = None
            try:
                value = function(self.connection, *arguments)
            except xcffib.ConnectionException:
                self._lost = True
                failure = self._gone()
            except xcffib.Error as error:
                failure = ToolFailure(
                    f"The window has changed or closed meanwhile ({type(error).__name__}).",
                    "Call list_windows again.",
                )
            except BaseException as error:  # noqa: BLE001 - it belongs to the waiting caller
                failure = error
            with contextlib.suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(_settle, future, value, failure)

        if not self.alive:
            raise self._gone()
        self._jobs.put(job)
        self._notify()
        try:
            async with PatientTimeout(timeout):
                return await future
        except TimeoutError:
            raise ToolFailure(
                f"The display {self._display} did not answer within {timeout:g} s.", "Try again later."
            ) from None

    def post(self, function: Callable[[XConnection], None]) -> None:
        """Run it in the thread without waiting for it."""

        def job() -> None:
            with contextlib.suppress(xcffib.Error):
                function(self.connection)

        if self.alive:
            self._jobs.put(job)
            self._notify()

    def close(self) -> None:
        """Undo and disconnect; waits for a moment."""
        if self._closing:
            return
        self._closing = True
        self._notify()
        if threading.current_thread() is not self._thread:
            self._thread.join(2.0)

    def _gone(self) -> DisplayLost:
        return DisplayLost(
            f"The display {self._display} has gone.", "Try again: it is opened again if it is back."
        )

    def _notify(self) -> None:
        with contextlib.suppress(BlockingIOError, OSError):
            os.write(self._wake, b"x")

    def _run(self) -> None:
        try:
            while not self._closing:
                self._run_jobs()
                for event in self.connection.events():
                    self.connection.on_event(event)
                self.connection.raw.flush()
                if self._jobs.empty() and not self._closing:
                    select.select([self.connection.raw.get_file_descriptor(), self._woken], [], [])
                    self._drain()
        except (xcffib.ConnectionException, OSError):
            self._lost = True
        self._run_jobs()  # their callers get an error instead of waiting
        self._finish()

    def _run_jobs(self) -> None:
        while not self._jobs.empty():
            self._jobs.get()()

    def _drain(self) -> None:
        if select.select([self._woken], [], [], 0)[0]:
            os.read(self._woken, 4096)

    def _finish(self) -> None:
        with contextlib.suppress(xcffib.XcffibException, xcffib.Error):
            if not self._lost:
                for undo in reversed(self._at_close):
                    undo(self.connection)
                self.connection.sync()
        with contextlib.suppress(xcffib.XcffibException):
            self.connection.raw.disconnect()
        os.close(self._woken)
        os.close(self._wake)


def _settle(future: asyncio.Future[Any], value: Any, failure: BaseException | None) -> None:
    if future.done():
        return
    if failure is None:
        future.set_result(value)
    else:
        future.set_exception(failure)


@contextlib.contextmanager
def grabbed(connection: XConnection) -> Iterator[None]:
    """No other program can change anything during the block."""
    connection.core.GrabServer()
    try:
        yield
    finally:
        connection.core.UngrabServer()
        connection.sync()


def numbers(reply: Any) -> list[int]:
    """The 32-bit numbers of a property."""
    data = bytes(reply.value.buf())
    return list(struct.unpack(f"={len(data) // 4}I", data)) if reply.format == 32 else []


def text(reply: Any) -> str:
    """The text of a property; the old type STRING is Latin-1."""
    encoding = "latin1" if reply.type == xcffib.xproto.Atom.STRING else "utf-8"
    return bytes(reply.value.buf()).decode(encoding, "replace")
