"""What a Google account keeps as its secret: the OAuth client and the tokens, as one JSON document. Decides
how early an access token is refreshed.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from toolcrib.errors import MissingSecret

EARLY = 60.0
"""Seconds before its expiry at which an access token is refreshed."""


@dataclass(frozen=True, kw_only=True)
class GoogleCredentials:
    client_id: str
    client_secret: str = field(default="", repr=False)
    refresh_token: str = field(default="", repr=False)
    access_token: str = field(default="", repr=False)
    expires_at: float = 0.0
    """Seconds since 1970."""
    scope: str = ""
    """The granted scopes, separated by spaces."""

    @classmethod
    def from_secret(cls, secret: str, account: str) -> GoogleCredentials:
        """Raises `MissingSecret` if it is not such a document."""
        try:
            data = json.loads(secret)
            return cls(**{member.name: data[member.name] for member in fields(cls) if member.name in data})
        except (ValueError, TypeError, KeyError):
            raise MissingSecret(
                f"The stored sign-in of the account {account} is damaged.",
                hint=f"Sign in again: toolcrib account add google {account} --replace",
            ) from None

    def to_secret(self) -> str:
        return json.dumps(asdict(self))

    def fresh(self) -> bool:
        """Whether the access token can be used."""
        return bool(self.access_token) and time.time() < self.expires_at - EARLY

    def renewed(self, answer: dict[str, Any]) -> GoogleCredentials:
        """With the tokens of a token endpoint's answer; a refresh token is kept unless a new one came."""
        return replace(
            self,
            access_token=str(answer["access_token"]),
            refresh_token=str(answer.get("refresh_token") or self.refresh_token),
            expires_at=time.time() + float(answer.get("expires_in") or 3600),
            scope=str(answer.get("scope") or self.scope),
        )
