"""Keeps what sign-ins leave behind among the secrets; how it looks is loaded once there is some."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from toolcrib.servers.signin.credentials import Credentials


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
        from pydantic import ValidationError

        from toolcrib.servers.signin.credentials import Credentials

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
