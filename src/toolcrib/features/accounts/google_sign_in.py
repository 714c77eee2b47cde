"""Signs a user in to Google in the browser: OAuth 2.0 for installed apps (RFC 8252), with PKCE."""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Awaitable, Callable, Sequence
from urllib.parse import urlencode

from toolcrib.accounts.account import Account
from toolcrib.accounts.google.credentials import GoogleCredentials
from toolcrib.accounts.google.endpoints import GoogleEndpoints
from toolcrib.accounts.google.tokens import exchange
from toolcrib.errors import AuthRequired
from toolcrib.serverkit.network.policy import shown
from toolcrib.serverkit.redirect_listener import RedirectResult, listen

OpenPage = Callable[[str], Awaitable[None]]
_SCOPE = "https://www.googleapis.com/auth/"
_SCOPES = {"mail": ("gmail.modify", "gmail.readonly"), "calendar": ("calendar", "calendar.readonly")}
"""Of each service: to change things, and only to read. `gmail.modify` covers sending, but not deleting."""


def scopes(services: Sequence[str], *, read_only: bool) -> list[str]:
    return [f"{_SCOPE}{_SCOPES[service][read_only]}" for service in services]


async def sign_in(
    account: Account,
    client: GoogleCredentials,
    endpoints: GoogleEndpoints,
    services: Sequence[str],
    show: OpenPage,
) -> GoogleCredentials:
    """Wait until the user has agreed in the browser; `show` gets the address of Google's page.

    Raises `AuthRequired`. The listener is closed in any case when this ends or is cancelled.
    """
    verifier, state = secrets.token_urlsafe(64), secrets.token_urlsafe(32)
    wanted = scopes(services, read_only=account.read_only)
    async with listen() as redirect:
        redirect.expect(state)
        query = {
            "response_type": "code",
            "client_id": client.client_id,
            "redirect_uri": redirect.redirect_uri,
            "scope": " ".join(wanted),
            "state": state,
            "code_challenge": challenge(verifier),
            "code_challenge_method": "S256",
            # A refresh token, also if the user has agreed before.
            "access_type": "offline",
            "prompt": "consent",
        }
        await show(f"{endpoints.auth_uri}?{urlencode(query)}")
        result = await redirect.answer()
    _check(result, account, endpoints)
    credentials = await exchange(
        account, client, endpoints, code=result.code, verifier=verifier, redirect_uri=redirect.redirect_uri
    )
    _check_scopes(credentials, account, dict(zip(services, wanted, strict=True)))
    return credentials


def challenge(verifier: str) -> str:
    """The S256 code challenge of RFC 7636."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def _check(result: RedirectResult, account: Account, endpoints: GoogleEndpoints) -> None:
    if result.error:
        raise _failed(account, f"Google refused it: {shown(result.error)}")
    if result.iss is not None and result.iss != endpoints.issuer:
        raise _failed(account, "the answer is from another issuer")
    if not result.code:
        raise _failed(account, "the answer has no code")


def _check_scopes(credentials: GoogleCredentials, account: Account, wanted: dict[str, str]) -> None:
    """The user can untick permissions on Google's page."""
    granted = credentials.scope.split()
    missing = [service for service, scope in wanted.items() if granted and scope not in granted]
    if missing:
        raise _failed(account, f"you did not allow access to {' and '.join(missing)}")


def _failed(account: Account, why: str) -> AuthRequired:
    return AuthRequired(
        f"The sign-in for the account {account.name} failed: {why}.",
        hint="Sign in again and allow all permissions; to use only one service, choose it when you add it.",
    )
