"""Which URLs are refused before or at connecting, however they are spelled; no server is ever reached."""

from __future__ import annotations

import httpx2
import pytest

from tests.serverkit.network.names import names
from toolcrib.errors import ToolcribError, UsageError
from toolcrib.serverkit.network import (
    FetchFailed,
    NetworkPolicy,
    NetworkRefused,
    endpoint_of,
    fetch,
    open_client,
)

LOOPBACK = [
    "http://127.0.0.1/",
    "http://localhost/",
    "http://LOCALHOST/",
    "http://localhost./",
    "http://127.0.0.1./",
    "http://127.255.255.254/",
    "http://0.0.0.0/",
    "http://[::1]/",
    "http://[::]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
]
METADATA = [
    "http://169.254.169.254/latest/meta-data/",
    "http://[::ffff:169.254.169.254]/",
    "http://[fd00:ec2::254]/",
    "http://100.100.100.200/",
    "http://192.0.0.192/",
]
OTHER_NOTATIONS = [
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7F.0.0.1/",
    "http://0177.0.0.1/",
    "http://127.0.0.01/",
    "http://127.1/",
    "http://127.0.1/",
    "http://0/",
    "http://0x/",
    "http://256.1.1.1/",
    "http://1.2.3.4.5/",
    "http://example.0x7f/",
    "http://127.0.0.1../",
    "http://%31%32%37.0.0.1/",
    "http://127.0.0.1%00.example.com/",
]
EMBEDDED = [
    "http://[64:ff9b::7f00:1]/",
    "http://[64:ff9b:1::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[::127.0.0.1]/",
    "http://[2001:0:7f00:1::]/",
    "http://[2a00::5efe:7f00:1]/",
]
UNICODE = [
    "http://①②⑦.⓪.⓪.①/",
    "http://ⓛocalhost/",
    "http://１２７.0.0.1/",
    "http://127。0。0。1/",
    "http://loc\u00adalhost/",
    "http://l\u200docalhost/",
]
CONFUSING = [
    "http://good.test@127.0.0.1/",
    "http://good.test:80@127.0.0.1/",
    "http://user:password@good.test/",
    "http://127.0.0.1#@good.test/",
    "http://127.0.0.1?@good.test/",
    "http:\\\\127.0.0.1\\",
    "http://good.test\\@127.0.0.1/",
    "http:/\\127.0.0.1/",
    "http://127.0.0.1:80:8080/",
    "http://good.test:/:22/x\n",
    "http://good.test\t@127.0.0.1/",
    "http://[::1%25lo]/",
    "http://[fe80::1%25eth0]/",
    "http://[127.0.0.1]/",
    "http://[::1/",
    "http://::1/",
    "http://a b/",
    "http://-good.test/",
    f"http://{'a' * 64}.test/",
    f"http://{'a.' * 127}test/",
    f"http://good.test/{'x' * 9000}",
    "http:///path",
    "//good.test/",
    "good.test",
    "",
]
SCHEMES = [
    "file:///etc/passwd",
    "ftp://good.test/",
    "gopher://127.0.0.1:6379/_INFO",
    "data:text/html,hello",
    "javascript:alert(1)",
    "view-source:http://good.test/",
    "ws://good.test/",
    "dict://127.0.0.1:2628/",
]
PORTS = [f"http://good.test:{port}/" for port in (0, 22, 25, 110, 6379, 9200, 11211, 65536, 99999, -80)]


@pytest.mark.parametrize(
    "url",
    [
        *LOOPBACK,
        *METADATA,
        *OTHER_NOTATIONS,
        *EMBEDDED,
        *UNICODE,
        *CONFUSING,
        *SCHEMES,
        *PORTS,
    ],
)
async def test_a_url_that_leads_elsewhere_than_to_the_public_web_is_refused(url: str) -> None:
    resolve = names(localhost="127.0.0.1", good_test="10.0.0.1")
    with pytest.raises(NetworkRefused) as caught:
        await fetch(url, NetworkPolicy(resolve=resolve))

    assert caught.value.hint


