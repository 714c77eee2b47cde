"""The check of an account says so if something else answers in place of the service."""

from __future__ import annotations

import asyncio
import time

import pytest

from tests.servers.remote.scripted import Call, Reply, scripted
from toolcrib.accounts import Account
from toolcrib.accounts.google import GoogleCredentials
from toolcrib.accounts.provider import find_provider
from toolcrib.errors import ToolcribError

DEADLINE = 30.0
ADDRESS = {"google": "api", "discord": "api", "canvas": "url"}
SIGNED_IN = GoogleCredentials(
    client_id="id", access_token="token", refresh_token="more", expires_at=time.time() + 3600
).to_secret()


@pytest.mark.parametrize("provider", ADDRESS)
@pytest.mark.parametrize("body", [b"<html>Welcome to the hotel</html>", b"[1]", b'"text"', b"null"])
async def test_an_answer_of_another_shape_is_an_error_in_plain_words(provider: str, body: bytes) -> None:
    async def handler(call: Call, reply: Reply) -> None:
        await reply.send(200, body, content_type="application/json")

    async with scripted(handler) as server, asyncio.timeout(DEADLINE):
        account = Account(
            name="a", provider=provider, settings={ADDRESS[provider]: f"http://127.0.0.1:{server.port}"}
        )
        with pytest.raises(ToolcribError, match=r"cannot be read|is not"):
            await find_provider(provider).check(account, SIGNED_IN if provider == "google" else "x" * 30)
