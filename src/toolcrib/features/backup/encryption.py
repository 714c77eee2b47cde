"""Encrypts secrets with a passphrase: scrypt for the key, AES-256-GCM for the content; shortest and longest
passphrase, and the error for a wrong one.

The encrypted content is bound to the backup it is part of: with another list of contents it does not open.
The parameters are fixed for each version, so an archive cannot make us use weak or endless ones.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping

from toolcrib.errors import UsageError
from toolcrib.features.backup.manifest import BackupRefused

MAGIC = b"toolcrib-secrets-1\n"
SALT_BYTES = 16
NONCE_BYTES = 12
KEY_BYTES = 32
COST, BLOCK, PARALLEL = 1 << 17, 8, 1
"""128 MiB of memory and a fraction of a second for each guess, as OWASP recommends."""
SHORTEST = 8
LONGEST = 1024


def check_passphrase(passphrase: str) -> None:
    """Raises `UsageError` for one that protects nothing."""
    if not SHORTEST <= len(passphrase) <= LONGEST:
        raise UsageError(
            f"The passphrase must have {SHORTEST} to {LONGEST} characters.",
            hint="Four random words are easy to remember and hard to guess.",
        )


def seal(values: Mapping[str, str], passphrase: str, context: bytes) -> bytes:
    """The values encrypted; `context` must be the same to open them."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    check_passphrase(passphrase)
    salt, nonce = secrets.token_bytes(SALT_BYTES), secrets.token_bytes(NONCE_BYTES)
    content = json.dumps(dict(values), ensure_ascii=False).encode()
    sealed = AESGCM(_key(passphrase, salt)).encrypt(nonce, content, MAGIC + context)
    return MAGIC + salt + nonce + sealed


def unseal(data: bytes, passphrase: str, context: bytes) -> dict[str, str]:
    """The values; raises `BackupRefused` for a wrong passphrase or changed data."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    start = len(MAGIC) + SALT_BYTES
    if not data.startswith(MAGIC) or len(data) < start + NONCE_BYTES:
        raise BackupRefused("The encrypted secrets are damaged, or of a newer Toolcrib.", hint=_WITHOUT)
    salt, nonce = data[len(MAGIC) : start], data[start : start + NONCE_BYTES]
    try:
        key = _key(passphrase, salt)
        content = AESGCM(key).decrypt(nonce, data[start + NONCE_BYTES :], MAGIC + context)
    except InvalidTag:
        raise BackupRefused(
            "The secrets cannot be decrypted: the passphrase is wrong, or the backup was changed.",
            hint=_WITHOUT,
        ) from None
    return _texts(json.loads(content))


def _key(passphrase: str, salt: bytes) -> bytes:
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    return Scrypt(salt=salt, length=KEY_BYTES, n=COST, r=BLOCK, p=PARALLEL).derive(passphrase.encode())


def _texts(values: object) -> dict[str, str]:
    if not isinstance(values, dict):
        raise BackupRefused("The encrypted secrets are damaged.", hint=_WITHOUT)
    return {name: value for name, value in values.items() if isinstance(name, str) and isinstance(value, str)}


_WITHOUT = "Try again, or restore everything else with --without-secrets."
