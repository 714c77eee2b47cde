"""The proxy that the user set up for a URL in the environment (HTTPS_PROXY, NO_PROXY) or in the system."""

from __future__ import annotations

import ipaddress
from urllib.request import getproxies, proxy_bypass

import httpx2


def environment_proxy(url: httpx2.URL) -> str | None:
    """The proxy for this URL; None for a direct connection, as always on this machine."""
    if is_local(url.host):
        return None
    proxies = getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(url.host):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def is_local(host: str) -> bool:
    """Whether a host is this machine by its spelling; a name that DNS points here does not count."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
