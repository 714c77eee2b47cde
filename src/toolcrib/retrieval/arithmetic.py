"""Loads numpy on first use, with a single BLAS thread, and returns unused memory.

For a few thousand tools, more threads cost more than they save. The variables are unset at once: they must
not reach the servers that we start.
"""

from __future__ import annotations

import contextlib
import os
import sys

_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def prepare() -> None:
    """Call before the first use of numpy; does nothing if it is already loaded."""
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
    """Return freed memory to the system, if the C library can (glibc)."""
    import ctypes

    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)
