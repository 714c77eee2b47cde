"""The credentials of a sign-in, bound to a server and issuer, and how requests use and refresh them: how
early a token is refreshed, and the errors for an expired or refused one ("Sign in again").
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
import time
from collections.abc import AsyncGenerator
from typing import Any, Protocol
from urllib.parse import parse_qsl, quote, quote_plus, urlsplit

import httpx2
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from toolcrib.errors import AuthRequired
from toolcrib.serverkit.network.policy import shown
from toolcrib.servers.remote.client import SIGN_IN

TOKEN_PATTERN = r"^[\x21-\x7e]+$"  # noqa: S105 - a pattern
"""A token that can be sent as a header."""
_PRINTABLE = r"[\x20-\x7e]*"
_HINT = "Try again, or ask the server's operator."
_SHORTEST = 6
"""Shorter values are masked only if they are the whole text: `code` could stand in any sentence."""
_PUBLIC = frozenset({"grant_type", "redirect_uri", "client_id", "resource"})

EARLY = 30.0
"""Seconds before its expiry at which a token is refreshed."""


def check_answer(request: httpx2.Request, response: httpx2.Response) -> None:
    """Raise `AuthRequired` unless the answer to a registration or a token request can be used."""
    what, required = ("token request", "access_token") if _form(request) else ("registration", "client_id")
    answer = _object(response)
    if not response.is_success:
        reason = masked(_reason(answer), request)
        raise AuthRequired(
            f"The issuer refused the {what} (HTTP {response.status_code}){reason and f': {reason}'}.",
            hint=_HINT,
        )
    if not _usable(answer, required):
        raise AuthRequired(f"The issuer's answer to the {what} is invalid.", hint=_HINT)


def masked(text: str, request: httpx2.Request) -> str:
    """Text of the issuer without what was sent to it, and without characters that are not printable."""
    values = [value for name, value in _form(request) if name not in _PUBLIC]
    values.append(request.headers.get("Authorization", "").rpartition(" ")[2])
    known = {form for value in values for form in (value, quote(value, safe=""), quote_plus(value))}
    for value in sorted(known, key=len, reverse=True):
        if len(value) >= _SHORTEST or value == text:
            text = text.replace(value, "***")
    return shown(text, 300)


def _form(request: httpx2.Request) -> list[tuple[str, str]]:
    if not request.headers.get("Content-Type", "").startswith("application/x-www-form-urlencoded"):
        return []
    return parse_qsl(request.content.decode("ascii", "replace"))


def _object(response: httpx2.Response) -> dict[str, Any]:
    try:
        found = json.loads(response.content)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _reason(answer: dict[str, Any]) -> str:
    """The two members of RFC 6749, section 5.2, and nothing else of the answer."""
    return ", ".join(str(answer[name]) for name in ("error", "error_description") if answer.get(name))


def _usable(answer: dict[str, Any], required: str) -> bool:
    """Checked here, because the SDK's error and its log entry would repeat the values."""
    patterns = {
        "access_token": TOKEN_PATTERN,
        "refresh_token": _PRINTABLE,
        "client_id": _PRINTABLE,
        "client_secret": _PRINTABLE,
        "scope": _PRINTABLE,
        "token_type": "(?i)bearer",
    }
    texts = {name: answer[name] for name in patterns if answer.get(name) is not None}
    fine = all(isinstance(text, str) and re.fullmatch(patterns[name], text) for name, text in texts.items())
    lifetime = re.fullmatch(r"None|\d{1,12}", str(answer.get("expires_in")))
    return fine and lifetime is not None and required in texts


