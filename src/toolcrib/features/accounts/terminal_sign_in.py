"""Waits on the terminal while the user signs in to an account in the browser."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from toolcrib.cli.browser import can_open, open_address
from toolcrib.cli.output import note
from toolcrib.cli.safe_text import one_line
from toolcrib.errors import AuthRequired, ToolcribError

if TYPE_CHECKING:
    from toolcrib.features.accounts.results import AccountAdded, AccountSignInResult
    from toolcrib.operations.client import Client

POLL = 30.0
"""Seconds that the host holds back its answer while the user signs in."""


async def sign_in(client: Client, params: dict[str, Any], timeout: float, *, browser: bool) -> AccountAdded:
    """Show the page and wait; whatever ends the wait ends the sign-in too."""
    page = await client.account_sign_in(**params)
    note(f"Sign in on this page: {one_line(page['url'])}")
    if browser and can_open() and page["url"].startswith(("https://", "http://")):
        open_address(page["url"])
    try:
        async with asyncio.timeout(timeout):
            result = await _result(client, page["sign_in"])
    except TimeoutError:
        await _cancel(client, page["sign_in"])
        raise AuthRequired(
            f"The sign-in was not completed within {timeout:g} s.", hint="Run the command again."
        ) from None
    except asyncio.CancelledError:
        await _cancel(client, page["sign_in"])
        raise
    if result["account"] is None:
        raise AuthRequired(result["error"], hint=result["hint"])
    user = result["account"]["user"]
    added = result["servers_added"]
    return {"account": result["account"], "servers_added": added, "remarks": [], "identity": user}


async def _result(client: Client, key: str) -> AccountSignInResult:
    while True:
        result = await client.account_sign_in_result(sign_in=key, wait=POLL)
        if result["state"] != "waiting":
            return result


async def _cancel(client: Client, key: str) -> None:
    with suppress(ToolcribError):
        await client.account_sign_in_cancel(sign_in=key)
