"""Loads numpy when it is first needed, with one thread for its products, and keeps memory small.

On a few thousand tools, threads that wait for each other cost several times what they save, and the cores
belong to others. The variable is taken back at once: it must not reach the servers that we start.
"""

from __future__ import annotations

import contextlib
import os
import sys

_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def prepare() -> None:
    """Call before the first use of numpy; does nothing when a program has loaded it already."""
    if "numpy" in sys.modules:
        return
    unset = [name for name in _VARIABLES if name not in os.environ]
    for name in unset:
        os.environ[name] = "1"
    try:
        import numpy  # noqa: F401
    finally:
        for name in unset:
            del os.environ[name]


def give_back() -> None:
    """Hand memory that was only passed through back to the system, where its library can (glibc)."""
    import ctypes

    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)
