"""The key of a shared database, with which its hosts sign what they decide and start: its form, the variable
that gives it to a container, and the errors for a key that is invalid or cannot be read.

Each host keeps it among its secrets. The database has only its fingerprint, so that someone who can write to
the database cannot decide in the name of a host.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolcrib.errors import MissingSecret, UsageError

if TYPE_CHECKING:
    from toolcrib.config.secrets import SecretStore

SECRET = "database-key"  # noqa: S105 - its name
VARIABLE = "TOOLCRIB_DATABASE_KEY"
"""Gives the key to a host that has no secrets of its own, as in a container."""
_MARK = "tckey_"
"""Lets secret scanners recognise a key."""
_KEY = re.compile(rf"{_MARK}[0-9a-f]{{64}}")


@dataclass(frozen=True)
class Signer:
    """Signs and checks values with one key."""

    key: bytes = field(repr=False)

    @classmethod
    def new(cls) -> Signer:
        return cls(secrets.token_bytes(32))

    @classmethod
    def read(cls, text: str) -> Signer:
        """The signer of a key as `toolcrib database key` shows it; raises `UsageError`."""
        if _KEY.fullmatch(text.strip()) is None:
            raise UsageError(
                "This is not a database key.",
                hint=f"It begins with {_MARK}; show it on another machine with: toolcrib database key",
            )
        return cls(bytes.fromhex(text.strip().removeprefix(_MARK)))

    @property
    def text(self) -> str:
        return f"{_MARK}{self.key.hex()}"

    @property
    def fingerprint(self) -> str:
        """Identifies the key without giving it away."""
        return self.derived("fingerprint").hex()[:32]

    def derived(self, purpose: str) -> bytes:
        """A key for one purpose."""
        return hmac.digest(self.key, purpose.encode(), hashlib.sha256)

    def sign(self, purpose: str, *values: object) -> str:
        """The signature of values of JSON; equal values of another purpose have another one."""
        # PostgreSQL stores no null characters, and its connection replaces them.
        text = json.dumps([purpose, *values]).replace("\\u0000", "\\ufffd")
        return hmac.digest(self.derived("signatures"), text.encode(), hashlib.sha256).hex()

    def fits(self, signature: str, purpose: str, *values: object) -> bool:
        return hmac.compare_digest(signature.encode(), self.sign(purpose, *values).encode())


def stored_signer(secrets: SecretStore, environ: Mapping[str, str]) -> Signer | None:
    """The signer of the key that this host was given, if it was."""
    if given := environ.get(VARIABLE):
        return Signer.read(given)
    try:
        stored = secrets.get(SECRET)
    except MissingSecret as error:
        raise MissingSecret(
            "The database key is in the system keyring, which did not return it.",
            hint="Unlock the keyring, or store it again with: toolcrib settings set database URL",
        ) from error
    return None if stored is None else Signer.read(stored)