class Credentials(BaseModel):
    """Tokens, and everything needed to refresh them."""

    model_config = ConfigDict(frozen=True)

    url: str
    """The server they are for; never sent to another address."""
    issuer: str
    """Their issuer; the refresh token is never sent to another one."""
    token_endpoint: str
    client_id: str
    client_secret: str | None = Field(default=None, repr=False)
    client_auth: str | None = None
    """The client authentication: none, client_secret_post, client_secret_basic."""
    redirect_uri: str = ""
    registered: str = Field(default="{}", repr=False)
    """The client registration as JSON, for the next sign-in."""
    access_token: str = Field(repr=False, pattern=TOKEN_PATTERN)
    refresh_token: str | None = Field(default=None, repr=False)
    expires_at: float | None = None
    scope: str | None = None
    resource: str | None = None
    hosts: dict[str, str] = {}
    """The hosts that the user confirmed for the sign-in, by their part in it; empty if they have one host."""

    def fresh(self, now: float | None = None) -> bool:
        """Whether the access token is still valid."""
        return self.expires_at is None or (time.time() if now is None else now) < self.expires_at - EARLY

    def fits(self, url: str) -> bool:
        """Whether they were issued for this address."""
        return _location(self.url) == _location(url)


def _location(url: str) -> tuple[str, str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.lower(), parts.path.rstrip("/")


class _TokenResponse(BaseModel):
    """The response of a token endpoint."""

    access_token: str = Field(pattern=TOKEN_PATTERN)
    refresh_token: str | None = None
    expires_in: float | None = None
    scope: str | None = None


class CredentialWriter(Protocol):
    """Stores refreshed credentials."""

    def save(self, server: str, credentials: Credentials) -> None: ...


class BearerAuth(httpx2.Auth):
    """Adds a server's token to each request; refreshes it in time, and once after a 401."""

    requires_response_body = True

    def __init__(self, server: str, store: CredentialWriter, credentials: Credentials) -> None:
        self._server = server
        self._store = store
        self._credentials = credentials
        self._turn = asyncio.Lock()

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        used = self._credentials
        if not used.fresh():
            async with self._turn:
                if self._credentials is used:  # else another request has refreshed it
                    await self._take(used, (yield self._request(used)))
        used = self._credentials
        request.headers["Authorization"] = f"Bearer {used.access_token}"
        response = yield request
        if response.status_code != httpx2.codes.UNAUTHORIZED or used.refresh_token is None:
            return
        async with self._turn:
            if self._credentials is used:
                await self._take(used, (yield self._request(used)))
        request.headers["Authorization"] = f"Bearer {self._credentials.access_token}"
        yield request

    def _request(self, used: Credentials) -> httpx2.Request:
        if used.refresh_token is None:
            raise self._expired("the token has expired")
        form = {
            "grant_type": "refresh_token",
            "refresh_token": used.refresh_token,
            "client_id": used.client_id,
        }
        if used.resource:
            form["resource"] = used.resource
        headers = {"Accept": "application/json"}
        if used.client_secret and used.client_auth == "client_secret_basic":
            pair = f"{quote(used.client_id, safe='')}:{quote(used.client_secret, safe='')}"
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        elif used.client_secret:
            form["client_secret"] = used.client_secret
        extensions = {SIGN_IN: True}
        return httpx2.Request("POST", used.token_endpoint, data=form, headers=headers, extensions=extensions)

    async def _take(self, used: Credentials, response: httpx2.Response) -> None:
        if response.status_code >= 500 or response.status_code == httpx2.codes.TOO_MANY_REQUESTS:
            raise AuthRequired(
                f"The sign-in to {self._server} cannot be refreshed right now (HTTP {response.status_code}).",
                hint=f"Try again shortly: toolcrib restart {self._server}",
            )
        try:
            answer = _TokenResponse.model_validate_json(await response.aread())
        except ValidationError:
            raise self._expired("the issuer did not refresh it") from None
        self._credentials = used.model_copy(
            update={
                "access_token": answer.access_token,
                "refresh_token": answer.refresh_token or used.refresh_token,
                "expires_at": None if answer.expires_in is None else time.time() + answer.expires_in,
                "scope": answer.scope or used.scope,
            }
        )
        # Stored before use: issuers that rotate tokens accept the old one only once.
        await asyncio.to_thread(self._store.save, self._server, self._credentials)

    def _expired(self, why: str) -> AuthRequired:
        return AuthRequired(
            f"The sign-in to {self._server} has expired: {why}.",
            hint=f"Sign in again: toolcrib login {self._server}",
        )
