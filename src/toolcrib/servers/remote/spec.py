"""The config keys of a remote server."""

from __future__ import annotations

import re
from dataclasses import dataclass

from toolcrib.config.sections import InvalidValue, Section, flag_or_text, named_texts, text

_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")


@dataclass(frozen=True, kw_only=True)
class RemoteSpec(Section):
    url: str = text()
    headers: dict[str, str] = named_texts()
    verify: bool | str = flag_or_text(True)
    """Whether to check the server's certificate, or the file of a certificate authority."""

    def __post_init__(self) -> None:
        _check_address(self.url)
        for name, value in self.headers.items():
            if not _TOKEN.fullmatch(name):
                raise InvalidValue(("headers",), f"contains the invalid header name {name!r}")
            if any(character in value for character in "\r\n\0"):
                raise InvalidValue(("headers", name), "must be a single line")


def _check_address(address: str) -> None:
    # Imported here so that a transport's traits need no HTTP client.
    import httpx2

    try:
        url = httpx2.URL(address)
    except httpx2.InvalidURL as error:
        raise InvalidValue(("url",), f"is not a valid URL: {error}") from None
    if url.scheme not in ("http", "https") or not url.host:
        raise InvalidValue(("url",), "must start with http:// or https:// and include a host")
