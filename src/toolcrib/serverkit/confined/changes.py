"""Replaces a file as a whole: readers see the old content or the new, and a crash leaves one of the two. Also
moves a file without overwriting another."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import stat
import sys
from collections.abc import Callable
from functools import cache

NEW_FILE = 0o666
"""Before the umask."""


def replace_file(folder: int, name: str, data: bytes) -> bool:
    """Write a new file in the place of `name`; True when there was none before.

    The content goes to a new inode, so that other hard links to the old one keep the old content. Owner and
    permissions stay, set-user-id and set-group-id do not. What is no regular file is refused.
    """
    old = _stat(folder, name)
    if old is not None:
        _check_replaceable(folder, name, old)
    temporary = f".toolcrib-{os.urandom(8).hex()}"
    # Closed to others until it has the permissions of the file whose content it takes over.
    mode = NEW_FILE if old is None else 0o600
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(temporary, flags, mode, dir_fd=folder)
    try:
        _fill(descriptor, data, old)
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise
    finally:
        os.close(descriptor)
    _flush_folder(folder)
    return old is None


def _stat(folder: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _check_replaceable(folder: int, name: str, old: os.stat_result) -> None:
    if stat.S_ISDIR(old.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(old.st_mode):
        raise OSError(errno.ENXIO, "not a regular file")
    # A rename asks only the folder for permission; a file marked read-only is meant to stay as it is.
    if not os.access(name, os.W_OK, dir_fd=folder, effective_ids=os.access in os.supports_effective_ids):
        raise PermissionError(errno.EACCES, "the file is read-only")


def _fill(descriptor: int, data: bytes, old: os.stat_result | None) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
    if old is not None:
        if (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
            with contextlib.suppress(PermissionError):
                os.fchown(descriptor, old.st_uid, old.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(old.st_mode) & 0o777)
    os.fsync(descriptor)


def _flush_folder(folder: int) -> None:
    """Make the rename durable too; best effort, for a folder may be writable without being readable."""
    with contextlib.suppress(OSError):
        readable = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
        try:
            os.fsync(readable)
        finally:
            os.close(readable)


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
