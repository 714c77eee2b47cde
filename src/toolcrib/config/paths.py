"""Where Toolcrib keeps its files (config, database, logs, socket, backups): the platform's own folders, or
one folder named by `TOOLCRIB_HOME`. Checks and repairs their permissions.

The lock and the socket never depend on the session (`XDG_RUNTIME_DIR`, `TMPDIR`): a command run from cron and
a host started on the desktop must meet.

Keeps other users away from Toolcrib's files: permissions are repaired, or the place is refused. A user who
can change the config file, or replace a folder above it, can run commands as its owner.
"""

from __future__ import annotations

import logging
import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from toolcrib.errors import ConfigError

HOME_VARIABLE = "TOOLCRIB_HOME"
_ROOT = 0
_UNMAPPED = 65534
"""Owner of the outer folders in a container that knows only some users."""


__all__ = [
    "CONFIG_NAME",
    "HOME_VARIABLE",
    "MAX_SOCKET_BYTES",
    "Paths",
    "close_to_others",
    "find_paths",
    "make_private",
    "server_folder",
]

logger = logging.getLogger(__name__)

MAX_SOCKET_BYTES = 100
"""A Unix socket's address holds 104 bytes on macOS and 108 on Linux, its closing zero included."""
CONFIG_NAME = "mcp.json"


def make_private(folder: Path) -> None:
    """Make a folder and its missing parents with mode 0700; one that is there already is left as it is."""
    missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    try:
        for parent in reversed(missing):
            parent.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"The folder {folder} cannot be created: {error.strerror}.",
            hint=f"Set {HOME_VARIABLE} to a folder that you may write to.",
        ) from error
    if not folder.is_dir():
        raise ConfigError(
            f"{folder} is not a folder, but a folder is needed there.", hint="Move it elsewhere."
        )


def close_to_others(path: Path, *, closed: bool = False) -> None:
    """Take all permissions from other users: of a file that they can read, of a folder that they can change.

    A `closed` folder is also closed to readers. Raises `ConfigError` if others can still change it. A file
    of the system, such as a config file that it manages, may be readable.
    """
    try:
        found = path.stat()
    except OSError:
        return
    if path.is_symlink():
        check_above(path)
    mode = stat.S_IMODE(found.st_mode)
    wide = 0o022 if stat.S_ISDIR(found.st_mode) and not closed else 0o077
    mine = found.st_uid == os.getuid()
    if mine and mode & wide and not mode & stat.S_ISVTX:
        with suppress(OSError):
            path.chmod(mode & 0o700)
            logger.warning("other users had access; permissions repaired", extra=_noted(path, mode))
            return
    if mode & 0o022 or (not mine and found.st_uid != _ROOT):
        raise ConfigError(
            f"Other users can change {path}, and so run commands as you.",
            hint=f"Make it yours and private: chown $USER {path} && chmod go= {path}",
        )


def check_above(path: Path) -> None:
    """Refuse a place that another user could replace, because a folder above it is theirs or open to all."""
    for folder in path.resolve().parents:
        try:
            found = folder.stat()
        except OSError:
            continue
        mode = stat.S_IMODE(found.st_mode)
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            raise _replaceable(path, f"Everyone can change the folder {folder}", f"chmod o-w {folder}")
        if found.st_uid not in (os.getuid(), _ROOT, _UNMAPPED):
            raise _replaceable(path, f"The folder {folder} belongs to another user", "")


def _replaceable(path: Path, reason: str, remedy: str) -> ConfigError:
    return ConfigError(
        f"{reason}, who could replace {path} and so run commands as you.",
        hint=remedy or f"Set {HOME_VARIABLE} to a folder below one of your own.",
    )


def _noted(path: Path, mode: int) -> dict[str, str]:
    return {"path": str(path), "mode": f"{mode:o}"}


def check_private(folder: Path) -> None:
    """Refuse a folder in which another user could put or read a socket."""
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise ConfigError(
            f"{folder} belongs to another user.", hint=f"Set {HOME_VARIABLE} to another folder."
        )
    if not found.st_mode & 0o077:
        return
    folder.chmod(0o700)
    if folder.lstat().st_mode & 0o077:
        raise ConfigError(
            f"Other users can enter {folder}, and its permissions cannot be changed.",
            hint=f"Set {HOME_VARIABLE} to a folder on a file system that keeps permissions.",
        )


