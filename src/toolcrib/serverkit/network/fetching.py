"""Fetches a URL that a model, a page or a server named, within limits of size, time and redirects."""

from __future__ import annotations

import asyncio
import fnmatch
import functools
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message

import httpx2

from toolcrib.errors import FetchFailed
from toolcrib.serverkit.network.client import USER_AGENT, GuardedTransport
from toolcrib.serverkit.network.policy import NetworkPolicy, shown
from toolcrib.serverkit.network.redirects import redirect_location, redirected
from toolcrib.serverkit.network.urls import origin, parse_url

_LATER = "Try again later."


@dataclass(frozen=True, kw_only=True)
class FetchLimits:
    max_bytes: int = 10 * 1024 * 1024
    """Of the body as it is transferred, and again of the decompressed body."""
    deadline: float = 30.0
    """Seconds for everything, redirects included."""
    idle: float = 10.0
    """Seconds without a byte."""
    redirects: int = 5
    encodings: int = 2
    """Content encodings applied to one body."""
    media_types: tuple[str, ...] = ("*",)
    """Patterns such as `text/*`. A body of another type is not read."""


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
