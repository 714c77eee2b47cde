"""Moving an entry to a name that must not exist yet, with no moment in which one could be overwritten."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import stat
import sys
from collections.abc import Callable
from functools import cache

RENAME_NOREPLACE = 1
RENAME_EXCL = 4
"""What macOS calls the same."""
_UNSUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)

Rename = Callable[[int, str, int, str], None]


def rename_new(source_folder: int, source: str, target_folder: int, target: str) -> None:
    """Move; raises `FileExistsError` when the target exists."""
    rename = system_rename()
    if rename is not None:
        try:
            rename(source_folder, source, target_folder, target)
        except OSError as error:
            if error.errno not in _UNSUPPORTED:  # file systems differ in what they support
                raise
        else:
            return
    rename_by_claim(source_folder, source, target_folder, target)


def rename_by_claim(source_folder: int, source: str, target_folder: int, target: str) -> None:
    """The way where there is no such call: claim the new name first, which fails if it is taken."""
    kind = os.stat(source, dir_fd=source_folder, follow_symlinks=False).st_mode
    if not stat.S_ISDIR(kind):
        os.link(source, target, src_dir_fd=source_folder, dst_dir_fd=target_folder, follow_symlinks=False)
        os.unlink(source, dir_fd=source_folder)
        return
    os.mkdir(target, 0o700, dir_fd=target_folder)
    try:
        os.rename(source, target, src_dir_fd=source_folder, dst_dir_fd=target_folder)
    except OSError:
        with contextlib.suppress(OSError):
            os.rmdir(target, dir_fd=target_folder)
        raise


@cache
def system_rename() -> Rename | None:
    """The system's own call; None where it has none."""
    name, flags = (
        ("renameatx_np", RENAME_EXCL) if sys.platform == "darwin" else ("renameat2", RENAME_NOREPLACE)
    )
    call = getattr(ctypes.CDLL(None, use_errno=True), name, None)
    if call is None:
        return None
    call.restype = ctypes.c_int
    call.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)

    def rename(source_folder: int, source: str, target_folder: int, target: str) -> None:
        if call(source_folder, os.fsencode(source), target_folder, os.fsencode(target), flags) != 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))

    return rename
