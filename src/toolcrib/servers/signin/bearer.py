"""Uses what a sign-in left behind: a token on every request, a new one in time, and one more try after a 401.

Asks no person and finds nothing out anew: the refresh token goes to the issuer that gave it, or nowhere.
"""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import AsyncGenerator
from urllib.parse import quote

import httpx2
from pydantic import BaseModel, ValidationError

from toolcrib.errors import AuthRequired
from toolcrib.servers.signin.credential_store import CredentialStore
from toolcrib.servers.signin.credentials import Credentials


class _Answer(BaseModel):
    """What a token endpoint says."""

    access_token: str
    refresh_token: str | None = None
    expires_in: float | None = None
    scope: str | None = None


class BearerAuth(httpx2.Auth):
    """The sign-in of one server, as an authentication of its HTTP client."""

    requires_response_body = True

    def __init__(self, server: str, store: CredentialStore, credentials: Credentials) -> None:
        self._server = server
        self._store = store
        self._credentials = credentials
        self._turn = asyncio.Lock()

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """The request with a token; refused once, again with a new one."""
        used = self._credentials
        if not used.fresh():
            async with self._turn:
                if self._credentials is used:  # else another request has renewed it meanwhile
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
            raise self._over("the token has expired")
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
        return httpx2.Request("POST", used.token_endpoint, data=form, headers=headers)

    async def _take(self, used: Credentials, response: httpx2.Response) -> None:
        if response.status_code >= 500 or response.status_code == httpx2.codes.TOO_MANY_REQUESTS:
            raise AuthRequired(
                f"The sign-in of {self._server} cannot be renewed now (HTTP {response.status_code}).",
                hint=f"Try again shortly: toolcrib restart {self._server}",
            )
        try:
            answer = _Answer.model_validate_json(await response.aread())
        except ValidationError:
            raise self._over("its issuer does not renew it") from None
        self._credentials = used.model_copy(
            update={
                "access_token": answer.access_token,
                "refresh_token": answer.refresh_token or used.refresh_token,
                "expires_at": None if answer.expires_in is None else time.time() + answer.expires_in,
                "scope": answer.scope or used.scope,
            }
        )
        # Kept before it is used: issuers that rotate tokens accept the old one only once.
        await asyncio.to_thread(self._store.save, self._server, self._credentials)

    def _over(self, why: str) -> AuthRequired:
        return AuthRequired(
            f"The sign-in to {self._server} is over: {why}.",
            hint=f"Sign in again: toolcrib login {self._server}",
        )
