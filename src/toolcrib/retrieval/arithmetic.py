"""Loads numpy on first use, with a single BLAS thread, and returns unused memory.

For a few thousand tools, more threads cost more than they save. The variables are set for the C library
alone, and unset at once: they must not reach the servers that we start.
"""

from __future__ import annotations

import contextlib
import os
import sys

_loaded = False
"""Whether it is known to be fully loaded; a module that is still being loaded is in `sys.modules` too."""
_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def prepare() -> None:
    """Call before the first use of numpy; does nothing if it is already loaded."""
    if "numpy" in sys.modules:
        import numpy  # another thread may still be loading it

        return
    unset = [name for name in _VARIABLES if name not in os.environ]
    for name in unset:
        os.putenv(name, "1")
    try:
        import numpy  # noqa: F401
    finally:
        for name in unset:
            os.unsetenv(name)


async def prepare_beside_loop() -> None:
    """The same in a thread: loading takes 0.1 s."""
    from toolcrib.serverkit.threads import in_thread

    global _loaded
    if not _loaded:
        await in_thread(prepare)
        _loaded = True


def give_back() -> None:
    """Return freed memory to the system, if the C library can (glibc)."""
    import ctypes

    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)
