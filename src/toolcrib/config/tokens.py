"""Bearer tokens of the gateway: made at random, shown once, kept as a salted hash and a few last characters.

A token has 256 bits of chance, so a fast hash is enough: there is nothing to guess. What cannot be read as a
hash of ours fits no token.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets

MARK = "tcrib_"
"""So that those who look for leaked secrets recognise one."""
TAIL = 4
_SCHEME = "sha256"


def new_token() -> str:
    """A new random token."""
    return MARK + secrets.token_urlsafe(32)


def tail_of(token: str) -> str:
    """The last characters of a token, by which the user recognises it."""
    return token[-TAIL:]


def hash_token(token: str) -> str:
    """The salted hash that is stored."""
    salt = secrets.token_hex(16)
    return f"{_SCHEME}:{salt}:{_digest(salt, token)}"


def fits(token: str, hashed: str) -> bool:
    """True when the hash is that of the token; takes as long for every wrong one."""
    scheme, _, rest = hashed.partition(":")
    salt, _, digest = rest.partition(":")
    same = hmac.compare_digest(_digest(salt, token).encode(), digest.encode())
    return same and scheme == _SCHEME


def _digest(salt: str, token: str) -> str:
    return hashlib.sha256(f"{salt}:{token}".encode("utf-8", "surrogateescape")).hexdigest()
