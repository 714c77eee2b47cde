"""Where secrets go."""

from __future__ import annotations

import asyncio

from toolcrib.config.keychain import Keychain, KeychainUnavailable
from toolcrib.config.secrets import KEYRING_VARIABLE
from toolcrib.control.findings import Finding, Place, odd, well

PATIENCE = 5.0


async def check(place: Place) -> list[Finding]:
    """Whether the system has a keyring that answers; without one, secrets are kept in a file of mode 0600."""
    file = place.paths.secrets_file
    if place.environ.get(KEYRING_VARIABLE, "").strip().lower() in ("off", "0", "false", "no"):
        return [well("keyring", f"Switched off by {KEYRING_VARIABLE}; secrets are kept in {file}.")]
    try:
        await asyncio.to_thread(Keychain(PATIENCE).get, "toolcrib-doctor")
    except KeychainUnavailable:
        hint = f"Set {KEYRING_VARIABLE}=off to say that this is meant."
        return [odd("keyring", f"There is none that answers; secrets are kept in {file}.", hint)]
    return [well("keyring", "The system keyring answers.")]
