"""Whether a value looks like a secret: by the key it belongs to (password, token, cookie), by its own form
(API keys, bearer tokens), or by its part of an address.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import unquote

LONGEST_KEY = 500
_KEYS_OF_SECRETS = (
    r"pass(?:word|wd|phrase|code)?$|^pwd$|secret|token(?!s)|api[-_]?key|access[-_]?key|private[-_]?key|"
    r"signing[-_]?key|encryption[-_]?key|auth(?:orization|entication)?$|credential|cookie|^jwt$|bearer|"
    r"session[-_]?(?:id|key)$|^otp$|^pin$|^cvv$|signature$"
)
"""In any case. Compiled on first use, which in most hosts never happens."""
FORMS_OF_SECRETS = (
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|\b(?:Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}"
    r"|\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}"
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_-]{16,}"
    r"|\bxox[a-z]-[A-Za-z0-9-]{10,}|\bnpm_[A-Za-z0-9]{20,}|\bpypi-[A-Za-z0-9_-]{20,}|\bhf_[A-Za-z0-9]{20,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{30,}|\bya29\.[A-Za-z0-9_-]{20,}"
    r"|\beyJ[A-Za-z0-9_-]{16,}(?:\.[A-Za-z0-9_-]+)*"
    r"|(?<=://)[^/\s:@]*:[^/\s@]+(?=@)"
    r"|(?i:[?&#;][\w.-]*(?:key|token|secret|passwd|password|auth|sig|signature|credential)=[^&;\s\"'<>#]+)"
)
"""To be used with `re.DOTALL`."""
_WORD_BORDER = r"(?<=[a-z0-9])(?=[A-Z])"


def is_secret_key(name: str) -> bool:
    """True when a key of this name usually holds a secret."""
    spaced = re.sub(_WORD_BORDER, "_", name[:LONGEST_KEY])
    return re.search(_KEYS_OF_SECRETS, spaced, re.IGNORECASE) is not None


def looks_secret(key: str, value: str) -> bool:
    """True for a value that belongs in the secret store rather than in a file."""
    return is_secret_key(key) or re.search(FORMS_OF_SECRETS, value, re.DOTALL) is not None


MASK = "***"
_PARTS = (
    r"(?is)[a-z][a-z0-9+.-]*://(?:(?P<userinfo>[^/?#]*)@)?[^/?#@]*(?P<path>[^?#]*)"
    r"(?:\?(?P<query>[^#]*))?(?:#(?P<fragment>.*))?"
)
"""Patterns are compiled on first use: most homes have no server with an address."""
_PAIR = r"(?:(?P<key>[^=&;]*)=)?(?P<value>[^&;]+)"
"""A value may stand alone: `?KEY`."""
_SEGMENT = r"[^/]+"
_SHORT_KEYS = frozenset({"auth", "code", "hmac", "k", "key", "pat", "session", "sid", "sig", "ticket"})
"""Names that hold a secret in an address, and are too common to say so elsewhere."""
_BEFORE_SECRETS = frozenset({"apikey", "api-key", "api_key", "key", "secret", "token"})
"""Parts of a path that name the next one."""
_SHORTEST_NAMED = 8
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
    before = ""
    for segment in re.finditer(_SEGMENT, parts["path"]):
        text = unquote(segment.group())
        named = before.lower() in _BEFORE_SECRETS and len(text) >= _SHORTEST_NAMED
        before = text
        if named or looks_secret("", text) or _is_random(text):
            yield AddressSecret("path", segment.group(), parts.start("path") + segment.start())


def _in_pairs(parts: re.Match[str], section: str) -> Iterator[AddressSecret]:
    for pair in re.finditer(_PAIR, parts[section] or ""):
        key, value = unquote(pair["key"] or ""), unquote(pair["value"])
        if key.lower() in _SHORT_KEYS or looks_secret(key, value) or _is_random(value):
            yield AddressSecret(key or section, pair["value"], parts.start(section) + pair.start("value"))


def _is_random(text: str) -> bool:
    """True for a UUID, and for a long run of letters and digits mixed, as generated keys are."""
    if re.search(_UUID, text):
        return True
    return any(_is_mixed(run.group()) for run in re.finditer(_RUN, text))


def _is_mixed(run: str) -> bool:
    digits = sum(character.isdigit() for character in run)
    return 2 <= digits <= len(run) - 2
