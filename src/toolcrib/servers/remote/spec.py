"""The keys of an entry whose server is reached at an address."""

from __future__ import annotations

import re
from dataclasses import dataclass

from toolcrib.config.kinds import flag_or_text, named_texts, text
from toolcrib.config.reading import Section, Unfit

_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")


@dataclass(frozen=True, kw_only=True)
class RemoteSpec(Section):
    """How a remote server is reached."""

    url: str = text()
    headers: dict[str, str] = named_texts()
    verify: bool | str = flag_or_text(True)
    """Whether the server's certificate is checked, or the file of the authority that vouches for it."""

    def __post_init__(self) -> None:
        _check_address(self.url)
        for name, value in self.headers.items():
            if not _TOKEN.fullmatch(name):
                raise Unfit(("headers",), f"must have names of headers, and {name!r} is none")
            if any(character in value for character in "\r\n\0"):
                raise Unfit(("headers", name), "must stand on one line")


def _check_address(address: str) -> None:
    # Only when an entry is read: the traits of a remote transport are had without an HTTP client.
    import httpx2

    try:
        url = httpx2.URL(address)
    except httpx2.InvalidURL as error:
        raise Unfit(("url",), f"is no address: {error}") from None
    if url.scheme not in ("http", "https") or not url.host:
        raise Unfit(("url",), "must start with http:// or https:// and name a host")
