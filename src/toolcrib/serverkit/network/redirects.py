"""The request that follows a redirect: what it may carry to another origin, and where it must not go."""

from __future__ import annotations

import httpx2

from toolcrib.errors import NetworkRefused
from toolcrib.serverkit.network.policy import NetworkPolicy
from toolcrib.serverkit.network.urls import origin, parse_url

_STATUSES = (301, 302, 303, 307, 308)
_CREDENTIALS = ("authorization", "cookie", "proxy-authorization")
_OF_ONE_REQUEST = ("host", "content-length", "transfer-encoding")
_KEPT_ACROSS_ORIGINS = {
    "accept",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "dnt",
    "pragma",
    "range",
    "upgrade-insecure-requests",
    "user-agent",
}
"""All others are dropped, because any of them may be a credential, such as X-Api-Key."""


def redirect_location(response: httpx2.Response) -> str | None:
    """Where a response redirects to, if it does."""
    location: str | None = response.headers.get("location")
    return location if response.status_code in _STATUSES else None


def redirected(
    response: httpx2.Response, location: str, policy: NetworkPolicy, cookies: httpx2.Cookies | None
) -> httpx2.Request:
    """The next request; raises `NetworkRefused` for a target that must not get it.

    `cookies` collects those of the servers; None if the caller sends its own, which are headers like others.
    """
    request = response.request
    target = _target(request, location, policy)
    if cookies is not None:
        cookies.extract_cookies(response)
        request.headers.pop("cookie", None)
    headers = _headers(request, target)
    method, content = _method(request, response.status_code), request.content
    if method != request.method:
        content = b""
        headers.pop("content-type", None)
    if content and not _same_origin(request.url, target):
        raise NetworkRefused(
            f"{origin(request.url)} redirects the sent data to {origin(target)}, which is not allowed.",
            hint="If this is intended, send it there directly.",
        )
    following = httpx2.Request(method, target, headers=headers, content=content or None)
    if cookies is not None:
        cookies.set_cookie_header(following)
    return following


def _method(request: httpx2.Request, status: int) -> str:
    """As browsers do it."""
    if (status == 303 and request.method != "HEAD") or (status in (301, 302) and request.method == "POST"):
        return "GET"
    return request.method


def _target(request: httpx2.Request, location: str, policy: NetworkPolicy) -> httpx2.URL:
    try:
        return parse_url(str(request.url.join(location)), policy)
    except httpx2.InvalidURL:
        return parse_url(location, policy)


def _headers(request: httpx2.Request, target: httpx2.URL) -> httpx2.Headers:
    if request.url.scheme == "https" and target.scheme == "http":
        _refuse_credentials(request, target)
    same_origin = _same_origin(request.url, target)
    return httpx2.Headers(
        [
            (name, value)
            for name, value in request.headers.multi_items()
            if name not in _OF_ONE_REQUEST and (same_origin or _is_kept(name))
        ]
    )


def _refuse_credentials(request: httpx2.Request, target: httpx2.URL) -> None:
    if any(name in request.headers for name in _CREDENTIALS):
        raise NetworkRefused(
            f"{origin(request.url)} redirects a request with credentials to {origin(target)}, unencrypted.",
            hint="Use another address of this server.",
        )


def _is_kept(name: str) -> bool:
    return name in _KEPT_ACROSS_ORIGINS or name.startswith("sec-")


def _same_origin(one: httpx2.URL, other: httpx2.URL) -> bool:
    return (one.scheme, one.raw_host, one.port) == (other.scheme, other.raw_host, other.port)