@pytest.mark.parametrize("url", [*LOOPBACK, *METADATA, *OTHER_NOTATIONS, *EMBEDDED])
async def test_the_client_refuses_what_fetch_refuses(url: str) -> None:
    async with open_client(NetworkPolicy(resolve=names(localhost="127.0.0.1"))) as client:
        with pytest.raises((NetworkRefused, httpx2.InvalidURL)):
            await client.get(url)


async def test_the_name_that_is_checked_is_the_one_in_ascii() -> None:
    resolve = names(**{"xn--fa-hia_example": "10.0.0.1"})
    with pytest.raises(
        NetworkRefused, match=r"xn--fa-hia\.example is not allowed: it leads to a private network"
    ):
        await fetch("http://faß.example/", NetworkPolicy(resolve=resolve))

    assert resolve.asked == ["xn--fa-hia.example"]


async def test_a_name_that_does_not_resolve_is_refused_with_its_name() -> None:
    with pytest.raises(FetchFailed, match=r"The host name missing\.test does not resolve"):
        await fetch("https://missing.test/", NetworkPolicy(resolve=names()))


async def test_a_refusal_says_how_the_user_can_allow_it() -> None:
    with pytest.raises(NetworkRefused) as caught:
        await fetch("http://nas.local:5000/", NetworkPolicy(resolve=names(nas_local="192.168.1.2")))

    assert "--allow-private nas.local:5000" in caught.value.hint
    assert caught.value.as_json()["kind"] == "network_refused"


async def test_a_refusal_shows_neither_addresses_of_the_network_nor_secrets_of_the_url() -> None:
    url = "https://intranet.test/reset?token=hidden"
    with pytest.raises(NetworkRefused) as caught:
        await fetch(url, NetworkPolicy(resolve=names(intranet_test="10.1.2.3")))

    assert "10.1.2.3" not in str(caught.value.as_json())
    assert "hidden" not in str(caught.value.as_json())


@pytest.mark.parametrize(
    "url",
    ["ftp://user:hidden@good.test/", "https://user:hidden@good.test/", "http://good.test:x/?token=hidden"],
)
async def test_a_refused_url_does_not_show_its_secrets(url: str) -> None:
    with pytest.raises(NetworkRefused) as caught:
        await fetch(url, NetworkPolicy())

    assert "hidden" not in str(caught.value.as_json())


async def test_control_characters_of_a_url_are_escaped_in_the_error() -> None:
    with pytest.raises(NetworkRefused) as caught:
        await fetch("http://good.test/\x1b[31mred\r\nSet-Cookie: a=b", NetworkPolicy())

    assert caught.value.message.isprintable()


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("127.0.0.1:8000", "127.0.0.1:8000"),
        ("Nas.Local.:443", "nas.local:443"),
        (" [::1]:80 ", "[::1]:80"),
        ("[0:0::1]:80", "[::1]:80"),
    ],
)
def test_an_exception_is_a_host_and_a_port(given: str, meant: str) -> None:
    assert NetworkPolicy(allow_private=frozenset({given})).allow_private == {meant}


@pytest.mark.parametrize(
    "given",
    [
        "",
        "nas.local",
        ":80",
        "nas.local:",
        "nas.local:http",
        "::1:80",
        "*:80",
        "http://nas:80",
        "2130706433:80",
    ],
)
def test_what_is_not_a_host_and_a_port_is_no_exception(given: str) -> None:
    with pytest.raises(UsageError, match="HOST:PORT"):
        NetworkPolicy(allow_private=frozenset({given}))


@pytest.mark.parametrize(
    ("url", "endpoint"),
    [
        ("https://Cloud.Example/dav/", "cloud.example:443"),
        ("http://10.0.0.5", "10.0.0.5:80"),
        ("http://[::1]:8008/x", "[::1]:8008"),
    ],
)
def test_the_server_of_a_url_that_the_user_typed_can_be_an_exception(url: str, endpoint: str) -> None:
    assert endpoint_of(url) == endpoint
    assert NetworkPolicy(allow_private=frozenset({endpoint_of(url)})).allow_private == {endpoint}


@pytest.mark.parametrize("url", ["", "nonsense", "mailto:a@b.c"])
def test_what_is_not_a_url_has_no_server(url: str) -> None:
    with pytest.raises(ToolcribError):
        endpoint_of(url)
