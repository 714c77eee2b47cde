"""The sign-ins that the conformance scenarios ask for, made of the SDK's OAuth providers."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider, TokenStorage
from mcp.client.auth.extensions.client_credentials import (
    ClientCredentialsOAuthProvider,
    PrivateKeyJWTOAuthProvider,
    SignedJWTParameters,
)
from mcp.client.auth.extensions.identity_assertion import IdentityAssertionOAuthProvider
from mcp.client.auth.utils import build_protected_resource_metadata_discovery_urls
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

CALLBACK = AnyUrl("http://localhost:3000/callback")
CLIENT_METADATA = "https://conformance-test.local/client-metadata.json"


class Memory(TokenStorage):
    """Tokens and registrations, for as long as the program runs."""

    def __init__(self) -> None:
        self._tokens: OAuthToken | None = None
        self._client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self._tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self._tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self._client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._client = client_info


class Browser:
    """A person who agrees at once: opens the address and reads the code off the redirect."""

    def __init__(self) -> None:
        self._answer: dict[str, str] = {}

    async def visit(self, url: str) -> None:
        """Open the authorization page."""
        async with httpx2.AsyncClient(trust_env=False) as client:
            response = await client.get(url)
        query = parse_qs(urlsplit(response.headers["location"]).query)
        self._answer = {name: values[0] for name, values in query.items()}

    async def come_back(self) -> AuthorizationCodeResult:
        """What the redirect carried."""
        answer = self._answer
        return AuthorizationCodeResult(code=answer["code"], state=answer.get("state"), iss=answer.get("iss"))


async def auth_for(scenario: str, url: str, context: dict[str, Any]) -> httpx2.Auth:
    """The sign-in that this scenario wants."""
    if scenario == "auth/client-credentials-jwt":
        return _signed_credentials(url, context)
    if scenario == "auth/client-credentials-basic":
        return ClientCredentialsOAuthProvider(
            server_url=url,
            storage=Memory(),
            client_id=context["client_id"],
            client_secret=context["client_secret"],
            token_endpoint_auth_method="client_secret_basic",
        )
    if scenario == "auth/enterprise-managed-authorization":
        return await _enterprise(url, context)
    return await _authorization_code(url, context)


def _signed_credentials(url: str, context: dict[str, Any]) -> httpx2.Auth:
    parameters = SignedJWTParameters(
        issuer=context["client_id"],
        subject=context["client_id"],
        signing_algorithm=context.get("signing_algorithm", "ES256"),
        signing_key=context["private_key_pem"],
    )
    return PrivateKeyJWTOAuthProvider(
        server_url=url,
        storage=Memory(),
        client_id=context["client_id"],
        assertion_provider=parameters.create_assertion_provider(),
    )


async def _enterprise(url: str, context: dict[str, Any]) -> httpx2.Auth:
    """A token of the company's identity provider is exchanged for one of the server's."""
    where = build_protected_resource_metadata_discovery_urls(None, url)[0]
    async with httpx2.AsyncClient(trust_env=False) as client:
        metadata = (await client.get(where)).raise_for_status().json()

    async def exchange(audience: str, resource: str) -> str:
        form = {
            "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
            "requested_token_type": "urn:ietf:params:oauth:token-type:id-jag",
            "subject_token": context["idp_id_token"],
            "subject_token_type": "urn:ietf:params:oauth:token-type:id_token",
            "audience": audience,
            "resource": resource,
            "client_id": context["idp_client_id"],
        }
        async with httpx2.AsyncClient(trust_env=False) as client:
            answer = await client.post(context["idp_token_endpoint"], data=form)
        return str(answer.raise_for_status().json()["access_token"])

    return IdentityAssertionOAuthProvider(
        server_url=url,
        storage=Memory(),
        client_id=context["client_id"],
        client_secret=context["client_secret"],
        issuer=metadata["authorization_servers"][0],
        assertion_provider=exchange,
        token_endpoint_auth_method="client_secret_basic",
    )


async def _authorization_code(url: str, context: dict[str, Any]) -> httpx2.Auth:
    storage, browser = Memory(), Browser()
    if "client_id" in context:
        secret = context.get("client_secret")
        await storage.set_client_info(
            OAuthClientInformationFull(
                client_id=context["client_id"],
                client_secret=secret,
                redirect_uris=[CALLBACK],
                token_endpoint_auth_method="client_secret_basic" if secret else "none",
            )
        )
    return OAuthClientProvider(
        server_url=url,
        client_metadata=OAuthClientMetadata(
            client_name="toolcrib-conformance",
            redirect_uris=[CALLBACK],
            grant_types=["authorization_code", "refresh_token"],
            response_types=["code"],
        ),
        storage=storage,
        redirect_handler=browser.visit,
        callback_handler=browser.come_back,
        client_metadata_url=CLIENT_METADATA,
    )
