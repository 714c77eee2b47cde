"""The folders that a server may touch, and every way into them."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from toolcrib.errors import UsageError
from toolcrib.serverkit.confined.protected import protected_part
from toolcrib.serverkit.confined.walk import (
    FOLDER,
    LISTING,
    MAX_LINKS,
    READING,
    Escape,
    Opener,
    best_opener,
    inside,
    link_target,
)
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.own_places import (
    is_home,
    is_own_file,
    is_store,
    own_holding,
    own_part,
    touched_place,
    within,
)
from toolcrib.serverkit.readiness import Lack

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
        raise ToolFailure(f"{path!r} contains characters that are not allowed in file names.") from None
    except OSError as error:
        if new and error.errno == errno.ENOENT:
            raise _no_folder(path) from error
        reason, hint = _REASONS.get(error.errno or 0, (f"cannot be used: {error.strerror}", ""))
        raise ToolFailure(f"{path!r} {reason}.", hint) from error


def _no_folder(path: str) -> ToolFailure:
    folder = path.rstrip("/").rpartition("/")[0] or "/"
    return ToolFailure(f"The folder {folder!r} does not exist.", "Create it first, or choose another folder.")


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
        self._opener = opener or best_opener()
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

    def explained(self, path: str, *, new: bool = False) -> AbstractContextManager[None]:
        """Inside this block, what the file system refuses about `path` is raised as `ToolFailure`.

        `new` is set where the file need not exist yet.
        """
        return explained(path, self.allowed, new=new)

    @contextmanager
    def reading(self, path: str) -> Iterator[int]:
        """A descriptor of a regular file; anything else is refused without waiting for it."""
        root, parts = self._locate(path)
        descriptor, names = self._opener.open(root.descriptor, parts, READING)
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
        descriptor, names = self._opener.open(root.descriptor, parts, LISTING)
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
        descriptor, above = self._opener.open(root.descriptor, parts, FOLDER)
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
        named = next((folder for folder in self._protect if _meet(place.path, folder)), None)
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
        descriptor, above = self._opener.open(root.descriptor, parts[:-1], FOLDER)
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
    from toolcrib.serverkit.own_places import contains_mounts, shows_own

    return contains_mounts(root.real) and shows_own(root.real, names)


def _meet(path: Path, folder: Path) -> bool:
    return within(path, folder) or within(folder, path)


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
