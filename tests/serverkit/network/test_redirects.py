"""Every redirect is checked like the first URL, and carries nothing to a host that it was not meant for."""

from __future__ import annotations

import logging
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest

from tests.serverkit.network.names import names, on_loopback
from tests.servers.remote.certificate import make_certificate
from tests.servers.remote.scripted import Call, Reply, Scripted, scripted
from toolcrib.serverkit.network import FetchFailed, FetchLimits, NetworkRefused, fetch, open_client

SECRETS = {"Authorization": "Bearer secret", "Cookie": "session=secret", "X-Api-Key": "secret"}
HARMLESS = {
    "Accept": "text/html",
    "Accept-Language": "de",
    "User-Agent": "reader",
    "Sec-Fetch-Mode": "navigate",
}
POLICY = on_loopback(names(one_test="127.0.0.1", two_test="127.0.0.1", private_test="10.0.0.1"))


async def answer(call: Call, reply: Reply) -> None:
    await reply.send(200, b"%s %s" % (call.method.encode(), call.body))


@asynccontextmanager
async def redirecting(
    location: str, status: int = 302, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Scripted]:
    """A server that redirects /start, and answers everything else."""

    async def handler(call: Call, reply: Reply) -> None:
        if call.target == "/start":
            await reply.raw(
                f"HTTP/1.1 {status} X\r\ncontent-length: 0\r\nlocation: {location}\r\n\r\n".encode("latin-1")
            )
        else:
            await answer(call, reply)

    async with scripted(handler, tls=tls) as server:
        yield server


@pytest.mark.parametrize(
    "location",
    [
        "http://10.0.0.1/",
        "http://169.254.169.254/latest/",
        "http://[::ffff:a9fe:a9fe]/",
        "http://private.test/",
        "//private.test/",
        "http://2130706433/",
        "http://good@one.test/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "data:text/plain,x",
        "http:\\\\127.0.0.1\\",
        "http://[broken",
        "http://one.test:99999/",
    ],
)
async def test_a_redirect_to_a_forbidden_place_is_not_followed(location: str) -> None:
    async with redirecting(location) as server:
        with pytest.raises(NetworkRefused):
            await fetch(f"http://127.0.0.1:{server.port}/start", POLICY)

    assert len(server.calls) == 1


@pytest.mark.parametrize("location", ["javascript:alert(1)", "http:\\\\127.0.0.1\\", "http:", "\x7f"])
async def test_the_client_reports_an_invalid_redirect_as_an_error_of_http(location: str) -> None:
    async with redirecting(location) as server, open_client(POLICY) as client:
        with pytest.raises(httpx2.HTTPError):
            await client.get(f"http://127.0.0.1:{server.port}/start")


async def test_the_client_returns_a_redirect_and_does_not_follow_it() -> None:
    async with redirecting("http://private.test/") as server, open_client(POLICY) as client:
        assert (await client.get(f"http://127.0.0.1:{server.port}/start")).status_code == 302


async def test_redirects_within_a_site_are_followed_and_reported() -> None:
    async with redirecting("next?page=1") as server:
        fetched = await fetch(f"http://127.0.0.1:{server.port}/start", POLICY)

    assert fetched.url == f"http://127.0.0.1:{server.port}/next?page=1"
    assert fetched.redirects == (f"http://127.0.0.1:{server.port}/start",)


async def test_a_redirect_loop_ends() -> None:
    async def circle(call: Call, reply: Reply) -> None:
        await reply.send(302, location="/start")

    async with scripted(circle) as server:
        with pytest.raises(FetchFailed, match="redirects more than 5 times"):
            await fetch(f"http://127.0.0.1:{server.port}/start", POLICY)

    assert len(server.calls) == 6


async def test_thirty_redirects_are_too_many() -> None:
    async def onward(call: Call, reply: Reply) -> None:
        await reply.send(307, location=f"/{int(call.target[1:]) + 1}")

    async with scripted(onward) as server:
        with pytest.raises(FetchFailed, match="redirects more than 5 times"):
            await fetch(f"http://127.0.0.1:{server.port}/0", POLICY)


async def test_within_an_origin_headers_stay() -> None:
    async with redirecting("/next") as server:
        await fetch(f"http://127.0.0.1:{server.port}/start", POLICY, headers=SECRETS)

    assert server.calls[1].headers["authorization"] == "Bearer secret"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_another_origin_gets_no_credentials(status: int) -> None:
    async with scripted(answer) as other, redirecting(f"http://two.test:{other.port}/", status) as server:
        await fetch(f"http://one.test:{server.port}/start", POLICY, headers=SECRETS | HARMLESS)

    received = other.calls[0].headers
    assert "secret" not in str(received)
    assert {name: received[name.lower()] for name in HARMLESS} == HARMLESS
    assert server.calls[0].headers["x-api-key"] == "secret"