@dataclass(frozen=True, kw_only=True)
class Paths:
    """Every place that Toolcrib reads or writes; nothing is made before `ensure()`."""

    home: Path | None
    """The one folder for everything, if the user chose one."""
    config_file: Path
    data: Path
    state: Path
    cache: Path
    logs: Path
    runtime: Path
    database: Path
    secrets_file: Path
    files: Path
    """The folder of the bundled filesystem server in a new home."""
    lock_file: Path
    """Held by the one host that runs on this home."""
    socket: Path

    @property
    def accounts_file(self) -> Path:
        """The accounts with other services, without their secrets."""
        return self.secrets_file.with_name("accounts.json")

    @property
    def workflows(self) -> Path:
        """The files of the workflows, one each."""
        return (self.home or self.data) / "workflows"

    @property
    def runs(self) -> Path:
        """The runs of workflows: their database, unless the settings name another, and their files."""
        return self.data / "runs"

    @property
    def desktop(self) -> Path:
        """What the desktop server keeps: macros, and the home of the programs on its own display."""
        return self.data / "desktop"

    @property
    def token_file(self) -> Path:
        """Holds what a client of the socket has to know."""
        return self.runtime / "host.token"

    @property
    def backups(self) -> Path:
        """Backups that are made automatically: before a restore, and before the database is migrated."""
        return self.database.parent / "backups"

    @property
    def restore_journal(self) -> Path:
        """Exists while a restore replaces files, and after one was interrupted."""
        return self.state / "restore.json"

    def ensure(self) -> Paths:
        """Make the folders, for this user alone, and take from others what they could do with older ones.

        A folder or file that others could change or replace, and whose permissions cannot be repaired, is
        refused.
        """
        shown = dict.fromkeys([self.config_file.parent, self.secrets_file.parent])
        closed = dict.fromkeys([self.data, self.state, self.cache, self.logs])
        for folder in (*shown, *(folder for folder in closed if folder not in shown)):
            check_above(folder)
            make_private(folder)
            close_to_others(folder, closed=folder in closed)
        for folder in {self.runtime, self.lock_file.parent, self.socket.parent}:
            make_private(folder)
            check_private(folder)
        for place in (*self._private_files(), self.workflows):
            close_to_others(place, closed=True)
        if self.restore_journal.exists():
            self._undo_restore()
        return self

    def _undo_restore(self) -> None:
        """Put the old files back if a restore was interrupted; wait for one that is just running."""
        from toolcrib.config.file_swap import recovered
        from toolcrib.config.safe_files import PATIENCE

        with recovered(self.restore_journal, PATIENCE):
            logger.info("checked for an interrupted restore")

    def _private_files(self) -> Iterator[Path]:
        for file in (self.config_file, self.secrets_file, self.accounts_file):
            yield file
            yield from file.parent.glob(f"{file.name}.*")
        yield from (self.database, self.state / "host.log", *self.logs.glob("*.log*"))

    @property
    def own(self) -> tuple[Path, ...]:
        """The folders that are for Toolcrib alone, save for `files` in one of them."""
        if self.home is not None:
            return tuple(dict.fromkeys([self.home, self.socket.parent]))
        folders = (self.config_file.parent, self.data, self.state, self.cache, self.logs, self.runtime)
        return tuple(dict.fromkeys([*folders, self.socket.parent]))

    def server_log(self, name: str) -> Path:
        """The log file of a server; any name gives one plain file of its own."""
        plain = re.sub(r"[^A-Za-z0-9_-]", "_", name)[:60]
        if plain != name:
            plain = f"{plain}-{_digest(name)[:8]}"
        return self.logs / f"{plain}.log"


def find_paths(home: Path | None = None, environ: Mapping[str, str] = os.environ) -> Paths:
    """The places of `home`, else of `TOOLCRIB_HOME`, else the platform's (XDG on Linux)."""
    named = home or environ.get(HOME_VARIABLE)
    if named:
        return _below(Path(named).expanduser().resolve())
    return _of_platform()


def _below(home: Path) -> Paths:
    run = home / "run"
    return Paths(
        home=home,
        config_file=home / CONFIG_NAME,
        data=home / "data",
        state=home / "state",
        cache=home / "cache",
        logs=home / "logs",
        runtime=run,
        database=home / "data" / "toolcrib.db",
        secrets_file=home / "secrets.json",
        files=home / "files",
        lock_file=run / "host.lock",
        socket=_socket(run),
    )


def _of_platform() -> Paths:
    from platformdirs import PlatformDirs

    places = PlatformDirs("toolcrib", appauthor=False)
    config, data, state = places.user_config_path, places.user_data_path, places.user_state_path
    run = state / "run"
    return Paths(
        home=None,
        config_file=config / CONFIG_NAME,
        data=data,
        state=state,
        cache=places.user_cache_path,
        logs=places.user_log_path,
        runtime=run,
        database=data / "toolcrib.db",
        secrets_file=config / "secrets.json",
        files=data / "files",
        lock_file=run / "host.lock",
        socket=_socket(run),
    )


def _socket(runtime: Path) -> Path:
    """In the runtime folder; where its address would be too long and has no short form, in one of `/tmp`."""
    usual = runtime / "host.sock"
    if len(os.fsencode(usual)) <= MAX_SOCKET_BYTES or Path("/proc/self/fd").is_dir():
        return usual
    # Not `tempfile.gettempdir()`: TMPDIR differs between sessions and may itself be too long.
    return Path("/tmp") / f"toolcrib-{os.getuid()}-{_digest(str(runtime))[:16]}" / "host.sock"  # noqa: S108


def _digest(text: str) -> str:
    import hashlib  # only a long path needs it, not every command

    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def server_folder(installs: Path, name: str) -> Path:
    """The folder of a server below those of all servers; unique for any name."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", name)[:60]
    if plain != name:
        import hashlib  # few names need it, and every command loads this module

        plain = f"{plain}-{hashlib.sha256(name.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"
    return installs / plain
