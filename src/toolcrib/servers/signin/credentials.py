"""What a sign-in leaves behind, bound to the server and to who issued it."""

from __future__ import annotations

import time
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field

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


def _place(url: str) -> tuple[str, str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.lower(), parts.path.rstrip("/")
