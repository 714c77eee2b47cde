"""Takes pictures of the screen and of single windows, also of those that other windows cover."""

from __future__ import annotations

import contextlib
import ctypes
import functools
from collections.abc import Iterator
from typing import Any

import cv2
import numpy
import xcffib
import xcffib.composite
import xcffib.shm
from xcffib.xproto import ImageFormat, MapState

from toolcrib.bundled.desktop.backend import Screenshot
from toolcrib.bundled.desktop.backends.x11.connection import XConnection, XThread
from toolcrib.bundled.desktop.backends.x11.displays import screen_rect
from toolcrib.bundled.desktop.backends.x11.windows import get_window, top_level
from toolcrib.bundled.desktop.geometry import Point, Rect
from toolcrib.serverkit.context import ToolFailure

IPC_PRIVATE = 0
IPC_CREAT = 0o1000
IPC_RMID = 0


@functools.cache
def _libc() -> Any:
    library = ctypes.CDLL(None, use_errno=True)
    library.shmat.restype = ctypes.c_void_p
    library.shmat.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
    library.shmdt.argtypes = (ctypes.c_void_p,)
    library.shmget.argtypes = (ctypes.c_int, ctypes.c_size_t, ctypes.c_int)
    return library


class SharedMemory:
    """A System V segment; the system frees it when the last process detaches from it."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.id: int = _libc().shmget(IPC_PRIVATE, size, IPC_CREAT | 0o600)
        if self.id < 0:
            raise OSError(ctypes.get_errno(), "no shared memory")
        self._address: int | None = _libc().shmat(self.id, None, 0)
        if self._address in (None, ctypes.c_void_p(-1).value):
            self._address = None
            self.mark_for_removal()
            raise OSError(ctypes.get_errno(), "shared memory cannot be attached")

    def mark_for_removal(self) -> None:
        """Call it once the server has attached, so that no segment is left behind after a crash."""
        _libc().shmctl(self.id, IPC_RMID, None)

    def view(self, length: int) -> memoryview:
        """Its first bytes, without a copy; the next picture overwrites them."""
        if self._address is None or length > self.size:
            raise ValueError("beyond the shared memory")
        return memoryview((ctypes.c_ubyte * length).from_address(self._address))

    def close(self) -> None:
        if self._address is not None:
            _libc().shmdt(self._address)
            self._address = None


ALL_PLANES = 0xFFFFFFFF
BYTES_PER_PIXEL = 4
Buffer = bytes | memoryview
AUTOMATIC = 0


class X11Capture:
    def __init__(self, thread: XThread) -> None:
        self._thread = thread
        self._grabber = _Grabber()
        thread.at_close(self._grabber.close)

    async def prepare(self) -> None:
        """Have the server keep the content of all windows, so that covered ones can be read."""
        await self._thread.run(_redirect)

    async def screen(self, rect: Rect | None = None) -> Screenshot:
        return await self._thread.run(self._grabber.screen, rect)

    async def window(self, window: int) -> Screenshot:
        return await self._thread.run(self._grabber.window, window)


class _Grabber:
    """Keeps one shared segment, as large as the largest picture so far."""

    def __init__(self) -> None:
        self._memory: SharedMemory | None = None
        self._segment = 0
        self._no_memory = False

    def screen(self, connection: XConnection, rect: Rect | None) -> Screenshot:
        whole = screen_rect(connection)
        part = whole if rect is None else rect.intersection(whole)
        if part.is_empty:
            raise ToolFailure(
                "The region is outside the screen.", f"The screen is {whole.width}x{whole.height}."
            )
        return Screenshot(self._grab(connection, connection.root, part), Point(part.x, part.y))

    def window(self, connection: XConnection, window: int) -> Screenshot:
        found = get_window(connection, window)
        frame = top_level(connection, window)
        viewable = connection.core.GetWindowAttributes(frame).reply().map_state == MapState.Viewable
        if found.minimised or not viewable:
            raise ToolFailure(f"The window {window} is minimised.", "Restore it with focus_window first.")
        corner = connection.core.TranslateCoordinates(window, frame, 0, 0).reply()
        size = connection.core.GetGeometry(frame).reply()
        inside = Rect(corner.dst_x, corner.dst_y, found.rect.width, found.rect.height)
        part = inside.intersection(Rect(0, 0, size.width, size.height))
        with _pixmap(connection, frame) as pixmap:
            pixels = self._grab(connection, pixmap, part)
        return Screenshot(pixels, Point(found.rect.x, found.rect.y))

    def close(self, connection: XConnection) -> None:
        if self._memory is not None:
            connection.extension(xcffib.shm).Detach(self._segment)
            self._memory.close()
            self._memory = None

    def _grab(self, connection: XConnection, drawable: int, part: Rect) -> numpy.ndarray:
        data: Buffer | None = self._through_memory(connection, drawable, part)
        if data is None:
            data = _through_socket(connection, drawable, part)
        pixels = numpy.frombuffer(data, numpy.uint8).reshape(part.height, part.width, BYTES_PER_PIXEL)
        # Several times as fast as a copy by numpy.
        converted: numpy.ndarray = cv2.cvtColor(pixels, cv2.COLOR_BGRA2BGR)
        return converted

    def _through_memory(self, connection: XConnection, drawable: int, part: Rect) -> memoryview | None:
        length = part.width * part.height * BYTES_PER_PIXEL
        if not self._reserve(connection, length):
            return None
        extension = connection.extension(xcffib.shm)
        extension.GetImage(
            drawable,
            part.x,
            part.y,
            part.width,
            part.height,
            ALL_PLANES,
            ImageFormat.ZPixmap,
            self._segment,
            0,
        ).reply()
        assert self._memory is not None
        return self._memory.view(length)

    def _reserve(self, connection: XConnection, length: int) -> bool:
        if self._memory is not None and self._memory.size >= length:
            return True
        if self._no_memory:
            return False
        self.close(connection)
        try:
            self._memory = memory = SharedMemory(length)
        except OSError:
            self._no_memory = True
            return False
        self._segment = connection.raw.generate_id()
        try:
            connection.extension(xcffib.shm).Attach(self._segment, memory.id, False, is_checked=True).check()
        except xcffib.Error:  # the server is on another machine or in another container
            memory.close()
            self._memory, self._no_memory = None, True
        memory.mark_for_removal()
        return not self._no_memory


def _through_socket(connection: XConnection, drawable: int, part: Rect) -> bytes:
    reply = connection.core.GetImage(
        ImageFormat.ZPixmap, drawable, part.x, part.y, part.width, part.height, ALL_PLANES
    ).reply()
    return bytes(reply.data.buf())


def _redirect(connection: XConnection) -> None:
    extension: Any = connection.extension(xcffib.composite)
    extension.QueryVersion(0, 4).reply()
    # A compositor that is already running keeps its own redirection; ours comes on top.
    extension.RedirectSubwindows(connection.root, AUTOMATIC)
    connection.sync()


@contextlib.contextmanager
def _pixmap(connection: XConnection, frame: int) -> Iterator[int]:
    pixmap: int = connection.raw.generate_id()
    connection.extension(xcffib.composite).NameWindowPixmap(frame, pixmap, is_checked=True).check()
    try:
        yield pixmap
    finally:
        connection.core.FreePixmap(pixmap)