async def test_another_port_is_another_origin() -> None:
    async with scripted(answer) as other, redirecting(f"http://127.0.0.1:{other.port}/") as server:
        await fetch(f"http://127.0.0.1:{server.port}/start", POLICY, headers=SECRETS)

    assert "secret" not in str(other.calls[0].headers)


async def test_a_site_that_checks_for_cookies_gets_its_own_back() -> None:
    async def handler(call: Call, reply: Reply) -> None:
        if "seen=yes" in call.headers.get("cookie", ""):
            await reply.send(200, b"welcome")
        else:
            await reply.send(302, location="/", set_cookie="seen=yes; Path=/")

    async with scripted(handler) as server:
        fetched = await fetch(f"http://127.0.0.1:{server.port}/", POLICY)

    assert fetched.content == b"welcome"


async def test_cookies_of_one_host_are_not_sent_to_another() -> None:
    async with scripted(answer) as other:

        async def handler(call: Call, reply: Reply) -> None:
            await reply.send(302, location=f"http://two.test:{other.port}/", set_cookie="id=secret; Path=/")

        async with scripted(handler) as server:
            await fetch(f"http://one.test:{server.port}/", POLICY)

    assert "cookie" not in other.calls[0].headers


async def test_credentials_are_not_sent_on_without_encryption(tmp_path: Path) -> None:
    server_tls, trusted = make_certificate(tmp_path)
    tls = ssl.create_default_context(cafile=str(trusted))
    async with (
        scripted(answer) as plain,
        redirecting(f"http://127.0.0.1:{plain.port}/", tls=server_tls) as server,
    ):
        url = f"https://127.0.0.1:{server.port}/start"
        with pytest.raises(NetworkRefused, match="redirects a request with credentials"):
            await fetch(url, POLICY, headers=SECRETS, tls=tls)
        assert plain.calls == []
        assert (await fetch(url, POLICY, headers=HARMLESS, tls=tls)).status == 200


async def test_a_policy_of_https_alone_holds_for_every_redirect(tmp_path: Path) -> None:
    server_tls, trusted = make_certificate(tmp_path)
    tls = ssl.create_default_context(cafile=str(trusted))
    policy = on_loopback(schemes=frozenset({"https"}))
    async with (
        scripted(answer) as plain,
        redirecting(f"http://127.0.0.1:{plain.port}/", tls=server_tls) as server,
    ):
        for url in (f"https://127.0.0.1:{server.port}/start", f"http://127.0.0.1:{plain.port}/"):
            with pytest.raises(NetworkRefused, match="http URLs are not allowed, only https"):
                await fetch(url, policy, tls=tls)

    assert plain.calls == []


@pytest.mark.parametrize(
    ("status", "expected"), [(301, b"GET "), (302, b"GET "), (303, b"GET "), (307, b"POST data")]
)
async def test_a_post_is_redirected_as_browsers_do(status: int, expected: bytes) -> None:
    async with redirecting("/next", status) as server:
        fetched = await fetch(f"http://127.0.0.1:{server.port}/start", POLICY, method="POST", content=b"data")

    assert fetched.content == expected


async def test_sent_data_does_not_go_to_another_origin() -> None:
    async with scripted(answer) as other, redirecting(f"http://127.0.0.1:{other.port}/", 308) as server:
        with pytest.raises(NetworkRefused, match="redirects the sent data"):
            await fetch(
                f"http://127.0.0.1:{server.port}/start", POLICY, method="POST", content=b"token=secret"
            )

    assert other.calls == []


async def test_a_redirect_without_a_location_is_the_answer() -> None:
    async def handler(call: Call, reply: Reply) -> None:
        await reply.send(302, b"nowhere")

    async with scripted(handler) as server:
        fetched = await fetch(f"http://127.0.0.1:{server.port}/", POLICY)

    assert (fetched.status, fetched.content) == (302, b"nowhere")


async def test_a_limit_of_zero_allows_no_redirect() -> None:
    async with redirecting("/next") as server:
        with pytest.raises(FetchFailed, match="more than 0 times"):
            await fetch(f"http://127.0.0.1:{server.port}/start", POLICY, limits=FetchLimits(redirects=0))


@pytest.mark.parametrize(
    "location", ["http://x\x1b[2J.test/", "http://x.test/\x07\x9b31m", "/\u00fc\u0085next"]
)
async def test_control_characters_of_a_location_reach_neither_errors_nor_logs(
    location: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with redirecting(location) as server:
        try:
            result = (await fetch(f"http://127.0.0.1:{server.port}/start", POLICY)).url
        except (NetworkRefused, FetchFailed) as error:
            result = f"{error.message} {error.hint}"

    assert result.isprintable()
    assert all(line.isprintable() for record in caplog.records for line in record.getMessage().splitlines())


async def test_a_location_cannot_add_a_header() -> None:
    async with redirecting("/next\r\nSet-Cookie: id=planted") as server:
        fetched = await fetch(f"http://127.0.0.1:{server.port}/start", POLICY)

    assert fetched.url == f"http://127.0.0.1:{server.port}/next"
    assert "set-cookie" not in server.calls[1].headers
