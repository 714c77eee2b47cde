"""Starts a run for each new or changed file of a folder, once its content has stopped changing: endings of
unfinished files, how often it looks, most files, settings.

A version of a file (its path, size and modification time) starts one run, also over restarts: its occurrence
is remembered as long as the file is there. Files that were there when the trigger was turned on start nothing
by default.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatch
from pathlib import Path

from pydantic import Field

from toolcrib.errors import ConfigError
from toolcrib.features.workflows.trigger_type import (
    TriggerOccurrence,
    TriggerResult,
    TriggerSettings,
    TriggerType,
    WatchContext,
)

MOST_FILES = 100_000
INCOMPLETE = (".part", ".partial", ".crdownload", ".download", ".tmp", ".swp", "~")
"""Endings by which programs mark files that they are still writing."""

INTERVAL = 2.0
"""Seconds between two listings of a small folder."""
SHARE = 20
"""A listing that takes long is repeated after so many times as long."""
MOST_AT_ONCE = 1000
"""Files that one check reports; the others follow with the next."""
FORGET_EVERY = 3600.0


@dataclass(frozen=True, slots=True)
class WatchedFile:
    path: str
    size: int
    modified: int
    """Nanoseconds since 1970."""

    @property
    def id(self) -> str:
        """The same for the same content of the same file, as far as its folder shows."""
        text = f"{self.path}\0{self.size}\0{self.modified}"
        return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:24]


def scan(folder: str, pattern: str, *, recursive: bool) -> dict[str, WatchedFile]:
    """The matching files by path. Raises `ConfigError` if the folder cannot be listed or is too large."""
    found: dict[str, WatchedFile] = {}
    for count, entry in enumerate(_entries(folder, recursive=recursive), 1):
        if count > MOST_FILES:
            raise ConfigError(
                f"The folder {folder} has more than {MOST_FILES:,} files.",
                hint="Watch a smaller folder, or move files away once they are processed.",
            )
        version = _version(entry, folder, pattern)
        if version is not None:
            found[version.path] = version
    return found


def _entries(folder: str, *, recursive: bool) -> Iterator[os.DirEntry[str]]:
    left = [folder]
    while left:
        place = left.pop()
        try:
            with os.scandir(place) as inside:
                for entry in inside:
                    if entry.is_dir(follow_symlinks=False):
                        if recursive and not entry.name.startswith("."):
                            left.append(entry.path)
                    else:
                        yield entry
        except OSError as error:
            if place == folder:
                raise ConfigError(
                    f"The folder {folder} cannot be read: {error.strerror}.",
                    hint="Create it, or correct the path and the permissions.",
                ) from error


def _version(entry: os.DirEntry[str], folder: str, pattern: str) -> WatchedFile | None:
    if not _is_wanted(entry, folder, pattern):
        return None
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:  # it was removed meanwhile
        return None
    return WatchedFile(entry.path, status.st_size, status.st_mtime_ns)


def _is_wanted(entry: os.DirEntry[str], folder: str, pattern: str) -> bool:
    name = entry.name
    if not entry.is_file(follow_symlinks=False):
        return False
    if name.startswith(".") and not pattern.startswith("."):
        return False
    if name.endswith(INCOMPLETE) and not pattern.endswith(INCOMPLETE):
        return False
    return fnmatch(name, pattern) or fnmatch(str(Path(entry.path).relative_to(folder)), pattern)


class FolderSettings(TriggerSettings):
    path: str = Field(min_length=1, max_length=4096)
    """Absolute; `~` is the user's home."""
    pattern: str = Field(default="*", min_length=1, max_length=256)
    """A glob for names, such as `*.pdf`, or for paths below the folder."""
    recursive: bool = False
    changed: bool = True
    """A changed file starts a run again."""
    existing: bool = False
    """Files that are there when the trigger is turned on start runs too."""
    settle: float = Field(default=2.0, ge=0.5, le=3600)
    """Seconds without a change after which a file is complete."""


