"""The config keys of a remote server (`url`, `headers`, `verify`, `allowHttp`) and the errors for invalid
ones, such as credentials sent unencrypted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from toolcrib.config.sections import InvalidValue, Section, flag, flag_or_text, named_texts, text

_CREDENTIAL = re.compile("auth|cookie|key|secret|token", re.IGNORECASE)
_HEADER_VALUE = re.compile(r"(?![ \t])[^\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]*(?<![ \t])")
"""What HTTP can send: else the error of the HTTP client would show the value."""
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")


@dataclass(frozen=True, kw_only=True)
class RemoteSpec(Section):
    url: str = text()
    headers: dict[str, str] = named_texts()
    verify: bool | str = flag_or_text(True)
    """Whether to check the server's certificate, or the file of a certificate authority."""
    allow_http: bool = flag(False)
    """Whether credentials may be sent unencrypted to another machine."""

    def __post_init__(self) -> None:
        _check_address(self.url)
        for name, value in self.headers.items():
            if not _TOKEN.fullmatch(name):
                raise InvalidValue(("headers",), f"contains the invalid header name {name!r}")
            if not _HEADER_VALUE.fullmatch(value):
                raise InvalidValue(("headers", name), "must be one line, without spaces at its ends")
            if _CREDENTIAL.search(name) and not self.allow_http and is_unencrypted(self.url):
                raise InvalidValue(
                    ("headers", name), "would be sent unencrypted: use https, or set `allowHttp` to true"
                )


def is_unencrypted(address: str) -> bool:
    """Whether others in the network could read what is sent there."""
    import httpx2

    from toolcrib.serverkit.network.urls import is_local

    url = httpx2.URL(address)
    return url.scheme == "http" and not is_local(url.host)


def _check_address(address: str) -> None:
    # Imported here so that a transport's traits need no HTTP client.
    import httpx2

    try:
        url = httpx2.URL(address)
    except httpx2.InvalidURL as error:
        raise InvalidValue(("url",), f"is not a valid URL: {error}") from None
    if url.scheme not in ("http", "https") or not url.host:
        raise InvalidValue(("url",), "must start with http:// or https:// and include a host")
