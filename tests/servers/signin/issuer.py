"""An authorization server and an MCP server behind it, each on a port of its own, made of the SDK's parts."""

from __future__ import annotations

import asyncio
import secrets
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import httpx2
from mcp.server import MCPServer
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    TokenError,
    TokenVerifier,
)
from mcp.server.auth.routes import create_auth_routes
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from tests.asgi_server import serving

DEADLINE = 60.0


@dataclass
class Issuer(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken], TokenVerifier):
    """Registers anybody, agrees at once, rotates refresh tokens, and notes what it was asked."""

    url: str = ""
    lifetime: int = 3600
    clients: dict[str, OAuthClientInformationFull] = field(default_factory=dict)
    codes: dict[str, AuthorizationCode] = field(default_factory=dict)
    access: dict[str, AccessToken] = field(default_factory=dict)
    refresh: dict[str, RefreshToken] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self.asked.append("register")
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        self.asked.append("authorize")
        code = AuthorizationCode(
            code=secrets.token_urlsafe(24),
            scopes=params.scopes or ["tools"],
            expires_at=time.time() + 60,
            client_id=client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        self.codes[code.code] = code
        query = {"code": code.code, "iss": self.url, **({"state": params.state} if params.state else {})}
        return f"{params.redirect_uri}?{urlencode(query)}"

    async def load_authorization_code(self, client: Any, authorization_code: str) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: Any, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        self.asked.append("exchange")
        del self.codes[authorization_code.code]
        return self._issue(client.client_id, authorization_code.scopes, authorization_code.resource)

    async def load_refresh_token(self, client: Any, refresh_token: str) -> RefreshToken | None:
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(
        self, client: Any, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        self.asked.append("renew")
        if self.refresh.pop(refresh_token.token, None) is None:
            raise TokenError("invalid_grant")
        return self._issue(client.client_id, refresh_token.scopes, refresh_token.resource)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def verify_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def revoke_token(self, token: Any) -> None:
        self.access.pop(token.token, None)

    def _issue(self, client: str, scopes: list[str], resource: str | None) -> OAuthToken:
        token, again = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        self.access[token] = AccessToken(token=token, client_id=client, scopes=scopes, resource=resource)
        self.refresh[again] = RefreshToken(token=again, client_id=client, scopes=scopes, resource=resource)
        return OAuthToken(
            access_token=token,
            refresh_token=again,
            expires_in=self.lifetime,
            scope=" ".join(scopes),
        )


@dataclass
class Scene:
    """The issuer and the server, both running."""

    issuer: Issuer
    url: str
    """Of the MCP server."""
    _pages: list[asyncio.Future[None]] = field(default_factory=list)

    async def agree_soon(self, address: str, issuer: str = "") -> None:
        """The person's browser opens beside whatever waits for it."""
        self._pages.append(asyncio.ensure_future(self.agree(address)))

    async def agree(self, address: str) -> None:
        """A person who opens the page and agrees: the browser follows the redirects to our port."""
        async with httpx2.AsyncClient(trust_env=False, follow_redirects=True, timeout=DEADLINE) as browser:
            (await browser.get(address)).raise_for_status()


def listening_socket() -> tuple[socket.socket, str]:
    found = socket.create_server(("127.0.0.1", 0))
    return found, f"http://127.0.0.1:{found.getsockname()[1]}"


@asynccontextmanager
async def signed_scene(overrides: dict[str, Any] | None = None, lifetime: int = 3600) -> AsyncIterator[Scene]:
    """Both servers; `overrides` replaces parts of the issuer's metadata."""
    issuer_socket, issuer_url = listening_socket()
    server_socket, server_url = listening_socket()
    issuer = Issuer(url=issuer_url, lifetime=lifetime)
    options = ClientRegistrationOptions(enabled=True, valid_scopes=["tools"], default_scopes=["tools"])
    resource = f"{server_url}/mcp"
    settings = AuthSettings.model_validate(
        {
            "issuer_url": issuer_url,
            "resource_server_url": resource,
            "required_scopes": ["tools"],
            "validate_token_resource": True,
        }
    )
    routes = create_auth_routes(issuer, settings.issuer_url, client_registration_options=options)
    if overrides:
        routes.insert(0, _other_metadata(issuer_url, overrides))
    server = MCPServer("guarded", token_verifier=issuer, auth=settings)

    @server.tool()
    def whisper(text: str) -> str:
        """Say it again."""
        return text

    async with (
        serving(Starlette(routes=routes), issuer_socket),
        serving(server.streamable_http_app(), server_socket, lifespan=True),
    ):
        yield Scene(issuer, resource)


def _other_metadata(issuer_url: str, overrides: dict[str, Any]) -> Route:
    async def answer(request: Request) -> JSONResponse:
        metadata = {
            "issuer": issuer_url,
            "authorization_endpoint": f"{issuer_url}/authorize",
            "token_endpoint": f"{issuer_url}/token",
            "registration_endpoint": f"{issuer_url}/register",
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
        }
        return JSONResponse(metadata | overrides)

    return Route("/.well-known/oauth-authorization-server", answer)
