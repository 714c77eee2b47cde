"""Fetches a URL that a model, a page or a server named, within limits of size, time and redirects: their
defaults, the headers that a redirect keeps, and the error messages."""

from __future__ import annotations

import asyncio
import fnmatch
import functools
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message

import httpx2

from toolcrib.errors import FetchFailed, NetworkRefused
from toolcrib.serverkit.network.client import USER_AGENT, GuardedTransport
from toolcrib.serverkit.network.limits import FetchLimits
from toolcrib.serverkit.network.policy import NetworkPolicy, shown
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

_LATER = "Try again later."


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
    headers = _redirected_headers(request, target)
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


def _redirected_headers(request: httpx2.Request, target: httpx2.URL) -> httpx2.Headers:
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


@dataclass(frozen=True, kw_only=True)
class Fetched:
    """A response of any status."""

    url: str
    """Where it came from, after redirects."""
    status: int
    headers: httpx2.Headers
    content: bytes
    media_type: str
    """In lower case, without parameters; empty if not declared."""
    charset: str | None
    """As declared in the header; it may be wrong."""
    redirects: tuple[str, ...] = ()
    """The URLs that redirected here, the first one first."""


async def fetch(
    url: str,
    policy: NetworkPolicy,
    *,
    limits: FetchLimits | None = None,
    headers: Mapping[str, str] | None = None,
    method: str = "GET",
    content: bytes | None = None,
    tls: ssl.SSLContext | None = None,
    proxies: bool = False,
) -> Fetched:
    """Fetch a URL, following redirects; each one is checked. Raises `NetworkRefused` or `FetchFailed`.

    Proxies of the environment are used with `proxies`; see `open_client`.
    """
    limits = limits or FetchLimits()
    target = parse_url(url, policy)
    request = httpx2.Request(method, target, headers=_headers(headers), content=content)
    transport = GuardedTransport(policy, tls=tls, proxies=proxies)
    try:
        async with asyncio.timeout(limits.deadline), transport:
            return await _follow(transport, request, policy, limits)
    except TimeoutError:
        raise FetchFailed(
            f"{origin(target)} did not send everything within {limits.deadline:g} s.", hint=_LATER
        ) from None


def _headers(given: Mapping[str, str] | None) -> httpx2.Headers:
    headers = httpx2.Headers({"Accept": "*/*", "User-Agent": USER_AGENT})
    try:
        headers.update(given)
    except UnicodeEncodeError:
        # A key that was copied wrongly; the original error holds its value.
        raise FetchFailed("The request has a header with characters that cannot be sent.") from None
    headers["Accept-Encoding"] = ", ".join(_supported_encodings())
    return headers


async def _follow(
    transport: GuardedTransport, request: httpx2.Request, policy: NetworkPolicy, limits: FetchLimits
) -> Fetched:
    passed: list[str] = []
    cookies = None if "cookie" in request.headers else httpx2.Cookies()
    while True:
        request.extensions["timeout"] = httpx2.Timeout(limits.idle).as_dict()
        response = await _send(transport, request)
        try:
            location = redirect_location(response)
            if location is None:
                return await _read(response, limits, tuple(passed))
        finally:
            await response.aclose()
        passed.append(str(request.url))
        if len(passed) > limits.redirects:
            raise FetchFailed(
                f"{origin(request.url)} redirects more than {limits.redirects} times.", hint="Check the URL."
            )
        request = redirected(response, location, policy, cookies)


async def _send(transport: GuardedTransport, request: httpx2.Request) -> httpx2.Response:
    """The response, without httpx2's client, which fails on some redirects even without following them."""
    try:
        response = await transport.handle_async_request(request)
    except httpx2.TimeoutException:
        raise FetchFailed(f"{origin(request.url)} did not answer in time.", hint=_LATER) from None
    except httpx2.HTTPError as error:
        raise _lost(request, error) from error
    response.request = request
    return response


async def _read(response: httpx2.Response, limits: FetchLimits, passed: tuple[str, ...]) -> Fetched:
    declared = Message()
    declared["content-type"] = response.headers.get("content-type", "")
    media_type = declared.get_content_type() if declared["content-type"] else ""
    if not any(fnmatch.fnmatchcase(media_type, pattern) for pattern in limits.media_types):
        kind = shown(media_type) or "no content type"
        raise FetchFailed(f"{origin(response.url)} sent {kind}, which is not read here.")
    return Fetched(
        url=str(response.url),
        status=response.status_code,
        headers=response.headers,
        content=await read_body(response, limits),
        media_type=media_type,
        charset=declared.get_content_charset(),
        redirects=passed,
    )


def _check_before_reading(response: httpx2.Response, limits: FetchLimits) -> None:
    where = origin(response.url)
    length = response.headers.get("content-length", "")
    if length.isdecimal() and int(length) > limits.max_bytes:
        raise _too_large(where, limits)
    values = response.headers.get_list("content-encoding", split_commas=True)
    encodings = [value.strip().lower() for value in values]
    if len(encodings) > limits.encodings or not {"identity", *_supported_encodings()}.issuperset(encodings):
        raise FetchFailed(f"{where} sent an unsupported content encoding: {shown(', '.join(encodings))}.")


async def read_body(response: httpx2.Response, limits: FetchLimits) -> bytes:
    """The decompressed body of a response that is being streamed; raises `FetchFailed` above a limit."""
    _check_before_reading(response, limits)
    where = origin(response.url)
    parts, size = [], 0
    try:
        async for chunk in response.aiter_bytes():
            size += len(chunk)
            if max(size, response.num_bytes_downloaded) > limits.max_bytes:
                raise _too_large(where, limits)
            parts.append(chunk)
    except httpx2.TimeoutException:
        raise FetchFailed(f"{where} stopped sending for {limits.idle:g} s.", hint=_LATER) from None
    except httpx2.HTTPError as error:
        raise _lost(response.request, error) from error
    return b"".join(parts)


@functools.cache
def _supported_encodings() -> tuple[str, ...]:
    """As httpx2 announces them; it would return a body in another encoding as it is."""
    client = httpx2.AsyncClient(transport=httpx2.AsyncBaseTransport())
    return tuple(client.headers["accept-encoding"].split(", "))


def _too_large(where: str, limits: FetchLimits) -> FetchFailed:
    return FetchFailed(
        f"{where} sent more than {limits.max_bytes:,} bytes.", hint="Fetch a smaller document."
    )


def _lost(request: httpx2.Request, error: httpx2.HTTPError) -> FetchFailed:
    reason = shown(str(error) or type(error).__name__)
    return FetchFailed(f"{origin(request.url)} could not be fetched: {reason}", hint="Check the URL.")
