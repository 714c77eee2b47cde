"""Finds the secret parts of an address: a password, a key in the query or fragment, a token in the path.

Works on the text of the address, not on its decoded parts, so that what is replaced can be put back exactly.
References such as `${secret:NAME}` are not secrets, nor is what was masked before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from toolcrib.config.secret_marks import looks_secret

MASK = "***"
_PARTS = (
    r"(?is)[a-z][a-z0-9+.-]*://(?:(?P<userinfo>[^/?#]*)@)?[^/?#@]*(?P<path>[^?#]*)"
    r"(?:\?(?P<query>[^#]*))?(?:#(?P<fragment>.*))?"
)
"""Patterns are compiled on first use: most homes have no server with an address."""
_PAIR = r"(?P<key>[^=&;]*)=(?P<value>[^&;]*)"
_SEGMENT = r"[^/]+"
_SHORT_KEYS = frozenset({"auth", "code", "k", "key", "pat", "sig"})
"""Names that hold a secret in an address, and are too common to say so elsewhere."""
_RUN = r"[A-Za-z0-9]{16,}"
_UUID = r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


@dataclass(frozen=True, slots=True)
class AddressSecret:
    """One secret part: what it is called, how it is written, and its position in the address."""

    key: str
    value: str
    start: int


def secrets_in(address: str) -> list[AddressSecret]:
    """The secret parts of an address, from left to right."""
    parts = re.match(_PARTS, address)
    if parts is None:
        return []
    found = [
        *_in_userinfo(parts),
        *_in_path(parts),
        *_in_pairs(parts, "query"),
        *_in_pairs(parts, "fragment"),
    ]
    return [part for part in found if part.value and "${" not in part.value and MASK not in part.value]


def replace_secrets(address: str, replacement: Callable[[AddressSecret], str]) -> str:
    """The address with each secret part replaced."""
    for part in reversed(secrets_in(address)):
        end = part.start + len(part.value)
        address = f"{address[: part.start]}{replacement(part)}{address[end:]}"
    return address


def without_secrets(address: str) -> str:
    """The address as it may be shown and logged."""
    return replace_secrets(address, lambda part: MASK)


def _in_userinfo(parts: re.Match[str]) -> Iterator[AddressSecret]:
    """The password; the user name too where no password follows, because it is then a token."""
    userinfo = parts["userinfo"]
    if not userinfo:
        return
    user, _, password = userinfo.partition(":")
    if not password or looks_secret("", unquote(user)):
        yield AddressSecret("user", user, parts.start("userinfo"))
    yield AddressSecret("password", password, parts.end("userinfo") - len(password))


def _in_path(parts: re.Match[str]) -> Iterator[AddressSecret]:
    for segment in re.finditer(_SEGMENT, parts["path"]):
        text = unquote(segment.group())
        if looks_secret("", text) or _is_random(text):
            yield AddressSecret("path", segment.group(), parts.start("path") + segment.start())


def _in_pairs(parts: re.Match[str], section: str) -> Iterator[AddressSecret]:
    for pair in re.finditer(_PAIR, parts[section] or ""):
        key, value = unquote(pair["key"]), unquote(pair["value"])
        if key.lower() in _SHORT_KEYS or looks_secret(key, value) or _is_random(value):
            yield AddressSecret(key, pair["value"], parts.start(section) + pair.start("value"))


def _is_random(text: str) -> bool:
    """True for a UUID, and for a long run of letters and digits mixed, as generated keys are."""
    if re.search(_UUID, text):
        return True
    return any(_is_mixed(run.group()) for run in re.finditer(_RUN, text))


def _is_mixed(run: str) -> bool:
    digits = sum(character.isdigit() for character in run)
    return 2 <= digits <= len(run) - 2
