"""The SDK's OAuth client with our redirect port; importing this module imports the SDK."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider, TokenStorage
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl, ValidationError

from toolcrib.errors import AuthRequired
from toolcrib.serverkit.redirect_listener import RedirectResult

PKCE = "S256"


class _Memory(TokenStorage):
    """Token storage for one sign-in."""

    def __init__(self, client: OAuthClientInformationFull | None) -> None:
        self._client = client
        self._tokens: OAuthToken | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self._tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self._tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self._client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._client = client_info


def make_provider(
    *,
    url: str,
    redirect_uri: str,
    client: Any,
    registered: str | None,
    issuer: str | None,
    show: Callable[[str], Awaitable[None]],
    come_back: Callable[[], Awaitable[RedirectResult]],
) -> OAuthClientProvider:
    known = _configured(client, redirect_uri, issuer) or _usable(registered, redirect_uri)

    async def redirect(address: str) -> None:
        metadata = provider.context.oauth_metadata
        methods = metadata.code_challenge_methods_supported if metadata is not None else None
        if methods is not None and PKCE not in methods:
            raise AuthRequired(
                "The sign-in was stopped: the issuer does not support PKCE with S256.",
                hint="Ask the server's operator.",
            )
        await show(address)

    async def returned() -> AuthorizationCodeResult:
        answer = await come_back()
        if answer.error:
            raise AuthRequired(
                f"The sign-in was refused: {answer.error}", hint="Try again, or ask for access."
            )
        return AuthorizationCodeResult(code=answer.code, state=answer.state, iss=answer.iss)

    provider = OAuthClientProvider(
        server_url=url,
        client_metadata=OAuthClientMetadata(
            client_name="Toolcrib",
            redirect_uris=[AnyUrl(redirect_uri)],
            grant_types=["authorization_code", "refresh_token"],
            response_types=["code"],
            scope=client.scope,
        ),
        storage=_Memory(known),
        redirect_handler=redirect,
        callback_handler=returned,
        client_metadata_url=client.metadata_url,
    )
    return provider


def _configured(client: Any, redirect_uri: str, issuer: str | None) -> OAuthClientInformationFull | None:
    """The client of the entry, bound to the issuer of the last sign-in: no other one gets its secret."""
    if client.client_id is None:
        return None
    return OAuthClientInformationFull(
        client_id=client.client_id,
        client_secret=client.client_secret,
        redirect_uris=[AnyUrl(redirect_uri)],
        token_endpoint_auth_method="client_secret_basic" if client.client_secret else "none",
        issuer=issuer,
    )


def _usable(registered: str | None, redirect_uri: str) -> OAuthClientInformationFull | None:
    """An earlier registration, if made for the same port: many issuers compare the full redirect URI."""
    try:
        known = OAuthClientInformationFull.model_validate(json.loads(registered or "{}"))
    except (ValidationError, ValueError):
        return None
    same = any(str(uri) == redirect_uri for uri in known.redirect_uris or ())
    return known if same else None
