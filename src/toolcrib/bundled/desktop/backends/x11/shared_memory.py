"""Memory shared with the X server, so that pictures need not pass through its socket."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

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
