"""A small Google on a loopback port: OAuth for installed apps, Gmail's profile, and the list of calendars.

It checks what Google checks (client, redirect, PKCE, single-use codes, scopes) and can be made to expire,
rotate and revoke tokens, to limit requests, to fail, and to drop connections.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2

from toolcrib.accounts.account import Account
from toolcrib.accounts.google.credentials import GoogleCredentials
from toolcrib.features.accounts.google_sign_in import challenge

CLIENT_ID = "123-abc.apps.googleusercontent.com"
CLIENT_SECRET = "GOCSPX-client-secret"
USER = "ada@example.com"
DEADLINE = 30.0


@dataclass
class Answer:
    """A response; without one, the connection is dropped."""

    status: int
    body: Any = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Grant:
    scope: str
    refresh_token: str = field(default_factory=lambda: f"refresh-{secrets.token_hex(8)}")
    revoked: bool = False


@dataclass
class Issued:
    grant: Grant
    expires_at: float


@dataclass
class GoogleService:
    url: str = ""
    lifetime: float = 3600.0
    rotates: bool = False
    granted: str | None = None
    """The scopes that the user allows; None for all that are wanted."""
    iss: str | None = None
    denied: str = ""
    """The `error` of a user who does not agree."""
    grants: list[Grant] = field(default_factory=list)
    tokens: dict[str, Issued] = field(default_factory=dict)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    planned: list[Answer | None] = field(default_factory=list)
    """What the next requests of the API get instead of an answer; None drops the connection."""
    planned_tokens: list[Answer | None] = field(default_factory=list)
    """The same for the token endpoint."""
    asked: list[tuple[str, str]] = field(default_factory=list)
    """Method and path of every request."""
    bodies: list[bytes] = field(default_factory=list)

    # What a test uses

    def client_file(self, **more: str) -> str:
        """As the Google Cloud console offers it, with the endpoints of this service."""
        uris = {
            "auth_uri": f"{self.url}/o/oauth2/v2/auth",
            "token_uri": f"{self.url}/token",
            "revoke_uri": f"{self.url}/revoke",
            "api": self.url,
        }
        return json.dumps(
            {"installed": {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET, **uris, **more}}
        )

    def account(self, name: str = "work", **settings: str) -> Account:
        """An account with this service's endpoints; `credentials` gives its secret."""
        uris = json.loads(self.client_file())["installed"]
        endpoints = {key: uris[key] for key in ("auth_uri", "token_uri", "revoke_uri", "api")}
        return Account(name=name, provider="google", user=USER, settings={**endpoints, **settings})

    def credentials(self, *, access_token: str = "", expires_at: float = 0.0) -> GoogleCredentials:
        """Of a user who signed in earlier."""
        grant = Grant(scope="https://www.googleapis.com/auth/gmail.modify")
        self.grants.append(grant)
        return GoogleCredentials(
            client_id=CLIENT_ID,
            client_secret=CLIENT_SECRET,
            refresh_token=grant.refresh_token,
            access_token=access_token,
            expires_at=expires_at,
            scope=grant.scope,
        )

    def revoke_everything(self) -> None:
        for grant in self.grants:
            grant.revoked = True

    def expire_access_tokens(self) -> None:
        for issued in self.tokens.values():
            issued.expires_at = 0.0

    def count(self, path: str) -> int:
        return sum(asked == path for _, asked in self.asked)

    async def agree(self, address: str) -> httpx2.Response:
        """The user's browser: opens Google's page, agrees, and follows the redirect to our port."""
        async with httpx2.AsyncClient(trust_env=False, follow_redirects=True, timeout=DEADLINE) as browser:
            return await browser.get(address)

    # The service

    def answer(self, method: str, target: str, headers: dict[str, str], body: bytes) -> Answer | None:
        path, query = urlsplit(target).path, _single(urlsplit(target).query)
        self.asked.append((method, path))
        self.bodies.append(body)
        if path == "/o/oauth2/v2/auth":
            return self._authorize(query)
        if path == "/token":
            return self.planned_tokens.pop(0) if self.planned_tokens else self._token(_single(body.decode()))
        if path == "/revoke":
            return self._revoke(_single(body.decode()))
        if self.planned:
            return self.planned.pop(0)
        return self._api(path, headers.get("authorization", ""))

    def _authorize(self, query: dict[str, str]) -> Answer:
        needed = {"client_id", "redirect_uri", "scope", "state", "code_challenge"}
        redirect = urlsplit(query.get("redirect_uri", ""))
        if needed - query.keys() or query["client_id"] != CLIENT_ID or redirect.hostname != "127.0.0.1":
            return Answer(400, {"error": "invalid_request"})
        back = {"state": query["state"], **({"iss": self.iss} if self.iss is not None else {})}
        if self.denied:
            back["error"] = self.denied
        else:
            back["code"] = code = secrets.token_urlsafe(16)
            self.codes[code] = query
        return Answer(302, headers={"Location": f"{query['redirect_uri']}?{urlencode(back)}"})

    def _token(self, form: dict[str, str]) -> Answer:
        if (form.get("client_id"), form.get("client_secret")) != (CLIENT_ID, CLIENT_SECRET):
            return Answer(401, {"error": "invalid_client", "error_description": "Unauthorized"})
        if form["grant_type"] == "refresh_token":
            return self._refreshed(form["refresh_token"])
        asked = self.codes.pop(form["code"], None)
        if asked is None or asked["redirect_uri"] != form["redirect_uri"]:
            return Answer(400, {"error": "invalid_grant", "error_description": "Bad Request"})
        proven = challenge(form["code_verifier"]) == asked["code_challenge"]
        if asked["code_challenge_method"] != "S256" or not proven:
            return Answer(400, {"error": "invalid_grant", "error_description": "Invalid code verifier."})
        grant = Grant(scope=asked["scope"] if self.granted is None else self.granted)
        self.grants.append(grant)
        offline = asked.get("access_type") == "offline" and asked.get("prompt") == "consent"
        return self._issue(grant, with_refresh=offline)

    def _refreshed(self, token: str) -> Answer:
        grant = next((each for each in self.grants if each.refresh_token == token), None)
        if grant is None or grant.revoked:
            said = "Token has been expired or revoked."
            return Answer(400, {"error": "invalid_grant", "error_description": said})
        if self.rotates:
            grant.refresh_token = f"refresh-{secrets.token_hex(8)}"
        return self._issue(grant, with_refresh=self.rotates)

    def _issue(self, grant: Grant, *, with_refresh: bool) -> Answer:
        token = f"access-{secrets.token_hex(8)}"
        self.tokens[token] = Issued(grant, time.time() + self.lifetime)
        body = {
            "access_token": token,
            "expires_in": self.lifetime,
            "scope": grant.scope,
            "token_type": "Bearer",
        }
        return Answer(200, body | ({"refresh_token": grant.refresh_token} if with_refresh else {}))

    def _revoke(self, form: dict[str, str]) -> Answer:
        for grant in self.grants:
            if grant.refresh_token == form.get("token") and not grant.revoked:
                grant.revoked = True
                return Answer(200)
        return Answer(400, {"error": "invalid_token"})

    def _api(self, path: str, authorization: str) -> Answer:
        issued = self.tokens.get(authorization.removeprefix("Bearer "))
        if issued is None or issued.expires_at < time.time() or issued.grant.revoked:
            return Answer(401, {"error": {"code": 401, "message": "Invalid Credentials"}})
        if path == "/gmail/v1/users/me/profile":
            return Answer(200, {"emailAddress": USER, "messagesTotal": 3, "threadsTotal": 2})
        if path == "/calendar/v3/users/me/calendarList":
            return Answer(200, {"items": [{"id": USER, "primary": True}, {"id": "team"}]})
        if path == "/gmail/v1/users/me/messages/send":
            return Answer(200, {"id": "m1", "threadId": "t1"})
        return Answer(404, {"error": {"code": 404, "message": "Requested entity was not found."}})


@asynccontextmanager
async def google_service(service: GoogleService | None = None) -> AsyncIterator[GoogleService]:
    """Runs while the block runs."""
    service = service or GoogleService()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                method, target, headers = _parse(head)
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                answer = service.answer(method, target, headers, body)
                if answer is None:
                    break
                writer.write(_encode(answer))
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        service.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield service
        server.close()


def _parse(head: bytes) -> tuple[str, str, dict[str, str]]:
    first, *rest = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ")
    pairs = (line.split(": ", 1) for line in rest if line)
    return method, target, {name.lower(): value for name, value in pairs}


def _encode(answer: Answer) -> bytes:
    body = json.dumps(answer.body).encode()
    headers = {"Content-Type": "application/json", **answer.headers, "Content-Length": str(len(body))}
    lines = [f"HTTP/1.1 {answer.status} Status", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode() + body


def _single(query: str) -> dict[str, str]:
    return {key: values[0] for key, values in parse_qs(query).items()}
