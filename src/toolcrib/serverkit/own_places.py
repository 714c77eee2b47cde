"""Toolcrib's own files: they decide what it runs, and hold its secrets and its records. Lists the names of
these files and folders, and finds them also under hard links and mounts.

A host claims its places while it runs. A server without a host knows those of `TOOLCRIB_HOME`, those that a
host named in `TOOLCRIB_PROTECT`, and the platform's default ones. Any other home is recognised by the files
in it, wherever it lies.

A bind mount may show them under another path. Only the file system knows that both are the same, so this
compares device and inode numbers. It is needed only for folders that contain mount points.
"""

from __future__ import annotations

import os
import re
import stat
import time
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from pathlib import Path

_MOUNTS = Path("/proc/self/mountinfo")
_MOUNT_POINT = 4
_ESCAPED = re.compile(r"\\([0-7]{3})")

HOME_VARIABLE = "TOOLCRIB_HOME"
PLACES_VARIABLE = "TOOLCRIB_PROTECT"
"""Set by a host for the bundled servers that it runs as processes: paths, separated as in `PATH`."""
FOLDERS = ("cache", "data", "logs", "run", "state")
"""Directly in a home folder, beside the config and secrets files."""
FILES = ("mcp.json", "secrets.json", "accounts.json")
"""Their backups, locks and temporary files begin with the same names."""
KEPT = (*FOLDERS, "backups", "runs", "workflows", "data/backups", "data/runs")
"""Folders in our places whose files are recognised under other names too."""
LENT = "files"
"""The folder in a home that its filesystem server may use."""
DATABASE = "toolcrib.db"

_claimed: Counter[Path] = Counter()


def contains_mounts(folder: Path) -> bool:
    """Whether something is mounted below this folder, looked up once a second; a model cannot change that."""
    return _contains_mounts(folder, int(time.monotonic()))


@lru_cache(maxsize=64)
def _contains_mounts(folder: Path, _second: int) -> bool:
    try:
        lines = _MOUNTS.read_text(errors="surrogateescape").splitlines()
    except OSError:
        return False
    points = (_plain(line.split(" ")[_MOUNT_POINT]) for line in lines)
    return any(folder in Path(point).parents for point in points)


def shows_own(root: Path, names: Sequence[str]) -> bool:
    """Whether the path, or a folder on its way below the root, is one of our own."""
    folders, files = set(_own_folders()), set(own_identities())
    path = root
    for name in names:
        path = path / name
        found = _identity(path)
        if found in folders or (found in files and not path.is_dir()):
            return True
    return False


def _own_folders() -> Iterator[tuple[int, int]]:
    for place in own_places():
        for folder in (place, *(place / name for name in FOLDERS)):
            found = _identity(folder)
            if found is not None:
                yield found


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _plain(point: str) -> str:
    """Mount points are written with `\\040` for a space."""
    return _ESCAPED.sub(lambda match: chr(int(match.group(1), 8)), point)


@contextmanager
def claimed(places: Iterable[Path]) -> Iterator[None]:
    """Protect these files and folders in this process while the block runs."""
    resolved = [place.resolve() for place in places]
    _claimed.update(resolved)
    try:
        yield
    finally:
        _claimed.subtract(resolved)


def own_places() -> tuple[Path, ...]:
    """Every known place of our own, whether or not it exists."""
    found = [place for place, count in _claimed.items() if count > 0]
    if home := os.environ.get(HOME_VARIABLE):
        found.append(Path(home).expanduser().resolve())
    named = os.environ.get(PLACES_VARIABLE, "").split(os.pathsep)
    found += [Path(place).resolve() for place in named if place]
    return tuple(dict.fromkeys([*found, *_default_places()]))


def own_holding(path: Path, root: Path) -> Path | None:
    """The known place of our own that `path` is or lies in; one that holds the whole root does not count."""
    for place in _places_below(root):
        if within(path, place) and not within(path, place / LENT):
            return place
    return None


def touched_place(path: Path, root: Path) -> Path | None:
    """The same, also when `path` contains the place: moving it would move ours."""
    inside = (place for place in _places_below(root) if within(place, path))
    return own_holding(path, root) or next(inside, None)


def _places_below(root: Path) -> Iterator[Path]:
    """Without those that hold the root: someone who named a folder in there may use it."""
    return (place for place in own_places() if not within(root, place))


def own_part(root: Path, names: Sequence[str]) -> Path | None:
    """The home, data or state folder of any Toolcrib that `names` lead into, seen from `root` downwards."""
    folder = root
    for name in names:
        if folded(name) != LENT and (is_home(folder) or is_store(folder)):
            return folder
        folder = folder / name
    return None


def is_home(folder: Path) -> bool:
    """Whether this folder holds a config file of ours and what belongs to it."""
    if not _exists(folder / FILES[0]):
        return False
    if _exists(folder / "data" / DATABASE) or _exists(folder / "run" / "host.lock"):
        return True
    return folded(folder.name) == "toolcrib" and _exists(folder / FILES[1])


def is_store(folder: Path) -> bool:
    """Whether this is the data or state folder of a Toolcrib whose config file lies elsewhere."""
    return _exists(folder / DATABASE) or _exists(folder / "run" / "host.lock")


def is_own_name(name: str) -> bool:
    """Whether an entry of a home folder is ours: not the lent folder, nor something that a user put there."""
    plain = folded(name)
    return plain in FOLDERS or plain.lstrip(".").startswith(FILES)


def folded(name: str) -> str:
    """A name as file systems compare it that ignore case and ways to compose a character."""
    return unicodedata.normalize("NFC", name).casefold()


def within(path: Path, folder: Path) -> bool:
    """Whether `path` is `folder` or lies in it, also on file systems that ignore case."""
    below, above = path.parts, folder.parts
    if len(below) < len(above):
        return False
    return all(map(_same_name, below, above))


def is_own_file(status: os.stat_result) -> bool:
    """Whether an open file is one of ours under another name: a hard link."""
    return is_linked(status) and (status.st_dev, status.st_ino) in set(own_identities())


def is_linked(status: os.stat_result) -> bool:
    """Whether a file has further names."""
    return status.st_nlink > 1 and stat.S_ISREG(status.st_mode)


def _same_name(one: str, other: str) -> bool:
    return one == other or folded(one) == folded(other)


def own_identities(places: Iterable[Path] | None = None) -> Iterator[tuple[int, int]]:
    """Of the files in these places, by default ours, and in the folders there.

    Deeper lie only installed servers.
    """
    known = own_places() if places is None else places
    for folder in (folder for place in known for folder in (place, *(place / name for name in KEPT))):
        try:
            entries = list(os.scandir(folder))
        except OSError:
            continue
        yield from ((status.st_dev, status.st_ino) for status in map(_status, entries) if status)


def _status(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except OSError:
        return None


def _exists(path: Path) -> bool:
    return os.path.lexists(path)


def _default_places() -> tuple[Path, ...]:
    environ = (os.environ.get(name, "") for name in ("HOME", *_XDG))
    return _platform_places(tuple(environ))


_XDG = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")


@cache
def _platform_places(_environ: tuple[str, ...]) -> tuple[Path, ...]:
    from platformdirs import PlatformDirs

    dirs = PlatformDirs("toolcrib", appauthor=False)
    found = (
        *(dirs.user_config_path, dirs.user_data_path, dirs.user_state_path),
        *(dirs.user_cache_path, dirs.user_log_path),
    )
    return tuple(dict.fromkeys(path.resolve() for path in found))
