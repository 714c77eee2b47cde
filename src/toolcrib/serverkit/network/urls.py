"""Parses a URL that the user did not type, with the parser whose result is then connected to: longest URL,
and errors for other schemes, user names and passwords.

Also finds the proxy that the user set up for a URL, in the environment (HTTPS_PROXY, NO_PROXY) or the system.
"""

from __future__ import annotations

import ipaddress
from urllib.request import getproxies, proxy_bypass

import httpx2

from toolcrib.errors import NetworkRefused
from toolcrib.serverkit.network.policy import NetworkPolicy, canonical_host, endpoint, shown

MAX_URL_LENGTH = 8192
_PORTS = {"http": 80, "https": 443}
_HINT = "Use a full address such as https://example.com/page."


def parse_url(text: str, policy: NetworkPolicy) -> httpx2.URL:
    """The URL, with its host in canonical form; raises `NetworkRefused`. Addresses are checked at connect."""
    text = text.strip()
    if len(text) > MAX_URL_LENGTH:
        raise _invalid(f"it is longer than {MAX_URL_LENGTH} characters")
    if "\\" in text:  # browsers read it as a slash, and so might mean another host
        raise _invalid("it contains a backslash")
    try:
        url = httpx2.URL(text)
        check_url(url, policy)
        return url.copy_with(host=canonical_host(raw_host(url)))
    except httpx2.InvalidURL as error:
        raise _invalid(str(error)) from None


def check_url(url: httpx2.URL, policy: NetworkPolicy) -> None:
    """Raise `NetworkRefused` for a scheme, a host name or a port that is not allowed."""
    if not url.scheme or (url.scheme in _PORTS and not url.host):
        raise _invalid("it has no scheme or no host")
    allowed = policy.schemes & _PORTS.keys()
    if url.scheme not in allowed:
        only = " and ".join(sorted(allowed))
        raise NetworkRefused(f"{shown(url.scheme)} URLs are not allowed, only {only}.", hint=_HINT)
    if url.userinfo:
        raise NetworkRefused("URLs with a user name or password are not allowed.", hint=_HINT)
    policy.check_port(canonical_host(raw_host(url)), port_of(url))


def _invalid(reason: str) -> NetworkRefused:
    """Without the URL itself, whose path and query may contain secrets."""
    return NetworkRefused(f"The URL is not valid: {shown(reason).rstrip('.')}.", hint=_HINT)


def raw_host(url: httpx2.URL) -> str:
    """The host in ASCII, as the connection uses it; `url.host` has the Unicode form."""
    return url.raw_host.decode("ascii")


def port_of(url: httpx2.URL) -> int:
    return _PORTS.get(url.scheme, 0) if url.port is None else url.port


def endpoint_of(url: str) -> str:
    """HOST:PORT of a URL that the user typed, for `NetworkPolicy.allow_private`."""
    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL as error:
        raise _invalid(str(error)) from None
    return endpoint(raw_host(parsed), port_of(parsed))


def origin(url: httpx2.URL) -> str:
    """Scheme, host and port, for errors: paths and queries may contain secrets."""
    return shown(f"{url.scheme}://{url.netloc.decode('ascii', 'replace')}")


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
