"""Tokens of webhooks: a public part to find the trigger, and a secret part that is stored as a hash only."""

from __future__ import annotations

import re
import secrets

from toolcrib.config.tokens import fits, hash_token

HOOKS = "/hooks/"
"""The path, before the token, at which a running host receives requests."""
MARK = "tchook_"
"""Lets secret scanners recognise a token."""
_TOKEN = re.compile(rf"{MARK}(?P<hook>[0-9a-f]{{16}})_(?P<secret>[A-Za-z0-9_-]{{43}})")


def new_hook_token() -> tuple[str, str, str]:
    """The token, its public part and the hash of its secret part."""
    hook, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
    return f"{MARK}{hook}_{secret}", hook, hash_token(secret)


def hook_of(token: str) -> str | None:
    """The public part; None if this is not a token."""
    found = _TOKEN.fullmatch(token)
    return found["hook"] if found else None


def is_token(token: str, token_hash: str) -> bool:
    """Takes as long for every wrong token, also if there is no hash."""
    found = _TOKEN.fullmatch(token)
    return fits(found["secret"] if found else "", token_hash)
