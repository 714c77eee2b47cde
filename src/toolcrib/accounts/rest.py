"""A small client for the JSON APIs of services (Discord, Canvas), signed in with a token. Decides retries,
timeouts, longest wait for a rate limit, most pages, largest response, and error messages.

It waits for rate limits, repeats what may be repeated, follows pages, and turns each failure into a sentence
that says what to do. The token goes only to the service's own address.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from toolcrib.accounts.rate_limits import RateLimits, route_of, seconds
from toolcrib.clock import Clock, SystemClock
from toolcrib.serverkit.context import ToolFailure

if TYPE_CHECKING:
    import httpx2

    from toolcrib.serverkit.network import NetworkPolicy

ATTEMPTS = 4
DEADLINE = 60.0
"""Seconds for one request with all its attempts and waits."""
ATTEMPT_TIMEOUT = 20.0
MAX_WAIT = 30.0
"""Seconds that a call waits for a rate limit; a longer wait is left to the caller."""
MAX_BYTES = 10 * 1024 * 1024
MAX_PAGES = 100
PAGE = 100
_REPEATABLE = ("GET", "PUT", "PATCH", "DELETE")
Params = Mapping[str, str | int | Sequence[str | int]]


class RestFailure(ToolFailure):
    """A service did not do what was asked."""

    def __init__(self, message: str, hint: str = "", *, status: int = 0, code: int = 0) -> None:
        super().__init__(message, hint)
        self.status = status
        self.code = code
        """The service's own number for the error."""


@dataclass(frozen=True)
class RestReply:
    status: int
    headers: Mapping[str, str]
    data: Any
    next: str | None = None
    """Path and query of the next page."""


@dataclass(frozen=True)
class RestRequest:
    method: str
    path: str
    params: Params = field(default_factory=dict)
    body: Any = None
    repeatable: bool = True
    """Whether sending it twice has the same effect as once."""
    needs: str = ""
    """The permission that it needs, for the error without it."""

    @property
    def route(self) -> str:
        return route_of(self.method, self.path)


@dataclass(frozen=True, kw_only=True)
class RestService:
    """Where a service is, how to sign in, and how to read its errors."""

    title: str
    base: str
    """Without a slash at the end."""
    headers: Mapping[str, str] = field(repr=False)
    policy: NetworkPolicy
    renew: str = ""
    """The command that stores another token."""
    explain: Callable[[RestRequest, RestReply], RestFailure | None] = lambda request, reply: None
    """The failure that a response of 400 or more means, if the service has more to say than its status."""
    throttled: Callable[[RestReply], bool] = lambda reply: reply.status == 429


@dataclass(frozen=True)
class RestListing:
    items: list[Any]
    more: bool
    """Whether the service has further items."""


@dataclass(frozen=True)
class _RetryAfter:
    wait: float
    failure: RestFailure


@asynccontextmanager
async def connect(
    service: RestService, limits: RateLimits | None = None, *, clock: Clock | None = None
) -> AsyncIterator[RestClient]:
    """A client for the requests of one call."""
    from toolcrib.serverkit.network import open_client  # imports an HTTP client

    async with open_client(
        service.policy, timeout=ATTEMPT_TIMEOUT, headers=service.headers, proxies=True
    ) as http:
        yield RestClient(service, http, limits or RateLimits(clock), clock or SystemClock())


