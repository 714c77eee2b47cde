"""The folders that a server may touch, and every way into them: how paths and links are resolved, and errors
such as "is outside the allowed folders" and "is protected".

Opens what lies beneath a folder: Linux resolves such paths itself (`openat2`), others one name at a time. The
walk never follows a link unseen. Each step opens one name below the descriptor of the step before with
`O_NOFOLLOW`. A link is read, and its names take its place in the path; `..` goes back to the descriptor it
came from. So nothing outside can be reached, whatever is swapped meanwhile: the worst that a swap does is to
lead somewhere else inside.
"""

from __future__ import annotations

import errno
import os
import platform
import stat
import struct
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, reduce
from operator import or_
from pathlib import Path
from typing import Any

from toolcrib.errors import UsageError
from toolcrib.serverkit.confined.protected import protected_part
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.own_places import (
    contains_mounts,
    is_home,
    is_own_file,
    is_store,
    own_holding,
    own_part,
    shows_own,
    touched_place,
    within,
)
from toolcrib.serverkit.readiness import Lack

OPENAT2 = 437
"""The number of the system call; the same on both of these machines."""
MACHINES = ("x86_64", "aarch64", "arm64")
RESOLVE_NO_MAGICLINKS = 0x02
RESOLVE_BENEATH = 0x08
MAX_TRIES = 64
"""The kernel asks to try again when something was renamed while it resolved `..`."""

_REASONS = {
    errno.ENOENT: ("does not exist", "List the folder above it to see what is there."),
    errno.ENOTDIR: ("leads through something that is not a folder", "List the folder above it."),
    errno.EISDIR: ("is a folder", "Use list_directory for folders."),
    errno.EEXIST: ("already exists", "Choose another name."),
    errno.ENOTEMPTY: ("is a folder that is not empty", "Choose another name."),
    errno.EACCES: ("may not be accessed: permission denied", ""),
    errno.EPERM: ("may not be changed: operation not permitted", ""),
    errno.EROFS: ("is on a read-only file system", ""),
    errno.ELOOP: ("is a loop of links", ""),
    errno.ENAMETOOLONG: ("is too long", "Use a shorter name."),
    errno.ENOSPC: ("cannot be written: the disk is full", ""),
    errno.EDQUOT: ("cannot be written: the disk quota is used up", ""),
    errno.ENXIO: ("is not a regular file", "Pipes, sockets and devices are refused."),
    errno.EXDEV: ("is on another file system", "Read it and write it there instead."),
    errno.EINVAL: ("cannot be moved into itself", ""),
    errno.EAGAIN: ("kept changing while it was opened", "Try again."),
}


@cache
def has_openat2() -> bool:
    """True when this kernel has the call, lets us use it, and tells what a descriptor stands for."""
    if not sys.platform.startswith("linux") or platform.machine() not in MACHINES:
        return False
    folder = os.open("/", FOLDER)
    try:
        os.close(_openat2(folder, b".", FOLDER))
        _names_of(folder)
    except OSError:
        return False
    finally:
        os.close(folder)
    return True


def open_by_kernel(root: int, parts: Sequence[str], flags: int) -> tuple[int, tuple[str, ...]]:
    """See `Opener`."""
    found = _resolve(root, parts, flags)
    try:
        above, names = _names_of(root), _names_of(found)
        if names[: len(above)] != above:  # one of the two was moved away just now
            raise Escape
    except BaseException:
        os.close(found)
        raise
    return found, names[len(above) :]


def _resolve(root: int, parts: Sequence[str], flags: int) -> int:
    path = os.fsencode("/".join(parts) or ".")
    for _ in range(MAX_TRIES):
        try:
            return _openat2(root, path, flags)
        except BlockingIOError as error:
            again = error
        except OSError as error:
            if error.errno == errno.EXDEV:
                raise Escape from error
            raise
    raise again


@cache
def _libc() -> Any:
    import ctypes  # loaded by the first path

    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    libc.syscall.argtypes = (
        ctypes.c_long,
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_char_p,
        ctypes.c_size_t,
    )
    return libc


def _openat2(folder: int, path: bytes, flags: int) -> int:
    how = struct.pack("QQQ", flags | os.O_CLOEXEC, 0, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS)
    descriptor = _libc().syscall(OPENAT2, folder, path, how, len(how))
    if descriptor < 0:
        import ctypes

        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return int(descriptor)


