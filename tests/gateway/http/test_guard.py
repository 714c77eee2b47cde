"""Which Host, Origin and Content-Type headers the gateway accepts: its own, nothing similar."""

from __future__ import annotations

import httpx2
import pytest

from tests.gateway.speaking import ACCEPT, DEADLINE, Speaker
from tests.gateway.test_http import INITIALIZE
from toolcrib.gateway.http.address import HeaderCheck

HOST = "127.0.0.1:8321"
PROXIED = HeaderCheck(hosts=frozenset({"crib.example", "127.0.0.1"}))


@pytest.mark.parametrize(
    "host",
    [
        *("", "localhost.", "localhost:", "localhost:80:80", "localhost:x", "localhost@evil", "localhost/x"),
        *("[::1", "[::1%lo]", "::1", "127.1", "2130706433", "0x7f.0.0.1", "0177.0.0.1"),
        *("0.0.0.0", "127.0.0.2", "evil.example"),
        *("localhost.evil.example", "127.0.0.1.nip.io", "evil.example:8321", "localhost evil"),
        *("localhost\t", "localhost:123456", "crib.example", "ＬＯＣＡＬＨＯＳＴ", "[::ffff:127.0.0.1]"),
    ],
)
def test_a_host_that_is_not_ours_is_refused(host: str) -> None:
    assert (HeaderCheck().refusal({"host": host}) or (200,))[0] == 421


@pytest.mark.parametrize("host", ["localhost", "LocalHost:8321", HOST, "[::1]", "[::1]:8321"])
def test_our_own_host_is_accepted_in_every_form(host: str) -> None:
    assert HeaderCheck().refusal({"host": host}) is None


@pytest.mark.parametrize(
    "origin",
    [
        *("null", "", "file://", "http://127.0.0.1", "http://127.0.0.1:3000", "https://127.0.0.1:8321"),
        *("127.0.0.1:8321",),
        *("http://localhost:8321", "http://[::1]:8321", "http://127.0.0.1:8321/", "http://127.0.0.1.:8321"),
        *("http://user@127.0.0.1:8321", "http://127.0.0.1:08321", "chrome-extension://abc"),
        *("ws://127.0.0.1:8321", "http://127.0.0.1:8321, http://evil.example", "http://[fe80::1%25lo]:8321"),
        *("http://127.0.0.1:8321@evil.example", "http://127.0.0.1:8321.evil.example", "http://127.1:8321"),
    ],
)
def test_an_origin_other_than_the_gateways_own_is_refused(origin: str) -> None:
    for guard in (HeaderCheck(), PROXIED):
        assert (guard.refusal({"host": HOST, "origin": origin}) or (200,))[0] == 403


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        (HOST, f"http://{HOST}"),
        ("localhost:80", "http://localhost"),
        ("[::1]:8321", "http://[::1]:8321"),
        ("crib.example", "https://crib.example"),
        ("crib.example:8443", "https://crib.example:8443"),
        (HOST, "https://crib.example"),  # a proxy that replaces the Host header
    ],
)
def test_the_gateways_own_page_is_served(host: str, origin: str) -> None:
    assert PROXIED.refusal({"host": host, "origin": origin}) is None


@pytest.mark.parametrize(
    "content_type",
    [
        *("text/plain", "text/plain; x=application/json", "application/x-www-form-urlencoded", ""),
        *("multipart/form-data; boundary=x", "application/jsonp", "text/json", "application/json-seq", None),
    ],
)
async def test_a_message_of_another_type_is_refused(serve, content_type: str | None) -> None:
    headers = {**ACCEPT, **({} if content_type is None else {"Content-Type": content_type})}
    async with serve() as (_, url), httpx2.AsyncClient(trust_env=False, timeout=DEADLINE) as client:
        content = httpx2.Request("POST", url, json=INITIALIZE).content
        answer = await client.post(url, content=content, headers=headers)

        assert answer.status_code == 415
        assert "mcp-session-id" not in answer.headers


@pytest.mark.parametrize("content_type", ["application/json", "Application/JSON; charset=UTF-8"])
async def test_json_is_accepted(serve, content_type: str) -> None:
    async with serve() as (_, url), httpx2.AsyncClient(trust_env=False, timeout=DEADLINE) as client:
        content = httpx2.Request("POST", url, json=INITIALIZE).content
        headers = {**ACCEPT, "Content-Type": content_type}

        assert (await client.post(url, content=content, headers=headers)).status_code == 200
        assert (await Speaker(client, url).modern("tools/list")).status_code == 200
