"""Turns what the system says about a path into words for a model; never tells what lies outside."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from toolcrib.serverkit.confined.opening import Escape
from toolcrib.serverkit.failure import ToolFailure

_REASONS = {
    errno.ENOENT: ("does not exist", "List the folder above it to see what is there."),
    errno.ENOTDIR: ("leads through something that is not a folder", "List the folder above it."),
    errno.EISDIR: ("is a folder", "Use list_directory for folders."),
    errno.EEXIST: ("already exists", "Choose another name."),
    errno.ENOTEMPTY: ("is a folder that is not empty", "Choose another name."),
    errno.EACCES: ("may not be accessed: permission denied", ""),
    errno.EPERM: ("may not be changed: operation not permitted", ""),
    errno.EROFS: ("lies on a read-only file system", ""),
    errno.ELOOP: ("is a chain of links without an end", ""),
    errno.ENAMETOOLONG: ("is too long", "Use a shorter name."),
    errno.ENOSPC: ("cannot be written: the disk is full", ""),
    errno.EDQUOT: ("cannot be written: the disk quota is used up", ""),
    errno.ENXIO: ("is not a regular file", "Pipes, sockets and devices are refused."),
    errno.EXDEV: ("lies on another file system", "Read it and write it there instead."),
    errno.EINVAL: ("cannot be moved into itself", ""),
    errno.EAGAIN: ("kept changing while it was opened", "Try again."),
}


def outside(path: str, allowed: Sequence[str]) -> ToolFailure:
    """The refusal of a path that leads out."""
    return ToolFailure(
        f"{path!r} is outside the allowed folders, or a link on its way leads outside.",
        f"Allowed: {', '.join(allowed)}.",
    )


@contextmanager
def explained(path: str, allowed: Sequence[str], *, new: bool = False) -> Iterator[None]:
    """Raise `ToolFailure` about `path` for whatever the file system refuses inside the block.

    `new` is set where the file need not exist: what is missing is then its folder.
    """
    try:
        yield
    except Escape:
        raise outside(path, allowed) from None
    except UnicodeEncodeError:
        raise ToolFailure(f"{path!r} holds characters that no file name can have.") from None
    except OSError as error:
        if new and error.errno == errno.ENOENT:
            raise _no_folder(path) from error
        reason, hint = _REASONS.get(error.errno or 0, (f"cannot be used: {error.strerror}", ""))
        raise ToolFailure(f"{path!r} {reason}.", hint) from error


def _no_folder(path: str) -> ToolFailure:
    folder = path.rstrip("/").rpartition("/")[0] or "/"
    return ToolFailure(f"The folder {folder!r} does not exist.", "Create it first, or choose another folder.")
