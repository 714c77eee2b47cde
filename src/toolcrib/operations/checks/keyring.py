"""The system keyring, where secrets are stored: whether it responds in time, or which file is used
instead."""

from __future__ import annotations

import asyncio

from toolcrib.config.keychain import Keychain, KeychainUnavailable
from toolcrib.config.secrets import KEYRING_VARIABLE
from toolcrib.operations.health import CheckContext, CheckResult, ok, warning

TIMEOUT = 5.0


async def check(context: CheckContext) -> list[CheckResult]:
    """Check that the system keyring responds; without one, secrets are stored in a file with mode 0600."""
    file = context.paths.secrets_file
    if context.environ.get(KEYRING_VARIABLE, "").strip().lower() in ("off", "0", "false", "no"):
        return [ok("keyring", f"Turned off by {KEYRING_VARIABLE}; secrets are stored in {file}.")]
    try:
        await asyncio.to_thread(Keychain(TIMEOUT).get, "toolcrib-doctor")
    except KeychainUnavailable:
        hint = f"Set {KEYRING_VARIABLE}=off to silence this warning."
        return [warning("keyring", f"No keyring responds; secrets are stored in {file}.", hint)]
    return [ok("keyring", "The system keyring responds.")]