class FolderWatch:
    """Checks need no fixed rhythm: it lists the folder when that is due."""

    def __init__(self, settings: FolderSettings, context: WatchContext) -> None:
        self._settings = settings
        self._context = context
        self._known: set[str] | None = None
        self._changing: dict[str, tuple[WatchedFile, float]] = {}
        """The last version of each unknown file, and since when it is unchanged."""
        self._again = 0.0
        self._forget = context.monotonic() + FORGET_EVERY

    async def check(self, now: datetime, position: str) -> TriggerResult:
        if self._context.monotonic() < self._again:
            return TriggerResult()
        if self._known is None:
            self._known = await self._context.known()
        began = self._context.monotonic()
        files = await _scan(self._settings)
        ended = self._context.monotonic()
        self._again = ended + max(min(INTERVAL, self._settings.settle), (ended - began) * SHARE)
        return TriggerResult(occurrences=self._complete(files, now, ended), gone=self._gone(files, ended))

    def _complete(
        self, files: dict[str, WatchedFile], now: datetime, at: float
    ) -> tuple[TriggerOccurrence, ...]:
        known = self._known or set()
        for path in self._changing.keys() - files.keys():
            del self._changing[path]
        found: list[TriggerOccurrence] = []
        for path, version in files.items():
            if key(version, self._settings) in known:
                self._changing.pop(path, None)
            elif len(found) < MOST_AT_ONCE and self._is_settled(version, at):
                del self._changing[path]
                known.add(key(version, self._settings))
                found.append(_occurrence(version, self._settings, now))
        return tuple(found)

    def _is_settled(self, version: WatchedFile, at: float) -> bool:
        last, since = self._changing.get(version.path, (None, at))
        if last != version:
            self._changing[version.path] = (version, at)
            return False
        return at - since >= self._settings.settle

    def _gone(self, files: dict[str, WatchedFile], at: float) -> frozenset[str]:
        """Occurrences of files that were removed or changed; looked for now and then."""
        if at < self._forget:
            return frozenset()
        self._forget = at + FORGET_EVERY
        present = {key(version, self._settings) for version in files.values()}
        gone = frozenset((self._known or set()) - present)
        self._known = None  # those from long ago are deleted: read again what is left
        return gone


def key(version: WatchedFile, settings: FolderSettings) -> str:
    """The id of the occurrence; without `changed`, all versions of a file have the same."""
    return version.id if settings.changed else WatchedFile(version.path, 0, 0).id


async def _scan(settings: FolderSettings) -> dict[str, WatchedFile]:
    folder = _folder(settings)
    return await asyncio.to_thread(scan, str(folder), settings.pattern, recursive=settings.recursive)


def _folder(settings: FolderSettings) -> Path:
    return Path(settings.path).expanduser()


async def _begin(settings: FolderSettings, now: datetime) -> TriggerResult:
    files = await _scan(settings)
    if settings.existing:
        return TriggerResult(position=now.isoformat())
    ignored = (_occurrence(version, settings, now, ignored=True) for version in files.values())
    return TriggerResult(occurrences=tuple(ignored), position=now.isoformat())


def _occurrence(
    version: WatchedFile, settings: FolderSettings, now: datetime, *, ignored: bool = False
) -> TriggerOccurrence:
    path = Path(version.path)
    event = {
        "path": version.path,
        "name": path.name,
        "folder": str(path.parent),
        "size": version.size,
        "modified": datetime.fromtimestamp(version.modified / 1e9, UTC).isoformat(),
    }
    return TriggerOccurrence(
        id=key(version, settings), event={} if ignored else event, due=now, ignored=ignored
    )


def _describe(settings: FolderSettings) -> str:
    files = "file" if settings.pattern == "*" else f"file {settings.pattern}"
    kinds = "new or changed" if settings.changed else "new"
    below = " and the folders below it" if settings.recursive else ""
    return f"For each {kinds} {files} in {settings.path}{below}"


def _problems(settings: FolderSettings) -> tuple[str, ...]:
    try:
        folder = _folder(settings)
    except RuntimeError as error:
        return (f"The path {settings.path!r} cannot be used: {error}.",)
    if not folder.is_absolute():
        return (f"The path {settings.path!r} is not absolute: write it from / or ~ on.",)
    try:
        return () if folder.is_dir() else (f"The folder {folder} does not exist: create it first.",)
    except OSError as error:
        return (f"The folder {folder} cannot be read: {error.strerror}.",)


def _watch(settings: FolderSettings, context: WatchContext) -> FolderWatch:
    return FolderWatch(settings, context)


TRIGGER = TriggerType(
    name="folder",
    title="Watched folder",
    about="Starts a run for each new or changed file in a folder.",
    settings=FolderSettings,
    describe=_describe,
    problems=_problems,
    event={
        "path": "the file's path",
        "name": "the file's name",
        "folder": "the folder that it is in",
        "size": "its size in bytes",
        "modified": "when it was changed last, in UTC",
    },
    begin=_begin,
    watch=_watch,
    local=True,
    remembers=True,
)
