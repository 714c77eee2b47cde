"""A server that misuses a sign-in: it points elsewhere, changes its issuer, or answers without end."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Sequence

import httpx2
import pytest

from tests.loop_clock import LoopClock
from tests.serverkit.network.names import Names, in_turn, names
from tests.servers.remote.heard import Heard, modern
from tests.servers.remote.scripted import Call, Reply, scripted
from tests.servers.signin.resource import TOKEN, Resource, agree, resource
from toolcrib.errors import AuthRequired, FetchFailed, NetworkRefused, RemoteUnreachable, UsageError
from toolcrib.serverkit.network import Resolver
from toolcrib.serverkit.redirect_listener import listen
from toolcrib.servers.remote.client import check_named, named_policies
from toolcrib.servers.remote.spec import RemoteSpec
from toolcrib.servers.signin.credentials import BearerAuth, Credentials
from toolcrib.servers.signin.login import OAuthClient, sign_in

NAMES = names(
    public_test="8.8.8.8",
    private_test="10.0.0.1",
    other_private_test="192.168.7.7",
    here_test="127.0.0.1",
    dummy_test="192.0.0.8",
    relay_test="192.88.99.1",
    metadata_test="169.254.169.254",
    mapped_test="::ffff:10.0.0.1",
    translated_test="64:ff9b::a00:1",
    mixed_test=["8.8.8.8", "10.0.0.1"],
)


async def sign_in_to(server: Resource, resolve: Resolver = NAMES) -> None:
    await sign_in("guarded", RemoteSpec(url=server.url), agree, patience=30, resolve=resolve)


FORBIDDEN = [
    "http://169.254.169.254/latest/meta-data/",
    "https://169.254.169.254/",
    "https://[fd00:ec2::254]/",
    "http://10.0.0.1/",
    "https://10.0.0.1/",
    "https://private.test/",
    "https://dummy.test/",
    "https://relay.test/",
    "https://mapped.test/",
    "https://translated.test/",
    "https://mixed.test/",
    "http://public.test/",
    "https://user:password@public.test/",
]


@pytest.mark.parametrize("address", [*FORBIDDEN, "https://2130706433/", "https://0x7f.1/"])
async def test_metadata_at_a_forbidden_address_is_not_fetched(address: str) -> None:
    async with resource(challenge=address) as server:
        with pytest.raises(AuthRequired, match="unsafe address"):
            await sign_in_to(server)

    assert {call.target for call in server.calls} == {"/mcp"}


@pytest.mark.parametrize("address", FORBIDDEN)
async def test_an_issuer_at_a_forbidden_address_is_not_asked(address: str) -> None:
    async with resource(issuer=address) as server:
        with pytest.raises(AuthRequired, match="unsafe address"):
            await sign_in_to(server)

    assert not any("code" in call.target for call in server.calls)


@pytest.mark.parametrize("endpoint", ["registration_endpoint", "token_endpoint", "authorization_endpoint"])
async def test_no_endpoint_of_an_issuer_may_be_in_a_private_network(endpoint: str) -> None:
    async with resource() as server:
        server.metadata = {endpoint: "https://private.test/x"}
        with pytest.raises(AuthRequired, match=r"unsafe address https://private\.test"):
            await sign_in_to(server)


async def test_a_name_that_does_not_resolve_is_refused() -> None:
    async with resource(issuer="https://missing.test/") as server:
        with pytest.raises(AuthRequired, match=r"missing\.test does not resolve"):
            await sign_in_to(server)
        server.issuer = server.origin
        server.metadata = {"authorization_endpoint": "https://missing.test/authorize"}
        with pytest.raises(AuthRequired, match=r"unsafe address https://missing\.test"):
            await sign_in_to(server)


async def test_an_issuer_that_moves_to_a_private_address_during_the_sign_in_is_not_followed() -> None:
    """The lookups for the metadata and its check lead to the issuer, that for the registration does not."""

    async def answer(call: Call, reply: Reply) -> None:
        base = f"http://issuer.test:{issuer.port}"
        await reply.json(
            {
                "issuer": base,
                "authorization_endpoint": f"{base}/authorize",
                "token_endpoint": f"{base}/token",
                "registration_endpoint": f"{base}/register",
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
            },
            connection="close",
        )
        reply.cut()

    resolve = Names({"issuer.test": in_turn("127.0.0.1", "127.0.0.1", "10.0.0.1")})
    async with scripted(answer) as issuer, resource(issuer=f"http://issuer.test:{issuer.port}") as server:
        with pytest.raises(AuthRequired, match=r"unsafe address http://issuer\.test"):
            await sign_in_to(server, resolve)

    assert [call.method for call in issuer.calls] == ["GET"]
    assert resolve.asked == ["issuer.test"] * 3


PUBLIC, PRIVATE, HERE = "https://public.test/mcp", "https://private.test/mcp", "http://localhost:9/mcp"


@pytest.mark.parametrize(
    ("server", "address", "allowed"),
    [
        (PUBLIC, "https://public.test:9443/", True),
        (PUBLIC, "https://private.test/", False),
        (PUBLIC, "https://here.test/", False),
        (PUBLIC, "http://public.test/", False),
        (PRIVATE, "https://public.test/", True),
        (PRIVATE, "https://other.private.test/", True),
        (PRIVATE, "https://here.test/", False),
        (PRIVATE, "https://metadata.test/", False),
        (PRIVATE, "http://other.private.test/", False),
        ("https://10.2.3.4/mcp", "https://other.private.test/", True),
        ("https://mixed.test/mcp", "https://private.test/", False),
        ("https://here.test/mcp", "http://here.test:1/", False),
        ("https://missing.test/mcp", "https://private.test/", False),
        (HERE, "http://here.test:8000/", True),
        (HERE, "https://here.test/", True),
        (HERE, "https://public.test/", True),
        (HERE, "http://public.test/", False),
        (HERE, "https://private.test/", False),
        (HERE, "https://metadata.test/", False),
    ],
)
async def test_a_server_may_name_public_hosts_and_those_of_its_own_kind(
    server: str, address: str, allowed: bool
) -> None:
    target = httpx2.URL(address)
    policy = named_policies(httpx2.URL(server), NAMES)[target.scheme]
    if allowed:
        await policy.addresses(target.host, target.port or 443)
        await check_named(address, server, NAMES)
        return
    with pytest.raises(NetworkRefused):
        await policy.addresses(target.host, target.port or 443)
    with pytest.raises(AuthRequired, match="unsafe address"):
        await check_named(address, server, NAMES)


async def test_the_secret_of_a_configured_client_goes_to_no_other_issuer() -> None:
    client = OAuthClient(client_id="ours", client_secret="hidden-secret")
    async with resource() as honest, resource() as thief:
        spec = RemoteSpec(url=honest.url)
        first = await sign_in("guarded", spec, agree, client=client, resolve=NAMES)
        honest.issuer = thief.origin
        await sign_in("guarded", spec, agree, client=client, earlier=first, resolve=NAMES)

    assert any("authorization" in call.headers for call in honest.calls if call.target == "/token")
    assert "/register" in [call.target for call in thief.calls]
    assert "ours" not in str([call.body for call in thief.calls])
    assert not any("authorization" in call.headers for call in thief.calls)


async def test_a_registration_is_used_for_no_other_issuer() -> None:
    async with resource() as honest, resource() as other:
        spec = RemoteSpec(url=honest.url)
        first = await sign_in("guarded", spec, agree, resolve=NAMES)
        honest.issuer = other.origin
        again = await sign_in("guarded", spec, agree, earlier=first, resolve=NAMES)

    assert again.issuer.rstrip("/") == other.origin
    assert [call.target for call in other.calls].count("/register") == 1
    assert TOKEN not in str([call.headers for call in other.calls])


@pytest.mark.parametrize(
    ("advertised", "extra"),
    [(True, {}), (True, {"iss": "https://public.test"}), (False, {"iss": "https://public.test"})],
)
async def test_a_return_from_another_issuer_is_rejected(advertised: bool, extra: dict[str, str]) -> None:
    async def come_back(address: str, issuer: str) -> None:
        await agree(address, **extra)

    async with resource() as server:
        server.metadata = {"authorization_response_iss_parameter_supported": advertised}
        with pytest.raises(AuthRequired, match="iss"):
            await sign_in("guarded", RemoteSpec(url=server.url), come_back, resolve=NAMES)

    assert "/token" not in [call.target for call in server.calls]


async def test_the_way_back_is_open_on_this_machine_only_and_closes() -> None:
    async with listen() as callback:
        address = httpx2.URL(callback.redirect_uri)
        assert address.host == "127.0.0.1"
        _, writer = await asyncio.open_connection("127.0.0.1", address.port)
        writer.close()
    with pytest.raises(OSError, match=r"refused|Connect call failed"):
        await asyncio.open_connection("127.0.0.1", address.port)


async def test_tokens_are_not_asked_for_over_an_unencrypted_connection() -> None:
    with pytest.raises(UsageError, match="unencrypted"):
        await sign_in("guarded", RemoteSpec(url="http://10.0.0.5/mcp"), agree, resolve=NAMES)


async def test_a_demand_for_more_scopes_widens_nothing_by_itself() -> None:
    async def answer(call: Call, reply: Reply) -> None:
        await reply.send(403, www_authenticate='Bearer error="insufficient_scope", scope="admin:*"')

    async with scripted(answer) as server:
        auth = BearerAuth("remote", _Kept(), credentials(server.url, f"{server.url}/token", expires_at=None))
        async with Heard().over_http(server.url, auth=auth, resolve=NAMES) as link:
            with pytest.raises(AuthRequired, match="denied access"):
                await link.send(modern(1))

    assert [call.target for call in server.calls] == ["/mcp"]


class _Kept:
    def __init__(self) -> None:
        self.saved: list[Credentials] = []

    def save(self, server: str, credentials: Credentials) -> None:
        self.saved.append(credentials)


def credentials(url: str, token_endpoint: str, expires_at: float | None = 0.0) -> Credentials:
    return Credentials(
        url=url,
        issuer="https://public.test",
        token_endpoint=token_endpoint,
        client_id="us",
        access_token="old",
        refresh_token="again",
        expires_at=expires_at,
    )


async def refresh_at(token_endpoint: str, resolve: Resolver) -> tuple[list[Call], Exception]:
    """What a server heard while its token could not be refreshed there, and the error."""

    async def answer(call: Call, reply: Reply) -> None:
        await reply.result(call, {})

    async with scripted(answer) as server:
        auth = BearerAuth("remote", _Kept(), credentials(server.url, token_endpoint))
        async with Heard().over_http(server.url, auth=auth, resolve=resolve) as link:
            with pytest.raises((AuthRequired, RemoteUnreachable)) as caught:
                await link.send(modern(1))
    return server.calls, caught.value


@pytest.mark.parametrize(
    "address", ["https://private.test/token", "https://dummy.test/token", "http://10.0.0.1/token"]
)
async def test_a_token_is_not_refreshed_at_an_address_that_became_private(address: str) -> None:
    calls, error = await refresh_at(address, NAMES)

    assert isinstance(error, AuthRequired)
    assert "unsafe address" in error.message
    assert calls == []


async def test_a_refresh_without_a_network_needs_no_new_sign_in() -> None:
    calls, error = await refresh_at("https://missing.test/token", names())

    assert isinstance(error, RemoteUnreachable)
    assert "missing.test does not resolve" in error.message
    assert calls == []


def _bodies() -> Sequence[tuple[bytes, dict[str, str]]]:
    bomb = gzip.compress(bytes(32 * 1024 * 1024))
    return [
        (b"{" + b" " * 2_000_000, {}),
        (bomb, {"content_encoding": "gzip"}),
        (b"{}", {"content_encoding": "gzip, gzip, gzip"}),
    ]


@pytest.mark.parametrize(("body", "headers"), _bodies(), ids=["large", "bomb", "stacked"])
@pytest.mark.parametrize("own", [True, False], ids=["own origin", "other origin"])
async def test_metadata_without_limits_is_not_read(body: bytes, headers: dict[str, str], own: bool) -> None:
    async def flood(call: Call, reply: Reply) -> None:
        if call.target == "/mcp":
            place = base if own else f"http://127.0.0.1:{other.port}"
            await reply.send(401, www_authenticate=f'Bearer resource_metadata="{place}/metadata"')
        else:
            await reply.send(200, body, **headers)

    async with scripted(flood) as server, scripted(flood) as other:
        base = server.url.removesuffix("/mcp")
        with pytest.raises(AuthRequired, match=r"more than 1,048,576 bytes|unsupported content encoding"):
            await sign_in("guarded", RemoteSpec(url=server.url), agree, resolve=NAMES)


async def test_metadata_that_never_ends_is_given_up(clock: LoopClock) -> None:
    async def drip(call: Call, reply: Reply) -> None:
        if call.target == "/mcp":
            base = server.url.removesuffix("/mcp")
            await reply.send(401, www_authenticate=f'Bearer resource_metadata="{base}/metadata"')
            return
        await reply.raw(b"HTTP/1.1 200 X\r\ntransfer-encoding: chunked\r\n\r\n")
        while True:
            await reply.chunk(b" ")
            await clock.passes(1)

    async with scripted(drip) as server:
        with pytest.raises(AuthRequired, match="no answer in time"):
            await sign_in("guarded", RemoteSpec(url=server.url), agree, resolve=NAMES)


async def test_a_redirect_of_metadata_is_not_followed() -> None:
    async def lead(call: Call, reply: Reply) -> None:
        if call.target == "/mcp":
            base = server.url.removesuffix("/mcp")
            await reply.send(401, www_authenticate=f'Bearer resource_metadata="{base}/metadata"')
        else:
            await reply.send(302, location="http://169.254.169.254/latest/")

    resolve = names()
    async with scripted(lead) as server:
        with pytest.raises(AuthRequired):
            await sign_in("guarded", RemoteSpec(url=server.url), agree, resolve=resolve)

    assert resolve.asked == []


async def test_the_policy_for_named_hosts_fails_closed_when_a_name_is_unknown() -> None:
    policies = named_policies(httpx2.URL(PUBLIC), names(public_test="8.8.8.8"))
    with pytest.raises(FetchFailed):
        await policies["https"].addresses("missing.test", 443)
