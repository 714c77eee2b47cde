"""Who may knock: the Host and Origin headers keep web pages out, a token keeps everybody else out.

A page in a browser can send requests to loopback; it cannot forge `Host`, and cannot hide `Origin`.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]", "::1"})


@dataclass(frozen=True, kw_only=True)
class Guard:
    """The rules of one address. `hosts` are further names under which we may be called."""

    hosts: frozenset[str] = frozenset()
    token: str | None = None

    def refusal(self, headers: Mapping[str, str]) -> tuple[int, str] | None:
        """Why a request is turned away, as status and sentence; None when it may come in."""
        if not self._is_ours(_hostname(headers.get("host", ""))):
            return 421, "This address is not served under that name."
        origin = headers.get("origin")
        if origin is not None and not self._is_ours(urlsplit(origin).hostname or ""):
            return 403, "Requests of this web page are not answered."
        if self.token is not None and not self._has_token(headers.get("authorization", "")):
            return 401, "A bearer token is needed."
        return None

    def _is_ours(self, host: str) -> bool:
        return host in LOOPBACK or host in self.hosts

    def _has_token(self, authorization: str) -> bool:
        scheme, _, token = authorization.partition(" ")
        given = token.strip().encode("utf-8", "replace")
        return scheme.lower() == "bearer" and hmac.compare_digest(given, (self.token or "").encode())


def _hostname(host: str) -> str:
    """The name in a Host header, without its port."""
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0]