def _names_of(descriptor: int) -> tuple[str, ...]:
    return Path(f"/proc/self/fd/{descriptor}").readlink().parts


def _flags(*names: str) -> int:
    """Those of the names that the system knows; Windows, which is refused later, lacks most."""
    return reduce(or_, (getattr(os, name, 0) for name in names))


FOLDER = _flags("O_DIRECTORY", "O_CLOEXEC", "O_PATH")
"""Enough to resolve names in a folder; needs no right to list it where the system knows `O_PATH`."""
LISTING = _flags("O_RDONLY", "O_DIRECTORY", "O_CLOEXEC")
READING = _flags("O_RDONLY", "O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC")
"""Never waits: a pipe that nobody writes to opens at once and is then refused by its type."""


class Escape(Exception):
    """The path leads out of the folder."""


Opener = Callable[[int, Sequence[str], int], tuple[int, tuple[str, ...]]]
"""Opens what lies beneath a folder, given its descriptor, names, and flags for the last of them.

`..` is allowed among the names as long as it stays inside. Relative links are followed inside the folder.
Returns a descriptor of an existing file or folder, and the names that lead to it without any link. Raises
`Escape` for anything that leads out, else the usual `OSError`.
"""


def best_opener() -> Opener:
    """The kernel's own where it has one, else the walk."""
    return open_by_kernel if has_openat2() else open_by_walk


MAX_LINKS = 40
"""As many as Linux follows."""
_PERHAPS_A_LINK = (errno.ELOOP, errno.ENOTDIR, errno.EMLINK)


def open_by_walk(root: int, parts: Sequence[str], flags: int) -> tuple[int, tuple[str, ...]]:
    """See `Opener`."""
    trail, names, ahead, links = [os.dup(root)], list[str](), deque(parts), 0
    try:
        while ahead:
            part = ahead.popleft()
            if part == "..":
                if not names:
                    raise Escape
                names.pop()
                os.close(trail.pop())
                continue
            found = _open_one(trail[-1], part, FOLDER if ahead else flags)
            if isinstance(found, list):
                links += 1
                if links > MAX_LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
                ahead.extendleft(reversed(found))
                continue
            names.append(part)
            if not ahead:
                return found, tuple(names)
            trail.append(found)
        return os.open(".", flags | os.O_NOFOLLOW, dir_fd=trail[-1]), tuple(names)
    finally:
        for descriptor in trail:
            os.close(descriptor)


def _open_one(folder: int, name: str, flags: int) -> int | list[str]:
    """A descriptor; of a link, the names that it leads to."""
    try:
        return os.open(name, flags | os.O_NOFOLLOW, dir_fd=folder)
    except OSError as error:
        target = link_target(folder, name) if error.errno in _PERHAPS_A_LINK else None
        if target is None:
            raise
    return inside(target)


def link_target(folder: int, name: str) -> str | None:
    """Where a link points to; None when the name is no link or not there."""
    try:
        return os.readlink(name, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.ENOENT):
            return None
        raise


def inside(path: str) -> list[str]:
    """The names of a relative path; raises `Escape` for an absolute one."""
    if path.startswith("/"):
        raise Escape
    return [part for part in path.split("/") if part not in ("", ".")]


@dataclass(frozen=True)
class Root:
    """One allowed folder, held open so that swapping what its path leads to changes nothing."""

    given: Path
    real: Path
    descriptor: int


@dataclass(frozen=True)
class ConfinedEntry:
    """A name in a folder that is open; the entry itself may not exist."""

    folder: int
    name: str
    root: Root
    names: tuple[str, ...]
    """What leads from the root to the entry, without any link."""

    @property
    def path(self) -> Path:
        """Where it really is."""
        return self.root.real.joinpath(*self.names)

    def beside(self, name: str) -> ConfinedEntry:
        """Another name in the same folder."""
        check_name(name)
        return ConfinedEntry(self.folder, name, self.root, (*self.names[:-1], name))


