"""The port that waits for the redirect of a sign-in answers odd requests, and keeps waiting."""

from __future__ import annotations

import asyncio
import logging
from urllib.parse import urlsplit

import pytest

from toolcrib.serverkit.redirect_listener import listen

DEADLINE = 10.0


async def answer_to(port: int, target: str) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {target} HTTP/1.1\r\n\r\n".encode())
    try:
        return await reader.readline()
    finally:
        writer.close()


@pytest.mark.parametrize("odd", ["http://[", "//[/callback?state=s&code=c", "/callback?" + "a=1&" * 200])
async def test_an_odd_request_is_answered_and_the_sign_in_goes_on(
    odd: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with asyncio.timeout(DEADLINE), listen() as redirect:
        redirect.expect("s")
        port = urlsplit(redirect.redirect_uri).port
        assert port is not None

        with caplog.at_level(logging.ERROR):
            assert (await answer_to(port, odd)).startswith(b"HTTP/1.1 4")
        assert (await answer_to(port, "/callback?state=s&code=c")).startswith(b"HTTP/1.1 200")

        assert (await redirect.answer()).code == "c"
    assert not caplog.records
