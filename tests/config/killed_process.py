"""Runs work in a forked process that is killed at its n-th change of the disk."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable

_CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "open", "shutil.rmtree")


def killed_at(number: int, work: Callable[[], None]) -> bool:
    """Whether the process was killed; False if it ended before."""
    child = os.fork()
    if child == 0:
        seen = 0

        def count(event: str, arguments: tuple[object, ...]) -> None:
            nonlocal seen
            seen += event in _CHANGES
            if event in _CHANGES and seen > number:
                os.kill(os.getpid(), signal.SIGKILL)

        try:
            sys.addaudithook(count)
            work()
            os._exit(0)
        except BaseException:  # noqa: BLE001 - the parent sees the exit code
            traceback.print_exc()
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "the work failed"
    return os.WIFSIGNALED(status)