class Roots:
    """Resolves paths: absolute ones inside a root, relative ones from the first root.

    `~` and `$NAME` mean nothing here, and neither do percent signs. A client cannot add to the roots.
    """

    def __init__(
        self,
        folders: Sequence[str | Path],
        *,
        opener: Opener | None = None,
        allow_protected: bool = False,
        protect: Sequence[str | Path] = (),
    ) -> None:
        if not folders:
            raise UsageError("No folder was given.", hint="Name at least one folder that may be used.")
        if os.open not in os.supports_dir_fd:
            raise UsageError("This system cannot confine file access to folders.", hint="Use Linux or macOS.")
        self._open = opener or best_opener()
        self._allow_protected = allow_protected
        self._protect = tuple(Path(folder).resolve() for folder in protect)
        self._roots: list[Root] = []
        try:
            self._roots.extend(_open_root(Path(folder)) for folder in folders)
        except UsageError:
            self.close()
            raise
        self._immovable = {
            _identity(path) for root in self._roots for path in (root.real, *root.real.parents)
        }
        self.allowed = tuple(str(root.given) for root in self._roots)

    def close(self) -> None:
        """Let go of the folders."""
        while self._roots:
            os.close(self._roots.pop().descriptor)

    def missing(self) -> Lack | None:
        """Whether every root was deleted since it was opened."""
        if any(os.fstat(root.descriptor).st_nlink for root in self._roots):
            return None
        where = ", ".join(self.allowed)
        hint = "Create it again and restart the server, or name another folder in its entry."
        return Lack("folder", f"{where} was deleted.", hint)

    @contextmanager
    def explained(self, path: str, *, new: bool = False) -> Iterator[None]:
        """Raise `ToolFailure` about `path` for whatever the file system refuses inside the block.

        `new` is set where the file need not exist: what is missing is then its folder.
        """
        try:
            yield
        except Escape:
            raise ToolFailure(
                f"{path!r} is outside the allowed folders, or a link on its way leads outside.",
                f"Allowed: {', '.join(self.allowed)}.",
            ) from None
        except UnicodeEncodeError:
            raise ToolFailure(f"{path!r} contains characters that are not allowed in file names.") from None
        except OSError as error:
            reason, hint = _REASONS.get(error.errno or 0, (f"cannot be used: {error.strerror}", ""))
            shown = f"{path!r} {reason}."
            if new and error.errno == errno.ENOENT:
                folder = path.rstrip("/").rpartition("/")[0] or "/"
                shown = f"The folder {folder!r} does not exist."
                hint = "Create it first, or choose another folder."
            raise ToolFailure(shown, hint) from error

    @contextmanager
    def reading(self, path: str) -> Iterator[int]:
        """A descriptor of a regular file; anything else is refused without waiting for it."""
        root, parts = self._locate(path)
        descriptor, names = self._open(root.descriptor, parts, READING)
        try:
            status = os.fstat(descriptor)
            mode = status.st_mode
            self._check_readable(root, names, status)
            if stat.S_ISDIR(mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            if not stat.S_ISREG(mode):
                raise OSError(errno.ENXIO, os.strerror(errno.ENXIO))
            yield descriptor
        finally:
            os.close(descriptor)

    @contextmanager
    def listing(self, path: str) -> Iterator[int]:
        """A descriptor of a folder whose entries can be read."""
        root, parts = self._locate(path)
        descriptor, names = self._open(root.descriptor, parts, LISTING)
        try:
            self._check_readable(root, names)
            yield descriptor
        finally:
            os.close(descriptor)

    @contextmanager
    def folder(self, path: str, name: str) -> Iterator[ConfinedEntry]:
        """The place of `name` in the folder `path`; `name` is a single name."""
        check_name(name)
        root, parts = self._locate(path)
        descriptor, above = self._open(root.descriptor, parts, FOLDER)
        try:
            yield ConfinedEntry(descriptor, name, root, (*above, name))
        finally:
            os.close(descriptor)

    @contextmanager
    def entry(self, path: str) -> Iterator[ConfinedEntry]:
        """The entry that `path` names, itself: a link is not followed."""
        root, parts = self._locate(path)
        with self._place(root, parts, path) as place:
            yield place

    @contextmanager
    def target(self, path: str) -> Iterator[ConfinedEntry]:
        """The file that `path` leads to, links followed, whether or not it exists."""
        root, parts = self._locate(path)
        for _ in range(MAX_LINKS):
            with self._place(root, parts, path) as place:
                onward = link_target(place.folder, place.name)
                if onward is None:
                    yield place
                    return
            parts = [*parts[:-1], *inside(onward)]
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))

    def check_changeable(self, place: ConfinedEntry, *, moving: bool = False) -> None:
        """Raise `ToolFailure` when the place is protected, or when moving it would move a root."""
        if moving and self._is_immovable(place):
            raise ToolFailure(f"{place.name!r} is an allowed folder or contains one and cannot be moved.")
        part = None if self._allow_protected else protected_part(place.names)
        named = next(
            (folder for folder in self._protect if within(place.path, folder) or within(folder, place.path)),
            None,
        )
        if part is not None or named is not None:
            raise ToolFailure(
                f"{place.name!r} is protected: {part or named} controls what other programs do.",
                "The user can change it, or start this server with --allow-protected.",
            )
        if self._is_own(place.root, place.names):
            raise _own_refusal(place.name)

    def _check_readable(
        self, root: Root, names: tuple[str, ...], status: os.stat_result | None = None
    ) -> None:
        """Raise `ToolFailure` for Toolcrib's own files, under whatever name; they hold its secrets."""
        own = own_part(root.real, names) or own_holding(root.real.joinpath(*names), root.real)
        known = own is not None or _is_mounted(root, names)
        if known or (status is not None and is_own_file(status)):
            raise _own_refusal(names[-1] if names else str(root.given))

    def _is_own(self, root: Root, names: tuple[str, ...]) -> bool:
        """Whether changing this entry would change, replace or move a file of Toolcrib's own."""
        path = root.real.joinpath(*names)
        if touched_place(path, root.real) or own_part(root.real, names):
            return True
        return is_home(path) or is_store(path) or _is_mounted(root, names)

    def _is_immovable(self, place: ConfinedEntry) -> bool:
        found = os.stat(place.name, dir_fd=place.folder, follow_symlinks=False)
        return (found.st_dev, found.st_ino) in self._immovable

    @contextmanager
    def _place(self, root: Root, parts: list[str], path: str) -> Iterator[ConfinedEntry]:
        if not parts:
            raise ToolFailure(f"{path!r} is an allowed folder itself.", "Name something inside it.")
        if parts[-1] == "..":
            raise ToolFailure(f"{path!r} ends in '..'.", "Name the file or folder itself.")
        descriptor, above = self._open(root.descriptor, parts[:-1], FOLDER)
        try:
            yield ConfinedEntry(descriptor, parts[-1], root, (*above, parts[-1]))
        finally:
            os.close(descriptor)

    def _locate(self, path: str) -> tuple[Root, list[str]]:
        if "\0" in path:
            raise ToolFailure("A path cannot contain a null character.")
        parts = [part for part in path.split("/") if part not in ("", ".")]
        if not path.startswith("/"):
            return self._roots[0], parts
        matches = [
            (len(above), root, parts[len(above) :])
            for root in self._roots
            for above in (list(root.given.parts[1:]), list(root.real.parts[1:]))
            if parts[: len(above)] == above
        ]
        if not matches:
            raise Escape
        _, root, rest = max(matches, key=lambda match: match[0])
        return root, rest


def _own_refusal(name: str) -> ToolFailure:
    return ToolFailure(
        f"{name!r} is protected: it belongs to Toolcrib itself.",
        "Change its settings and secrets with the toolcrib command or on its web page.",
    )


def _is_mounted(root: Root, names: tuple[str, ...]) -> bool:
    """Whether a mount shows files of our own there."""
    return contains_mounts(root.real) and shows_own(root.real, names)


def check_name(name: str) -> None:
    """Raise `ToolFailure` unless this is one plain name."""
    if name in ("", ".", "..") or "/" in name or "\0" in name:
        raise ToolFailure(f"{name!r} is not a single name.", "Use a name without a slash, not '.' or '..'.")


def _open_root(folder: Path) -> Root:
    given = Path(os.path.normpath(Path.cwd() / folder))
    try:
        descriptor = os.open(given, FOLDER)
    except OSError as error:
        raise UsageError(
            f"The folder {str(folder)!r} cannot be used: {error.strerror}.",
            hint="Name a folder that exists and that you may enter.",
        ) from error
    return Root(given, given.resolve(), descriptor)


def _identity(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino
