"""Google's token endpoint: exchanges a code, refreshes and revokes tokens; with timeout, tries and error
messages, such as for an expired sign-in.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from typing import Any

import httpx2

from toolcrib.accounts.account import Account
from toolcrib.accounts.google.credentials import GoogleCredentials
from toolcrib.accounts.google.endpoints import GoogleEndpoints
from toolcrib.accounts.google.failures import error_code, sign_in_again
from toolcrib.errors import AuthRequired, ToolcribError
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.network import open_client

ATTEMPTS = 3
TIMEOUT = 20.0
MAX_BYTES = 64 * 1024
_TOKEN = r"[\x21-\x7e]+"  # noqa: S105 - a pattern: what a header can hold, else an error would show the token


async def exchange(
    account: Account,
    credentials: GoogleCredentials,
    endpoints: GoogleEndpoints,
    *,
    code: str,
    verifier: str,
    redirect_uri: str,
) -> GoogleCredentials:
    """Tokens for the code of a sign-in."""
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "code_verifier": verifier,
        "redirect_uri": redirect_uri,
    }
    answer = await _ask(account, credentials, endpoints, form)
    if not answer.get("refresh_token"):
        raise sign_in_again(account, "Google returned no refresh token")
    return credentials.renewed(answer)


async def refresh(
    account: Account, credentials: GoogleCredentials, endpoints: GoogleEndpoints
) -> GoogleCredentials:
    """A new access token. Raises `AuthRequired` if the grant has expired or was revoked."""
    if not credentials.refresh_token:
        raise sign_in_again(account, "no refresh token is stored")
    form = {"grant_type": "refresh_token", "refresh_token": credentials.refresh_token}
    return credentials.renewed(await _ask(account, credentials, endpoints, form))


async def revoke(credentials: GoogleCredentials, endpoints: GoogleEndpoints) -> bool:
    """End the grant at Google; False if Google could not be reached or knows it no longer."""
    token = credentials.refresh_token or credentials.access_token
    try:
        async with open_client(endpoints.policy, timeout=TIMEOUT) as client:
            response = await client.post(endpoints.revoke_uri, data={"token": token})
    except (httpx2.HTTPError, ToolcribError):
        return False
    return response.status_code == httpx2.codes.OK


async def _ask(
    account: Account, credentials: GoogleCredentials, endpoints: GoogleEndpoints, form: dict[str, str]
) -> dict[str, Any]:
    own = {"client_id": credentials.client_id, "client_secret": credentials.client_secret}
    sent = {**form, **{key: value for key, value in own.items() if value}}
    # A code can be used only once: a second attempt after a lost answer would end the whole grant.
    attempts = ATTEMPTS if form["grant_type"] == "refresh_token" else 1
    response = await _post(endpoints, sent, attempts)
    if response.status_code == httpx2.codes.OK:
        return _tokens(account, response)
    raise _refused(account, response)


async def _post(endpoints: GoogleEndpoints, form: dict[str, str], attempts: int) -> httpx2.Response:
    for pause in (0.5 * 2**number for number in range(attempts)):
        final = pause == 0.5 * 2 ** (attempts - 1)
        try:
            async with open_client(endpoints.policy, timeout=TIMEOUT) as client:
                response = await _limited(client, endpoints.token_uri, form)
            if response.status_code < 500 or final:
                return response
        except httpx2.TransportError as error:
            if final:
                raise ToolFailure(
                    "Google's sign-in service cannot be reached.", "Check the network and try again."
                ) from error
        await asyncio.sleep(pause)
    raise AssertionError("the last attempt returns or raises")


async def _limited(client: httpx2.AsyncClient, url: str, form: dict[str, str]) -> httpx2.Response:
    request = client.build_request("POST", url, data=form, headers={"Accept": "application/json"})
    response = await client.send(request, stream=True)
    try:
        content = b""
        async for chunk in response.aiter_bytes():
            content += chunk
            if len(content) > MAX_BYTES:
                raise ToolFailure("Google's sign-in service sent too much data.", "Try again later.")
    finally:
        await response.aclose()
    return httpx2.Response(response.status_code, content=content, request=request)


def _tokens(account: Account, response: httpx2.Response) -> dict[str, Any]:
    try:
        answer = response.json()
        if re.fullmatch(_TOKEN, answer["access_token"]):
            return dict(answer)
    except (ValueError, TypeError, KeyError):
        pass
    raise sign_in_again(account, "Google's answer has no token")


def _refused(account: Account, response: httpx2.Response) -> ToolcribError:
    code = error_code(response)
    if response.status_code >= 500 or response.status_code == httpx2.codes.TOO_MANY_REQUESTS:
        return ToolFailure(
            f"Google's sign-in service cannot answer now (HTTP {response.status_code}).", "Try again shortly."
        )
    if code == "invalid_grant":
        return sign_in_again(account, "the grant has expired or was revoked")
    if code in ("invalid_client", "unauthorized_client"):
        return AuthRequired(
            f"Google does not accept the OAuth client of the account {account.name} ({code}).",
            hint="Check the client id and secret in the Google Cloud console, then add the account again.",
        )
    return sign_in_again(account, f"Google refused it ({code or f'HTTP {response.status_code}'})")


def without_tokens(credentials: GoogleCredentials) -> GoogleCredentials:
    """Only the OAuth client."""
    return replace(credentials, refresh_token="", access_token="", expires_at=0.0, scope="")