class RestClient:
    def __init__(
        self, service: RestService, http: httpx2.AsyncClient, limits: RateLimits, clock: Clock
    ) -> None:
        self.service = service
        self._http = http
        self._limits = limits
        self._clock = clock

    async def get(self, path: str, params: Params | None = None, *, needs: str = "") -> Any:
        """The decoded JSON of a resource."""
        return (await self.send(RestRequest("GET", path, params or {}, needs=needs))).data

    async def change(
        self, method: str, path: str, body: Any = None, *, needs: str = "", repeatable: bool | None = None
    ) -> Any:
        """Create, change or delete a resource; a POST is repeated only if it is declared `repeatable`."""
        if repeatable is None:
            repeatable = method in _REPEATABLE
        request = RestRequest(method, path, body=body, repeatable=repeatable, needs=needs)
        return (await self.send(request)).data

    async def pages(
        self, path: str, params: Params | None = None, *, limit: int, needs: str = ""
    ) -> RestListing:
        """The first items of a list, from as many pages as necessary."""
        request: RestRequest | None = RestRequest(
            "GET", path, {"per_page": PAGE, **(params or {})}, needs=needs
        )
        items: list[Any] = []
        seen: set[str] = set()
        while request is not None and len(items) <= limit and len(seen) < MAX_PAGES:
            reply = await self.send(request)
            if not isinstance(reply.data, list):
                raise self._not_understood("a list was expected")
            items += reply.data
            request = None
            if reply.next and reply.next not in seen:
                seen.add(reply.next)
                request = RestRequest("GET", reply.next, needs=needs)
        return RestListing(items[:limit], more=len(items) > limit or request is not None)

    async def send(self, request: RestRequest) -> RestReply:
        """The response of 2xx; raises `RestFailure`."""
        try:
            async with asyncio.timeout(DEADLINE):
                return await self._attempts(request)
        except TimeoutError:
            raise self._timed_out(request) from None

    async def _attempts(self, request: RestRequest) -> RestReply:
        attempt = 0
        while True:
            attempt += 1
            await self._wait(self._limits.delay(request.route))
            outcome = await self._attempt(request, attempt)
            if isinstance(outcome, RestReply):
                return outcome
            if attempt == ATTEMPTS:
                raise outcome.failure
            await self._wait(outcome.wait)

    async def _wait(self, delay: float) -> None:
        if delay > MAX_WAIT:
            raise self._throttled(delay)
        if delay > 0:
            await self._clock.sleep(delay)

    async def _attempt(self, request: RestRequest, attempt: int) -> RestReply | _RetryAfter:
        import httpx2

        title, backoff = self.service.title, 0.25 * 2**attempt * random.uniform(0.5, 1)  # noqa: S311
        try:
            reply = await self._exchange(request)
        except (httpx2.ConnectError, httpx2.ConnectTimeout):
            failure = RestFailure(f"{title} cannot be reached.", "Check the network, and the account's URL.")
            return _RetryAfter(backoff, failure)
        except httpx2.HTTPError as error:
            if not request.repeatable:
                raise self._unknown_outcome() from error
            problem = "did not answer in time" if isinstance(error, httpx2.TimeoutException) else "hung up"
            return _RetryAfter(backoff, RestFailure(f"{title} {problem}.", "Try again later."))
        self._limits.learn(request.route, reply.headers)
        if self.service.throttled(reply):
            return self._slow_down(request, reply, backoff)
        if reply.status >= 500:
            return self._broken(request, reply, backoff)
        if reply.status >= 300:
            raise self.service.explain(request, reply) or self._refused(request, reply)
        return reply

    async def _exchange(self, request: RestRequest) -> RestReply:
        url = f"{self.service.base}{request.path}"
        built = self._http.build_request(
            request.method, url, params=request.params or None, json=request.body
        )
        response = await self._http.send(built, stream=True)
        try:
            content = bytearray()
            async for chunk in response.aiter_bytes():
                content += chunk
                if len(content) > MAX_BYTES:
                    raise RestFailure(
                        f"{self.service.title} sent more than {MAX_BYTES // 1024**2} MB.", "Ask for less."
                    )
        finally:
            await response.aclose()
        data = self._decoded(bytes(content), response.status_code)
        return RestReply(response.status_code, response.headers, data, self._next_page(response))

    def _decoded(self, content: bytes, status: int) -> Any:
        text = content.decode("utf-8", "replace")
        if not text.strip():
            return None
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            if status >= 300:
                return text[:2000]
            raise self._not_understood("it is not JSON") from None

    def _next_page(self, response: httpx2.Response) -> str | None:
        """Only path and query: the next page is requested from the account's own address."""
        import httpx2

        link = response.links.get("next", {}).get("url", "")
        try:
            target = httpx2.URL(link).raw_path.decode("ascii") if link else ""
        except httpx2.InvalidURL:
            return None
        prefix = httpx2.URL(self.service.base).raw_path.decode("ascii").rstrip("/")
        return target.removeprefix(prefix) if target.startswith(f"{prefix}/") else None

    def _slow_down(self, request: RestRequest, reply: RestReply, backoff: float) -> _RetryAfter:
        body = reply.data if isinstance(reply.data, dict) else {}
        named = seconds(body.get("retry_after"))
        wait = named if named is not None else seconds(reply.headers.get("retry-after"))
        every = body.get("global") is True or reply.headers.get("x-ratelimit-scope") == "global"
        if wait is None:
            return _RetryAfter(backoff, self._throttled(backoff))
        self._limits.block(request.route, wait, every_route=every)
        return _RetryAfter(0, self._throttled(wait))

    def _broken(self, request: RestRequest, reply: RestReply, backoff: float) -> _RetryAfter:
        if not request.repeatable:
            raise self._unknown_outcome()
        message = f"{self.service.title} has a problem (HTTP {reply.status})."
        return _RetryAfter(backoff, RestFailure(message, "Try again later.", status=reply.status))

    def _refused(self, request: RestRequest, reply: RestReply) -> RestFailure:
        title, status = self.service.title, reply.status
        if status < 400:
            return RestFailure(
                f"{title} answered with a redirect.", "Check the account's URL.", status=status
            )
        if status == 401:
            return RestFailure(
                f"{title} does not accept the token.",
                f"It is wrong, expired or revoked. The user can store another one: {self.service.renew}",
                status=status,
            )
        if status == 403:
            missing = f" It needs the permission {request.needs}." if request.needs else ""
            return RestFailure(f"{title} does not allow this.{missing}", status=status)
        if status == 404:
            return RestFailure(
                f"{title} has no such thing, or hides it from this account.", "Check the id.", status=status
            )
        return RestFailure(f"{title} rejected the request (HTTP {status}).", status=status)

    def _throttled(self, wait: float) -> RestFailure:
        return RestFailure(
            f"{self.service.title} allows no more requests for {wait:.0f} s.",
            f"Try again in {wait:.0f} s.",
            status=429,
        )

    def _timed_out(self, request: RestRequest) -> RestFailure:
        if not request.repeatable:
            return self._unknown_outcome()
        return RestFailure(
            f"{self.service.title} did not answer within {DEADLINE:.0f} s.", "Try again later."
        )

    def _unknown_outcome(self) -> RestFailure:
        return RestFailure(
            f"{self.service.title} failed while it handled the request; it may have been carried out.",
            "Look whether it was, before you try again.",
        )

    def _not_understood(self, reason: str) -> RestFailure:
        return RestFailure(
            f"The answer of {self.service.title} cannot be read: {reason}.", "Check the account's URL."
        )
