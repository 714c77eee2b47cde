"""What a backup contains: its parts (which files are saved and put back, with their largest size), and the
list of its files, which is written last and checked first.

A name that fits no part is refused, so a path in an archive never decides where something is written. A keyed
hash of the list shows whether a backup was made by this home and not changed since: only such a backup is
restored with its approvals. The key never leaves the home and is in no backup.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from toolcrib.config.backup_parts import GIB, MIB, WORD, BackupPart, many_files, one_file
from toolcrib.config.paths import Paths
from toolcrib.config.safe_files import exclusive, write_atomic
from toolcrib.errors import ConfigError
from toolcrib.feature import features
from toolcrib.servers.installers.engine.plan import Options

DATABASE = one_file("toolcrib.db", "database", lambda paths: paths.database, 1024 * GIB, database=True)
CONFIG = one_file("mcp.json", "config file", lambda paths: paths.config_file.resolve(), 8 * MIB)
_OWN_PARTS = (
    DATABASE,
    CONFIG,
    one_file("accounts.json", "accounts", lambda paths: paths.accounts_file, 8 * MIB),
    one_file(
        "server-notes.json", "notes on servers", lambda paths: paths.state / "server-notes.json", 8 * MIB
    ),
    many_files("macros", "desktop macros", rf"{WORD}\.json", lambda paths: paths.desktop / "macros", MIB),
)

KEY_BYTES = 32

PRODUCT = "toolcrib backup"
FORMAT = 1
MAX_FILES = 200_000


@cache
def feature_backups() -> tuple[Any, ...]:
    """The modules of installed features that say what is saved of them."""
    return tuple(feature.module(feature.backup) for feature in features() if feature.backup)


@cache
def parts() -> tuple[BackupPart, ...]:
    return (*_OWN_PARTS, *(part for saved in feature_backups() for part in saved.PARTS))


def part_of(name: str) -> BackupPart | None:
    """The part that a file of an archive belongs to."""
    return next((part for part in parts() if part.names.fullmatch(name)), None)


def sign(paths: Paths, manifest: bytes) -> bytes:
    """The hash, in hexadecimal; the key is made when it is first needed.

    Where it cannot be stored, as on a full or read-only disk, the backup counts as that of another home.
    """
    file = paths.state / "backup-key"
    key = _read_key(paths)
    if key is None:
        try:
            key = _make_key(paths, file)
        except (OSError, ConfigError):
            key = secrets.token_bytes(KEY_BYTES)
    return _signature(key, manifest)


def _make_key(paths: Paths, file: Path) -> bytes:
    with exclusive(file):
        key = _read_key(paths) or secrets.token_bytes(KEY_BYTES)
        write_atomic(file, key)
    return key


def is_own(paths: Paths, manifest: bytes, signature: bytes) -> bool:
    key = _read_key(paths)
    return key is not None and hmac.compare_digest(_signature(key, manifest), signature)


def _read_key(paths: Paths) -> bytes | None:
    try:
        key = (paths.state / "backup-key").read_bytes()
    except FileNotFoundError:
        return None
    return key if len(key) == KEY_BYTES else None


def _signature(key: bytes, manifest: bytes) -> bytes:
    return hmac.digest(key, manifest, hashlib.sha256).hex().encode()


class BackupRefused(ConfigError):
    """The file is not a backup that can be restored."""

    kind = "backup_refused"


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class BackupFile(_Frozen):
    name: str = Field(max_length=300)
    size: int = Field(ge=0, le=1 << 50)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class InstallToRepeat(_Frozen):
    """An installed server; its files are installed again instead of copied."""

    name: str
    installer: str
    reference: str
    package: str
    version: str
    integrity: str
    """A hash of its lock, or of the file or folder that it was installed from."""
    source: str = ""
    """The local file or folder that it was installed from."""
    options: Options = Options()


class Manifest(_Frozen):
    product: str
    format: int
    version: str
    """Of the program that made it."""
    created: str
    machine: str
    home: str
    files_folder: str
    """The folder of the bundled filesystem server in that home."""
    database_url: str = ""
    """The shared database that the data was copied from, without its password."""
    database_schema: int = 0
    rows: dict[str, int] = {}
    parts: list[str]
    """A part that is listed and has no files was empty."""
    files: list[BackupFile] = Field(max_length=MAX_FILES)
    installs: list[InstallToRepeat] = []
    secrets: int = 0
    """How many secrets are in it, encrypted."""
    left_out: list[str] = []

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


def read_manifest(content: bytes) -> Manifest:
    """Raises `BackupRefused`."""
    try:
        data: Any = json.loads(content)
    except (ValueError, RecursionError):
        raise BackupRefused("The list of contents of the backup is damaged.", hint=_OTHER) from None
    if not isinstance(data, dict) or data.get("product") != PRODUCT:
        raise BackupRefused("The file is not a backup of Toolcrib.", hint=_OTHER)
    if isinstance(data.get("format"), int) and data["format"] > FORMAT:
        raise BackupRefused(
            f"The backup was made by a newer Toolcrib ({str(data.get('version'))[:40]}).",
            hint="Update Toolcrib on this machine, then restore it.",
        )
    try:
        return Manifest.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise BackupRefused(
            f"The list of contents of the backup is invalid: {where[:80]}.", hint=_OTHER
        ) from None


_OTHER = "Use another copy of the backup."
