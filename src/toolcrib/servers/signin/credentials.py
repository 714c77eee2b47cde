"""What a sign-in leaves behind, kept among the secrets and bound to the server and to who issued it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

EARLY = 30.0
"""Seconds before its end at which a token counts as used up."""


class Credentials(BaseModel):
    """Tokens, and all that is needed to get new ones without asking anybody where."""

    model_config = ConfigDict(frozen=True)

    url: str
    """The server they are for; another address gets nothing of them."""
    issuer: str
    """Who issued them; nobody else is ever shown the refresh token."""
    token_endpoint: str
    client_id: str
    client_secret: str | None = Field(default=None, repr=False)
    client_auth: str | None = None
    """How the client proves who it is there: none, client_secret_post, client_secret_basic."""
    redirect_uri: str = ""
    registered: str = Field(default="{}", repr=False)
    """The client's registration as JSON, for the next sign-in."""
    access_token: str = Field(repr=False)
    refresh_token: str | None = Field(default=None, repr=False)
    expires_at: float | None = None
    scope: str | None = None
    resource: str | None = None

    def fresh(self, now: float | None = None) -> bool:
        """Whether the access token can be used as it is."""
        return self.expires_at is None or (time.time() if now is None else now) < self.expires_at - EARLY

    def fits(self, url: str) -> bool:
        """Whether they were issued for this address."""
        return _place(self.url) == _place(url)


class Secrets(Protocol):
    """Where secrets lie."""

    def get(self, name: str) -> str | None:
        """The secret of this name."""

    def set(self, name: str, value: str) -> object:
        """Store it."""

    def delete(self, name: str) -> None:
        """Forget it; raises when there is none."""

    def names(self) -> tuple[str, ...]:
        """All there are."""


class CredentialStore:
    """The credentials by server. A call may wait for a keyring: in an event loop, use a thread."""

    def __init__(
        self, secrets: Secrets, learn: Callable[[frozenset[str]], None] = lambda values: None
    ) -> None:
        self._secrets = secrets
        self._learn = learn

    def load(self, server: str) -> Credentials | None:
        """What was kept of the last sign-in; None when there was none, or it cannot be read."""
        if _name(server) not in self._secrets.names():
            return None
        text = self._secrets.get(_name(server))
        try:
            found = Credentials.model_validate_json(text or "")
        except ValidationError:
            return None
        self._learn(_private(found))
        return found

    def save(self, server: str, credentials: Credentials) -> None:
        """Keep them in place of earlier ones."""
        self._learn(_private(credentials))
        self._secrets.set(_name(server), credentials.model_dump_json())

    def forget(self, server: str) -> bool:
        """Drop them; False when there were none."""
        if _name(server) not in self._secrets.names():
            return False
        self._secrets.delete(_name(server))
        return True


def _name(server: str) -> str:
    return f"oauth.{server}"[:100]


def _private(credentials: Credentials) -> frozenset[str]:
    values = (credentials.access_token, credentials.refresh_token, credentials.client_secret)
    return frozenset(value for value in values if value)


def _place(url: str) -> tuple[str, str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.lower(), parts.path.rstrip("/")
