"""Whom a remote link talks to: certificates, redirects, proxies, sign-in, and what it never gives away."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import httpx2
import pytest

from tests.servers.remote.certificate import make_certificate
from tests.servers.remote.heard import Heard, modern, result
from tests.servers.remote.scripted import Call, Reply, scripted
from toolcrib.config.sections import InvalidValue
from toolcrib.errors import AuthRequired, ConfigError, RemoteUnreachable
from toolcrib.servers.transports import http

SECRET = {"Authorization": "Bearer secret", "X-Key": "secret"}


async def answer(call: Call, reply: Reply) -> None:
    await reply.result(call, {"target": call.target})


async def test_a_certificate_nobody_vouches_for_is_refused(tmp_path: Path):
    tls, _ = make_certificate(tmp_path)
    async with scripted(answer, tls=tls) as server, Heard().over_http(server.url) as link:
        with pytest.raises(RemoteUnreachable, match=r"No secure connection.*CERTIFICATE_VERIFY_FAILED"):
            await link.send(modern(1))
        assert server.calls == []


async def test_a_certificate_of_ones_own_authority_is_trusted_when_named(tmp_path: Path):
    tls, trusted = make_certificate(tmp_path)
    heard = Heard()
    async with scripted(answer, tls=tls) as server:
        async with heard.over_http(server.url, verify=str(trusted)) as link:
            await link.send(modern(1))
        async with heard.over_http(server.url, verify=False) as link:
            await link.send(modern(2))
    assert [message["id"] for message in heard.messages] == [1, 2]


async def test_a_missing_certificate_file_is_a_matter_of_configuration(tmp_path: Path):
    with pytest.raises(ConfigError, match="is invalid"):
        async with Heard().over_http("https://127.0.0.1:1/mcp", verify=str(tmp_path / "none.pem")):
            pass


async def test_speaking_tls_to_a_plain_server_says_so():
    async def plain(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(plain, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with Heard().over_http(f"https://127.0.0.1:{port}/mcp") as link:
            with pytest.raises(RemoteUnreachable, match="No secure connection"):
                await link.send(modern(1))


async def test_a_redirect_within_the_origin_keeps_method_body_and_headers():
    async def handler(call: Call, reply: Reply) -> None:
        if call.target == "/mcp":
            await reply.send(308, location="/mcp/")
        else:
            await answer(call, reply)

    heard = Heard()
    async with scripted(handler) as server, heard.over_http(server.url, headers=SECRET) as link:
        await link.send(modern(1))
    assert heard.messages == [result(1, {"target": "/mcp/"})]
    assert server.calls[1].headers["authorization"] == "Bearer secret"
    assert server.calls[1].message == server.calls[0].message


async def test_a_redirect_to_another_origin_is_refused_and_nothing_leaks():
    async with scripted(answer) as other:

        async def handler(call: Call, reply: Reply) -> None:
            await reply.send(307, location=f"{other.url}?code=hidden")

        async with scripted(handler) as server, Heard().over_http(server.url, headers=SECRET) as link:
            with pytest.raises(RemoteUnreachable, match=f"redirects to {other.url}, which") as caught:
                await link.send(modern(1))
        assert "hidden" not in caught.value.message
        assert other.calls == []


async def test_a_redirect_from_https_to_http_is_refused(tmp_path: Path):
    tls, trusted = make_certificate(tmp_path)

    async def handler(call: Call, reply: Reply) -> None:
        await reply.send(307, location=f"http://{call.headers['host']}/mcp")

    async with (
        scripted(handler, tls=tls) as server,
        Heard().over_http(server.url, verify=str(trusted)) as link,
    ):
        with pytest.raises(RemoteUnreachable, match="redirects to http:"):
            await link.send(modern(1))
        assert len(server.calls) == 1


@pytest.mark.parametrize("location", ["/elsewhere", "http://[broken", "http://user:pass@127.0.0.1/"])
async def test_a_redirect_that_would_drop_the_message_is_refused(location: str):
    async def handler(call: Call, reply: Reply) -> None:
        await reply.send(302, location=location)

    async with scripted(handler) as server, Heard().over_http(server.url) as link:
        with pytest.raises(RemoteUnreachable):
            await link.send(modern(1))
        assert len(server.calls) == 1


async def test_a_circle_of_redirects_ends():
    async def handler(call: Call, reply: Reply) -> None:
        await reply.send(307, location="/mcp")

    async with scripted(handler) as server, Heard().over_http(server.url) as link:
        with pytest.raises(RemoteUnreachable, match="in a loop"):
            await link.send(modern(1))


async def test_loopback_goes_past_the_proxy(monkeypatch: pytest.MonkeyPatch, unused_tcp_port: int):
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{unused_tcp_port}")
    monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{unused_tcp_port}")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    heard = Heard()
    async with scripted(answer) as server, heard.over_http(server.url) as link:
        await link.send(modern(1))
    assert len(heard.messages) == 1


async def test_a_proxy_that_cannot_be_used_is_no_concern_of_loopback(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ALL_PROXY", "gopher://127.0.0.1:70")
    heard = Heard()
    async with scripted(answer) as server, heard.over_http(server.url) as link:
        await link.send(modern(1))
    assert len(heard.messages) == 1
    with pytest.raises(ConfigError, match="proxy settings"):
        async with Heard().over_http("http://mcp.example/mcp"):
            pass


async def test_headers_of_ones_own_are_sent_with_everything_and_ours_come_first():
    headers = {"X-Name": "Grüße", "Accept": "text/plain", "mcp-method": "no"}
    async with scripted(answer) as server, Heard().over_http(server.url, headers=headers) as link:
        await link.send(modern(1))
    sent = server.calls[0].headers
    assert sent["x-name"].encode("latin-1").decode() == "Grüße"
    assert (sent["accept"], sent["mcp-method"]) == ("application/json, text/event-stream", "tools/call")


async def test_other_hosts_go_through_the_proxy(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    heard = Heard()
    async with scripted(answer) as proxy:
        for name in ("HTTP_PROXY", "http_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        async with heard.over_http("http://mcp.example/mcp") as link:
            await link.send(modern(1))
    assert heard.messages == [result(1, {"target": "http://mcp.example/mcp"})]


class Token(httpx2.Auth):
    """Signs in when asked to."""

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        response = yield request
        if response.status_code == 401:
            request.headers["Authorization"] = "Bearer fresh"
            yield request


async def test_a_sign_in_is_used_and_repeats_the_request():
    async def handler(call: Call, reply: Reply) -> None:
        if call.headers.get("authorization") != "Bearer fresh":
            await reply.send(401)
        else:
            await answer(call, reply)

    heard = Heard()
    async with scripted(handler) as server, heard.over_http(server.url, auth=Token()) as link:
        await link.send(modern(1))
    assert len(heard.messages) == 1


async def test_a_sign_in_that_fails_asks_for_a_sign_in():
    class Broken(httpx2.Auth):
        async def async_auth_flow(
            self, request: httpx2.Request
        ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
            yield request
            raise RuntimeError("the browser was closed")

    async with scripted(answer) as server, Heard().over_http(server.url, auth=Broken()) as link:
        with pytest.raises(AuthRequired, match="the browser was closed"):
            await link.send(modern(1))


async def test_a_server_that_is_down_is_not_mistaken_for_a_failed_sign_in(unused_tcp_port: int):
    async with Heard().over_http(f"http://127.0.0.1:{unused_tcp_port}/", auth=Token()) as link:
        with pytest.raises(RemoteUnreachable, match="refused"):
            await link.send(modern(1))


@pytest.mark.parametrize(
    "entry",
    [
        {"url": "ftp://host/x"},
        {"url": "no address"},
        {"url": "http://"},
        {"url": "http://h/", "headers": {"X": "a\r\nEvil: 1"}},
        {"url": "http://h/", "headers": {"no name": "x"}},
        {"url": "http://10.0.0.5/mcp", "headers": {"Authorization": "Bearer secret"}},
        {"url": "http://mcp.example/mcp", "headers": {"X-Api-Key": "secret"}},
    ],
)
def test_a_senseless_entry_is_refused_before_anything_is_sent(entry: dict[str, object]):
    with pytest.raises(InvalidValue):
        http.HttpSpec.read(entry)


@pytest.mark.parametrize(
    "entry",
    [
        {"url": "https://mcp.example/mcp", "headers": SECRET},
        {"url": "http://127.0.0.1:8000/mcp", "headers": SECRET},
        {"url": "http://[::1]/mcp", "headers": SECRET},
        {"url": "http://mcp.localhost/mcp", "headers": SECRET},
        {"url": "http://10.0.0.5/mcp", "headers": SECRET, "allowHttp": True},
        {"url": "http://10.0.0.5/mcp", "headers": {"Accept-Language": "de"}},
    ],
)
def test_credentials_are_sent_unencrypted_only_on_this_machine_or_on_request(entry: dict[str, object]):
    assert http.HttpSpec.read(entry).url == entry["url"]


def test_the_remote_transports_need_no_sdk():
    code = (
        "import sys, toolcrib.servers.transports.http, toolcrib.servers.transports.sse;"
        "sys.exit(any(name.split('.')[0] == 'mcp' for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    "value",
    [
        "hidden\x01token",
        "hidden\ntoken",
        "hidden token ",
        " hidden token",
        "hidden \ud800",
        "hidden\x7ftoken",
    ],
)
def test_a_header_that_cannot_be_sent_is_refused_without_its_value(value: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        http.HttpSpec.read({"url": "https://example.com/mcp", "headers": {"Authorization": value}})

    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize("value", ["", "Bearer token", "x", "a\tb", "Grüße"])
def test_other_headers_are_fine(value: str) -> None:
    assert http.HttpSpec.read({"url": "https://example.com/mcp", "headers": {"Authorization": value}}).headers
