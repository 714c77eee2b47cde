"""The system's keyring behind a deadline: it answers in time, or counts as not there. Decides the seconds to
wait until the user has unlocked it.

Some backends wait for a desktop that is not there. Each request runs in a thread of its own that is not
joined at exit; after the first timeout, no more requests are made in this process.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from toolcrib.errors import ToolcribError

T = TypeVar("T")

logger = logging.getLogger(__name__)

SERVICE = "toolcrib"
PATIENCE = 15.0
"""Seconds; long enough for the user to unlock the keyring."""


class KeychainUnavailable(ToolcribError):
    """There is no keyring, or it failed or did not answer; never says more, lest it say a secret."""

    def __init__(self) -> None:
        super().__init__("The system keyring cannot be used.", hint="Unlock it, or keep secrets in the file.")


class Keychain:
    """Reads and writes passwords of the service "toolcrib"."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._hung = False

    def is_usable(self) -> bool:
        """Whether there is a keyring; it may still refuse a password."""

        def look() -> bool:
            import keyring

            return keyring.get_keyring().priority > 0

        with contextlib.suppress(KeychainUnavailable):
            return self._ask(look)
        return False

    def get(self, account: str) -> str | None:
        """The password, or None; raises `KeychainUnavailable`."""

        def read() -> str | None:
            import keyring

            return keyring.get_password(SERVICE, account)

        return self._ask(read)

    def set(self, account: str, value: str) -> None:
        """Store a password and see that it is there; raises `KeychainUnavailable`."""

        def write() -> bool:
            import keyring

            keyring.set_password(SERVICE, account, value)
            # A keyring that is switched off (`keyring.backends.null`) takes everything and keeps nothing.
            return keyring.get_password(SERVICE, account) == value

        if not self._ask(write):
            raise KeychainUnavailable

    def delete(self, account: str) -> None:
        """Remove a password; one that is not there is no matter. Raises `KeychainUnavailable`."""

        def remove() -> None:
            import keyring
            import keyring.errors

            try:
                keyring.delete_password(SERVICE, account)
            except keyring.errors.PasswordDeleteError:
                if keyring.get_password(SERVICE, account) is not None:
                    raise

        self._ask(remove)

    def _ask(self, request: Callable[[], T]) -> T:
        if self._hung:
            raise KeychainUnavailable
        asked = _Asked(request)
        asked.start()
        asked.join(self._patience)
        if asked.is_alive():
            self._hung = True
            logger.warning("The system keyring does not respond; it is no longer used in this process.")
            raise KeychainUnavailable
        if not asked.answers:
            raise KeychainUnavailable
        return asked.answers[0]


class _Asked(threading.Thread, Generic[T]):
    """One request on its way; `answers` is empty when it failed."""

    def __init__(self, request: Callable[[], T]) -> None:
        super().__init__(name="toolcrib-keyring", daemon=True)
        self._request = request
        self.answers: list[T] = []

    def run(self) -> None:
        try:
            self.answers.append(self._request())
        except Exception as error:  # noqa: BLE001 - the edge to backends that anyone may install
            # The kind alone: a message or a traceback might hold the secret.
            logger.debug("The system keyring cannot be used: %s.", type(error).__name__)
