"""The addresses that a session knows, from its user's messages and from what it has read: how they are found
in text and compared, and how many are kept and may be followed.

Reading a known address tells nobody anything new, except which of the known ones was chosen. Only digests are
kept. An address counts as known if it is written as it was seen, or in its shortest form: without scheme,
default port and the slash of an empty path, the host in lower case. Anything else, such as another host, path
or query, could carry data.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice

MOST_KEPT = 8_000
"""Digests of each kind; the oldest are forgotten."""
MOST_FOLLOWED = 10
"""Different addresses from results that may be read after private data: choosing among a thousand of them
tells ten bits each time."""
MOST_TEXT = 2_000_000
"""Characters of one message or result that are searched."""
MOST_IN_TEXT = 2_000
_LONGEST = 4096
_WEB = re.compile(r"https?://[^\s<>\"'`|\\^{}\x00-\x20\x7f]+", re.IGNORECASE)
_BARE = re.compile(r"(?:[\w\-]+\.)+[a-z][\w\-]+(?::\d+)?(?:[/?#][^\s<>\"'`|\\^{}]*)?", re.IGNORECASE)
_PARTS = re.compile(r"(?i:https?://)?(?P<user>[^/?#@]*@)?(?P<host>[^/?#@]*)(?P<rest>.*)", re.DOTALL)
_PORT = re.compile(r":(?:80|443)?\Z")
_AROUND = ".,;:!?*_~)]\"'"
_SCHEMES = ("https://", "http://")


@dataclass(eq=False)
class KnownAddresses:
    _given: dict[bytes, None] = field(default_factory=dict)
    _found: dict[bytes, None] = field(default_factory=dict)
    _followed: set[bytes] = field(default_factory=set)

    def give(self, text: str) -> None:
        """The user wrote this text."""
        for address in (*web_addresses(text), *_bare_addresses(text)):
            _keep(self._given, address)

    def find(self, texts: Iterable[str]) -> None:
        """A result has these texts, which others wrote."""
        for text in texts:
            for address in web_addresses(text):
                _keep(self._found, address)

    def send(self, addresses: Sequence[str], *, private: bool) -> None:
        """These addresses are read now, so that their hosts know them; `private` if private data was read."""
        if private:
            self._followed |= {
                _digest(_shortest(address)) for address in addresses if not self._is_given(address)
            }
        for address in addresses:
            if len(address) <= _LONGEST:
                _keep(self._found, address)

    def know(self, addresses: Sequence[str], *, private: bool) -> bool:
        """Whether all of these may be read without telling anybody anything new."""
        others = [address for address in addresses if not self._is_given(address)]
        if not all(_is_kept(self._found, address) for address in others):
            return False
        new = {_digest(_shortest(address)) for address in others} - self._followed
        return not private or not new or len(self._followed) + len(new) <= MOST_FOLLOWED

    def _is_given(self, address: str) -> bool:
        return _is_kept(self._given, address)


def values_in(value: object) -> Iterator[str]:
    """Every text in a JSON value, with the keys of objects."""
    left = [value]
    while left:
        value = left.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            left += [*value.keys(), *value.values()]
        elif isinstance(value, list | tuple):
            left += value


def is_web_address(text: str) -> bool:
    return _WEB.fullmatch(text) is not None


def host_of(address: str) -> str:
    """The host of an address, for a message; empty if it has none."""
    found = _PARTS.match(address.strip())
    return found["host"] if found is not None else ""


def web_addresses(text: str) -> Iterator[str]:
    """The addresses in a text."""
    for match in islice(_WEB.finditer(text[:MOST_TEXT]), MOST_IN_TEXT):
        yield from _readings(match.group())


def _bare_addresses(text: str) -> Iterator[str]:
    """Addresses that a user writes without `https://`."""
    for word in text[:MOST_TEXT].split():
        match = _BARE.match(word.lstrip("(<[\"'"))
        if match is not None:
            yield from _readings(match.group())


def _readings(written: str) -> Iterator[str]:
    """An address in running text, which may be followed by punctuation, or be in brackets."""
    if len(written) > _LONGEST:
        return
    yield from dict.fromkeys((written, written.rstrip(_AROUND), written.partition(")")[0].rstrip(_AROUND)))


def _keep(kept: dict[bytes, None], address: str) -> None:
    short = _shortest(address)
    for spelling in (address, short, _shortest(short.partition("#")[0])):
        key = _digest(spelling)
        kept.pop(key, None)
        kept[key] = None
    while len(kept) > MOST_KEPT:
        kept.pop(next(iter(kept)))


def _is_kept(kept: Mapping[bytes, None], address: str) -> bool:
    if not kept or len(address) > _LONGEST:
        return False
    bare = next((address[len(scheme) :] for scheme in _SCHEMES if address.startswith(scheme)), address)
    host, _, rest = bare.partition("/")
    return any(_digest(spelling) in kept for spelling in (address, bare, bare if rest else host))


def _shortest(address: str) -> str:
    found = _PARTS.match(address)
    assert found is not None  # every part of the pattern may be empty
    host = _PORT.sub("", found["host"].lower())
    rest = found["rest"]
    return f"{found['user'] or ''}{host}{'' if rest == '/' else rest}"


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
