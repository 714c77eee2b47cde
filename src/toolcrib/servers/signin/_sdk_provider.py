"""The SDK's OAuth client with our redirect port, the errors for a refused sign-in or an answer of another
issuer, and the reuse of an earlier registration; importing this module imports the SDK.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider, TokenStorage
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl, ValidationError

from toolcrib.errors import AuthRequired
from toolcrib.serverkit.network.policy import shown
from toolcrib.serverkit.redirect_listener import RedirectResult
from toolcrib.servers.signin.credentials import Credentials


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


class SignInProvider(OAuthClientProvider):
    """The SDK's provider, whose redirect address depends on the issuer that it finds."""

    def redirect_to(self, address: str) -> None:
        self.context.client_metadata.redirect_uris = [AnyUrl(address)]


def make_provider(
    *,
    url: str,
    redirect_uri: str,
    client: Any,
    earlier: Credentials | None,
    show: Callable[[str], Awaitable[None]],
    come_back: Callable[[], Awaitable[RedirectResult]],
) -> SignInProvider:
    known = _configured(client, redirect_uri, earlier) or _usable(earlier, redirect_uri)

    async def returned() -> AuthorizationCodeResult:
        answer = await come_back()
        if answer.error:
            raise AuthRequired(
                f"The sign-in was refused: {shown(answer.error, 300)}", hint="Try again, or ask for access."
            )
        metadata = provider.context.oauth_metadata
        if answer.iss is not None and answer.iss != str(metadata and metadata.issuer):
            raise AuthRequired(
                f"The sign-in was stopped: the answer is from another issuer, {shown(answer.iss)}.",
                hint="Do not sign in to this server, or ask its operator.",
            )
        return AuthorizationCodeResult(code=answer.code, state=answer.state, iss=answer.iss)

    provider = SignInProvider(
        server_url=url,
        client_metadata=OAuthClientMetadata(
            client_name="Toolcrib",
            redirect_uris=[AnyUrl(redirect_uri)],
            grant_types=["authorization_code", "refresh_token"],
            response_types=["code"],
            scope=client.scope,
        ),
        storage=_Memory(known),
        redirect_handler=show,
        callback_handler=returned,
        client_metadata_url=client.metadata_url,
    )
    return provider


def _configured(
    client: Any, redirect_uri: str, earlier: Credentials | None
) -> OAuthClientInformationFull | None:
    """The client of the entry, bound to the issuer of the last sign-in: no other one gets its secret."""
    if client.client_id is None:
        return None
    return OAuthClientInformationFull(
        client_id=client.client_id,
        client_secret=client.client_secret,
        redirect_uris=[AnyUrl(redirect_uri)],
        token_endpoint_auth_method="client_secret_basic" if client.client_secret else "none",
        issuer=earlier.issuer if earlier is not None and earlier.client_id == client.client_id else None,
    )


def _usable(earlier: Credentials | None, redirect_uri: str) -> OAuthClientInformationFull | None:
    """An earlier registration, if made for the same port: many issuers compare the full redirect URI."""
    if earlier is None:
        return None
    try:
        known = OAuthClientInformationFull.model_validate(json.loads(earlier.registered))
    except (ValidationError, ValueError):
        return None
    same = any(str(uri) == redirect_uri for uri in known.redirect_uris or ())
    return known.model_copy(update={"issuer": known.issuer or earlier.issuer}) if same else None
