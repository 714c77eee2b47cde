"""Which hosts the proxy of a sandbox connects to."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from toolcrib.errors import NetworkRefused
from toolcrib.servers.sandbox.proxy import HostList, _closing, _target

NAMES = {"api.example.com": "93.184.216.34", "evil.example.com": "127.0.0.1", "db.local": "10.0.0.5"}


async def resolve(host: str, port: int) -> Sequence[str]:
    return ["93.184.216.34", "10.0.0.1"] if host == "both.example.com" else [NAMES[host]]


@pytest.mark.parametrize(
    ("hosts", "host", "port", "allowed"),
    [
        (("api.example.com",), "api.example.com", 443, True),
        (("api.example.com",), "API.Example.com.", 443, True),
        (("*.example.com",), "api.example.com", 80, True),
        (("*.example.com",), "example.com.evil.org", 443, False),
        (("api.example.com",), "other.example.com", 443, False),
        (("api.example.com",), "api.example.com", 22, False),
        (("api.example.com:8443",), "api.example.com", 8443, True),
        (("*.example.com",), "evil.example.com", 443, False),
        (("db.local",), "db.local", 443, False),
        (("db.local:5432",), "db.local", 5432, True),
        (("api.example.com",), "93.184.216.34", 443, False),
        (("api.example.com",), "0x7f.1", 443, False),
        (("[::1]:5432",), "::1", 5432, True),
        (("[::1]:5432",), "::1", 5433, False),
        (("*",), "2130706433", 80, False),
        (("*",), "0177.0.0.1", 80, False),
        (("*",), "0.0.0.0", 80, False),
        (("*",), "::ffff:127.0.0.1", 80, False),
        (("*",), "127.0.0.1", 80, False),
        (("*:8080",), "127.0.0.1", 8080, False),
        (("*",), "both.example.com", 443, False),
    ],
)
async def test_only_named_hosts_with_public_addresses_are_allowed(
    hosts: tuple[str, ...], host: str, port: int, allowed: bool
) -> None:
    if allowed:
        assert await HostList(hosts, resolve).addresses(host, port)
        return
    with pytest.raises(NetworkRefused):
        await HostList(hosts, resolve).addresses(host, port)


@pytest.mark.parametrize(
    ("head", "target"),
    [
        (b"CONNECT a.example.com:443 HTTP/1.1\r\n\r\n", ("a.example.com", 443, None)),
        (b"CONNECT [::1]:443 HTTP/1.1\r\n\r\n", ("::1", 443, None)),
        (b"CONNECT a.example.com HTTP/1.1\r\n\r\n", None),
        (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", None),
        (b"GET https://a.example.com/ HTTP/1.1\r\n\r\n", None),
        (b"GET http://a:99999/ HTTP/1.1\r\n\r\n", None),
        (b"\xff\xfe\r\n\r\n", None),
        (b"\r\n\r\n", None),
        (b"GET http://a/ HTTP/1.1\r\nX: 1\nHost: b\r\n\r\n", None),
        (b"GET http://a/ HTTP/1.1\r\nX: 1\rHost: b\r\n\r\n", None),
        (b"GET http://a/ HTTP/1.1\r\n Host: b\r\n\r\n", None),
        (b"GET http://a/ HTTP/1.1\r\nX: 1\r\n\tHost: b\r\n\r\n", None),
    ],
)
def test_anything_but_a_proxy_request_is_refused(head: bytes, target: object) -> None:
    assert _target(head) == target


def test_a_plain_request_is_sent_once_to_the_host_that_was_checked() -> None:
    head = b"GET http://a.example.com/x?y=1 HTTP/1.1\r\nHost: a.example.com\r\nConnection: keep-alive\r\n\r\n"
    assert _target(head) == (
        "a.example.com",
        80,
        b"GET /x?y=1 HTTP/1.1\r\nHost: a.example.com\r\nConnection: close\r\n\r\n",
    )
    for other in (b"Host: evil", b"HOST:evil", b"Host : evil", b"host:\tevil"):
        found = _target(b"GET http://u:p@a.example.com:8080/ HTTP/1.1\r\n" + other + b"\r\n\r\n")
        first = b"GET / HTTP/1.1\r\nHost: a.example.com:8080\r\nConnection: close\r\n\r\n"
        assert found == ("a.example.com", 8080, first)
    assert b"Proxy-Authorization" not in _closing(b"Proxy-Authorization: Basic x\r\n\r\n")
