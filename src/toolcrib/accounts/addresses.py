"""Addresses of services that the user named: checked once, and then allowed for that account only. Requires
https, except on this machine and in private networks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolcrib.errors import NetworkRefused, UsageError

if TYPE_CHECKING:
    from toolcrib.serverkit.network import NetworkPolicy


def service_url(text: str, label: str) -> str:
    """The address of a service without a slash at the end; raises `UsageError`.

    Unencrypted addresses are only accepted on this machine and in private networks, by number.
    """
    import httpx2

    from toolcrib.serverkit.network.urls import parse_url

    text = text.strip().rstrip("/")
    if "://" not in text:
        text = f"https://{text}"
    try:
        url = parse_url(text, policy_for(text))
    except NetworkRefused as error:
        raise UsageError(f"{label}: {error.message}", hint=error.hint) from None
    if url.scheme != "https" and not _is_near(url.host):
        raise UsageError(f"{label}: the token would be sent unencrypted.", hint="Use an https address.")
    plain: httpx2.URL = url.copy_with(query=None, fragment=None)
    return str(plain).rstrip("/")


def policy_for(url: str) -> NetworkPolicy:
    """Public addresses, and the one that the user named even if it is private."""
    from toolcrib.serverkit.network import NetworkPolicy, endpoint_of

    return NetworkPolicy(allow_private=frozenset({endpoint_of(url)}))


def _is_near(host: str) -> bool:
    from toolcrib.serverkit.network.addresses import kind_of

    if host == "localhost":
        return True
    try:
        return kind_of(host) in ("loopback", "private")
    except ValueError:
        return False
