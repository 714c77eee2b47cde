"""Whether a backup was made by this home and not changed since: a keyed hash of its list of contents.

Only such a backup is restored with its approvals. The key never leaves the home and is in no backup.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from pathlib import Path

from toolcrib.config.paths import Paths
from toolcrib.config.safe_files import exclusive, write_atomic
from toolcrib.errors import ConfigError

KEY_BYTES = 32


def sign(paths: Paths, manifest: bytes) -> bytes:
    """The hash, in hexadecimal; the key is made when it is first needed.

    Where it cannot be stored, as on a full or read-only disk, the backup counts as that of another home.
    """
    file = paths.state / "backup-key"
    key = _key(paths)
    if key is None:
        try:
            key = _made(paths, file)
        except (OSError, ConfigError):
            key = secrets.token_bytes(KEY_BYTES)
    return _digest(key, manifest)


def _made(paths: Paths, file: Path) -> bytes:
    with exclusive(file):
        key = _key(paths) or secrets.token_bytes(KEY_BYTES)
        write_atomic(file, key)
    return key


def is_own(paths: Paths, manifest: bytes, signature: bytes) -> bool:
    key = _key(paths)
    return key is not None and hmac.compare_digest(_digest(key, manifest), signature)


def _key(paths: Paths) -> bytes | None:
    try:
        key = (paths.state / "backup-key").read_bytes()
    except FileNotFoundError:
        return None
    return key if len(key) == KEY_BYTES else None


def _digest(key: bytes, manifest: bytes) -> bytes:
    return hmac.digest(key, manifest, hashlib.sha256).hex().encode()
