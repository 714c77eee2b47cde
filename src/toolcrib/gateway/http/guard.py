"""Who may knock: the Host and Origin headers keep web pages out; the views themselves ask for tokens.

A page in a browser can send requests to loopback; it cannot forge `Host`, and cannot hide `Origin`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True, kw_only=True)
class Guard:
    """The rules of one address. `hosts` are further names under which we may be called."""

    hosts: frozenset[str] = frozenset()

    def refusal(self, headers: Mapping[str, str], reached: str | None = None) -> tuple[int, str] | None:
        """Why a request is turned away, as status and sentence; None when it may come in.

        `reached` is our own address that the connection came to: calling us by it is no trick of a name.
        """
        host, origin = headers.get("host", ""), headers.get("origin")
        if origin is None and host.partition(":")[0] in LOOPBACK:
            return None  # nearly all of them
        if not self._is_ours(_hostname(host), reached):
            return 421, "This address is not served under that name. It may be allowed with --allowed-host."
        if origin is not None and not self._is_ours(_origin(origin), reached):
            return 403, "Requests of this web page are not answered."
        return None

    def _is_ours(self, host: str, reached: str | None) -> bool:
        return host in LOOPBACK or (host != "" and (host == reached or host in self.hosts))


def _hostname(host: str) -> str:
    """The name in a Host header, without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()


def _origin(origin: str) -> str:
    try:
        return urlsplit(origin).hostname or ""
    except ValueError:
        return ""
