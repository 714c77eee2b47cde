"""Stores sign-in credentials among the secrets, as `oauth.<server>`; their model is imported only if there
are any.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolcrib.config.secrets import SecretStore
    from toolcrib.servers.signin.credentials import Credentials


class CredentialStore:
    """Credentials by server. Calls may wait for a keyring: use a thread in an event loop."""

    def __init__(
        self, secrets: SecretStore, learn: Callable[[frozenset[str]], None] = lambda values: None
    ) -> None:
        self._secrets = secrets
        self._learn = learn

    def load(self, server: str) -> Credentials | None:
        """The stored credentials; None if missing or invalid."""
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
        """Replace the stored credentials."""
        self._learn(_private(credentials))
        self._secrets.set(_name(server), credentials.model_dump_json())

    def forget(self, server: str) -> bool:
        """Delete the credentials; False if there were none."""
        if _name(server) not in self._secrets.names():
            return False
        self._secrets.delete(_name(server))
        return True


def _name(server: str) -> str:
    return f"oauth.{server}"[:100]


def _private(credentials: Credentials) -> frozenset[str]:
    values = (credentials.access_token, credentials.refresh_token, credentials.client_secret)
    return frozenset(value for value in values if value)
