"""Signs a user in to Google in the browser: OAuth 2.0 for installed apps (RFC 8252), with PKCE. Decides the
permissions that are asked for, how the client file is read, and the errors of a refused sign-in.

The OAuth client is the user's own: the JSON file of the Google Cloud console, or its id and secret.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from toolcrib.accounts.account import Account
from toolcrib.accounts.google.credentials import GoogleCredentials
from toolcrib.accounts.google.endpoints import KEYS, GoogleEndpoints
from toolcrib.accounts.google.tokens import exchange
from toolcrib.errors import AuthRequired, UsageError
from toolcrib.serverkit.network.policy import shown
from toolcrib.serverkit.redirect_listener import RedirectResult, listen

_HOW = "Create an OAuth client of the type Desktop app in the Google Cloud console (see docs/accounts.md)."

OpenPage = Callable[[str], Awaitable[None]]
_SCOPE = "https://www.googleapis.com/auth/"
_SCOPES = {"mail": ("gmail.modify", "gmail.readonly"), "calendar": ("calendar", "calendar.readonly")}
"""Of each service: to change things, and only to read. `gmail.modify` covers sending, but not deleting."""


def read_client(given: Mapping[str, str]) -> tuple[GoogleCredentials, GoogleEndpoints] | None:
    """The client without tokens, and the endpoints; None if the user gave none. Raises `UsageError`."""
    if given.get("client_file", "").strip():
        return _from_file(given["client_file"])
    if not given.get("client_id", "").strip():
        return None
    credentials = GoogleCredentials(
        client_id=given["client_id"].strip(), client_secret=given.get("client_secret", "").strip()
    )
    return credentials, GoogleEndpoints()


def no_client() -> UsageError:
    return UsageError("A Google account needs an OAuth client of yours.", hint=_HOW)


def _from_file(text: str) -> tuple[GoogleCredentials, GoogleEndpoints]:
    document = _parse(text)
    if "web" in document:
        raise UsageError("This OAuth client is of the type Web application.", hint=_HOW)
    installed = document.get("installed")
    if not isinstance(installed, dict) or not isinstance(installed.get("client_id"), str):
        raise UsageError("This is not the client file of an OAuth client.", hint=_HOW)
    credentials = GoogleCredentials(
        client_id=installed["client_id"], client_secret=str(installed.get("client_secret") or "")
    )
    named = {key: value for key in KEYS if isinstance(value := installed.get(key), str)}
    return credentials, GoogleEndpoints.of(_without_google(named))


def _without_google(named: dict[str, str]) -> dict[str, Any]:
    """The file names Google's endpoints in older forms too; the current ones are used."""
    return {key: value for key, value in named.items() if not _is_google(value)}


def _is_google(address: str) -> bool:
    return address.startswith(("https://accounts.google.com/", "https://oauth2.googleapis.com/"))


def _parse(text: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise UsageError("The client file is not JSON.", hint=_HOW)
    return document


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
