"""Open files: a host with many servers needs more than the usual soft limit of 1,024, its servers do not."""

from __future__ import annotations

import contextlib
import errno
import resource

from toolcrib.errors import ResourceShortage

ENOUGH = 65_536
SHORTAGES = (errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM)

_usual: list[tuple[int, int]] = []


def raise_limit() -> None:
    """Allow this process as many open files as it may have, within reason."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = ENOUGH if hard == resource.RLIM_INFINITY else min(hard, ENOUGH)
    if soft == resource.RLIM_INFINITY or soft >= most:
        return
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        _usual[:] = [(soft, hard)]


def restore_limit(pid: int) -> None:
    """Give a child the limit that we were started with: some programs walk through all they may have."""
    if not _usual or not hasattr(resource, "prlimit"):
        return
    with contextlib.suppress(OSError):  # it has ended already
        resource.prlimit(pid, resource.RLIMIT_NOFILE, _usual[0])


def shortage_of(error: BaseException) -> ResourceShortage | None:
    """The error to report when the operating system had no room; None for any other error."""
    if not isinstance(error, OSError) or error.errno not in SHORTAGES:
        return None
    return ResourceShortage(
        f"There is no room for another server: {error.strerror}.",
        hint="It is tried again. Close what is not needed, or raise the limit (`ulimit -n`).",
    )
