"""An issuer's metadata that leads a sign-in astray: other hosts, no PKCE, invalid, own parameters."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from tests.serverkit.network.names import names
from tests.servers.remote.scripted import Call, Reply
from tests.servers.signin.resource import Resource, agree, resource
from toolcrib.errors import AuthRequired, HostsNotConfirmed
from toolcrib.serverkit.redirect_listener import listen
from toolcrib.servers.remote.spec import RemoteSpec
from toolcrib.servers.signin.credentials import Credentials
from toolcrib.servers.signin.login import OAuthClient, belongs, sign_in

DISCOVERY = "/.well-known/oauth-authorization-server"
RESOURCE = "/.well-known/oauth-protected-resource"


class Pages:
    """The pages that were opened, each with the issuer that was named."""

    def __init__(self) -> None:
        self.opened: list[tuple[str, str]] = []

    async def open(self, address: str, issuer: str) -> None:
        self.opened.append((address, issuer))
        await agree(address)

    @property
    def query(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.opened[-1][0]).query)


async def log_in(server: Resource, pages: Pages, **more: object) -> Credentials:
    options = {"patience": 30.0, "resolve": names(), **more}
    spec = RemoteSpec(url=server.url, headers={"X-Name": "Grüße"})
    return await sign_in("guarded", spec, pages.open, **options)  # type: ignore[arg-type]


async def test_a_code_of_one_issuer_never_reaches_the_token_endpoint_of_another() -> None:
    pages = Pages()
    async with resource() as honest, resource() as evil:
        evil.metadata = {
            "authorization_endpoint": f"{honest.origin}/authorize",
            "registration_endpoint": f"{honest.origin}/register",
        }
        with pytest.raises(HostsNotConfirmed) as caught:
            await log_in(evil, pages)

    assert pages.opened == []
    assert "/token" not in evil.targets
    assert honest.calls == []
    assert caught.value.data == {
        "issuer": evil.origin,
        "page": honest.origin,
        "token": evil.origin,
        "registration": honest.origin,
    }
    for host in (evil.origin, honest.origin, "guarded"):
        assert host in caught.value.message


@pytest.mark.parametrize(
    "endpoint",
    ["authorization_endpoint", "token_endpoint", "registration_endpoint", "revocation_endpoint"],
)
async def test_an_endpoint_at_another_host_is_asked_about_and_the_answer_is_kept(endpoint: str) -> None:
    pages = Pages()
    async with resource() as server, resource() as other, resource() as third:
        server.metadata = {endpoint: f"{other.origin}/{endpoint.partition('_')[0]}"}
        other.answers["/registration"] = lambda call, reply: reply.json({"client_id": "x"}, 201)
        with pytest.raises(HostsNotConfirmed) as caught:
            await log_in(server, pages)
        assert other.calls == []
        first = await log_in(server, pages, hosts=caught.value.data)
        await log_in(server, pages, earlier=first)
        server.metadata = {endpoint: f"{third.origin}/{endpoint.partition('_')[0]}"}
        with pytest.raises(HostsNotConfirmed):
            await log_in(server, pages, earlier=first)

    assert len(pages.opened) == 2
    assert third.calls == []


@pytest.mark.parametrize(
    ("address", "issuer", "expected"),
    [
        ("https://example.com/token", "https://example.com/tenant", True),
        ("https://example.com:443/token", "https://example.com", True),
        ("https://api.example.com/token", "https://example.com", True),
        ("https://example.com/token", "https://login.example.com", False),
        ("https://api.example.com/token", "https://login.example.com", False),
        ("https://notexample.com/token", "https://example.com", False),
        ("https://example.com.evil.test/token", "https://example.com", False),
        ("https://example.com:8443/token", "https://example.com", False),
        ("http://example.com/token", "https://example.com", False),
        ("https://one.test/token", "https://test", False),
        ("https://1.127.0.0.1/token", "https://127.0.0.1", False),
        ("https://oauth2.googleapis.com/token", "https://accounts.google.com", False),
    ],
)
def test_an_address_belongs_to_an_issuer_at_its_host_or_below(
    address: str, issuer: str, expected: bool
) -> None:
    assert belongs(address, issuer) is expected


async def test_each_issuer_has_its_own_redirect_address_and_is_named_first() -> None:
    pages = Pages()
    addresses = []
    async with resource() as one, resource() as two:
        for server in (one, two):
            kept = await log_in(server, pages)
            assert pages.opened[-1][1].rstrip("/") == server.origin
            assert pages.query["redirect_uri"] == [kept.redirect_uri]
            assert json.loads(kept.registered)["redirect_uris"] == [kept.redirect_uri]
            addresses.append(urlsplit(kept.redirect_uri).path)
        own = await log_in(one, pages, client=OAuthClient(client_id="ours"))

    assert len({*addresses, urlsplit(own.redirect_uri).path}) == 3
    assert urlsplit(own.redirect_uri).path == "/callback"


async def test_a_redirect_to_the_address_of_another_issuer_is_not_taken() -> None:
    async with listen() as callback, httpx2.AsyncClient(trust_env=False) as browser:
        callback.expect("state", f"{callback.redirect_uri}/one")
        for path, query in [("", "state=state"), ("/two", "state=state"), ("/one", "state=x&state=state")]:
            response = await browser.get(f"{callback.redirect_uri}{path}?code=x&{query}")
            assert response.status_code in (400, 404)
        assert (await browser.get(f"{callback.redirect_uri}/one?code=y&state=state")).status_code == 200
        assert (await callback.answer()).code == "y"


async def _page(call: Call, reply: Reply) -> None:
    await reply.send(200, b"<!doctype html><title>Home</title>", content_type="text/html")


async def _redirect(call: Call, reply: Reply) -> None:
    await reply.send(302, location="/elsewhere")


async def _listed(call: Call, reply: Reply) -> None:
    await reply.json({"issuer": 5, "authorization_endpoint": "--help"})


async def _forbidden(call: Call, reply: Reply) -> None:
    await reply.send(403)


@pytest.mark.parametrize("answer", [_page, _redirect, _listed, _forbidden])
@pytest.mark.parametrize("at", [DISCOVERY, "/.well-known/"])
async def test_unusable_metadata_is_no_reason_for_default_addresses(answer: object, at: str) -> None:
    pages = Pages()
    async with resource() as server:
        server.answers[at] = answer  # type: ignore[assignment]
        with pytest.raises(AuthRequired, match="The sign-in was stopped"):
            await log_in(server, pages)

    assert pages.opened == []
    assert not {"/register", "/token"} & set(server.targets)


async def test_an_invalid_document_of_the_server_is_not_skipped() -> None:
    pages = Pages()
    async with resource() as server:
        server.answers[RESOURCE] = lambda call, reply: reply.json({"resource": server.url})
        with pytest.raises(AuthRequired, match="invalid"):
            await log_in(server, pages)

    assert pages.opened == []


async def test_a_server_without_any_metadata_is_signed_in_to_at_its_default_addresses() -> None:
    pages = Pages()
    async with resource() as server:
        server.answers["/.well-known/"] = lambda call, reply: reply.send(404)
        await log_in(server, pages)

    assert pages.opened[0][0].startswith(f"{server.origin}/authorize?")
    assert pages.query["code_challenge_method"] == ["S256"]


async def test_an_issuer_without_registration_is_not_replaced_by_the_servers_own() -> None:
    async with resource() as server:
        server.metadata = {"registration_endpoint": None}
        with pytest.raises(AuthRequired, match="does not allow registration") as caught:
            await log_in(server, Pages())
        assert "oauth.clientId" in caught.value.hint
        await log_in(server, Pages(), client=OAuthClient(client_id="ours"))

    assert "/register" not in server.targets


@pytest.mark.parametrize(
    "query",
    ["?state=attacker", "?a=b&redirect_uri=https://evil.test", "?%73tate=x", "?a=b;STATE=x", "?scope", "#x"],
)
async def test_a_page_address_that_sets_parameters_of_ours_is_refused(query: str) -> None:
    pages = Pages()
    async with resource() as server:
        server.metadata = {"authorization_endpoint": f"{server.origin}/authorize{query}"}
        with pytest.raises(AuthRequired, match="sets parameters"):
            await log_in(server, pages)

    assert pages.opened == []


async def test_a_page_address_keeps_its_own_query() -> None:
    pages = Pages()
    async with resource() as server:
        server.metadata = {"authorization_endpoint": f"{server.origin}/authorize?p=policy"}
        await log_in(server, pages)

    assert pages.query["p"] == ["policy"]
    assert pages.query["response_type"] == ["code"]
    assert len(pages.query["state"]) == 1


def _moved(to: str) -> Callable[[Call, Reply], Awaitable[None]]:
    async def send(call: Call, reply: Reply) -> None:
        await reply.send(307, f"secret {call.body.decode()}".encode(), location=to)

    return send


async def test_a_redirect_of_a_registration_or_a_code_is_followed_within_the_origin_only() -> None:
    async with resource() as server, resource() as other:
        server.answers |= {"/register/": _registered, "/register": _moved("/register/")}
        await log_in(server, Pages())
        for to in (f"{other.origin}/token", "/token", "/token?secret"):
            server.answers["/token"] = _moved(to)
            with pytest.raises(AuthRequired, match="refused the token request") as caught:
                await log_in(server, Pages())
            assert "secret" not in caught.value.message

    assert other.calls == []


async def _registered(call: Call, reply: Reply) -> None:
    await reply.json({"client_id": "registered"}, 201)


def _echo(status: int, **answer: object) -> object:
    async def send(call: Call, reply: Reply) -> None:
        await reply.json({**answer, "error_description": f"\x1b[31m{call.body.decode()}\u202e"}, status)

    return send


@pytest.mark.parametrize(
    "answer",
    [
        _echo(400, error="invalid_grant"),
        _echo(200, access_token=None, refresh_token="refresh-of-the-issuer"),
        _echo(200, access_token="token of\nthe issuer"),
        _echo(200, access_token="tökön-of-the-issuer"),
        _echo(200, access_token="fine", expires_in="refresh-of-the-issuer"),
    ],
)
async def test_an_error_repeats_no_secret_of_a_token_request(
    answer: object, caplog: pytest.LogCaptureFixture
) -> None:
    async with resource() as server:
        server.answers["/token"] = answer  # type: ignore[assignment]
        with pytest.raises(AuthRequired) as caught:
            await log_in(server, Pages(), client=OAuthClient(client_id="ours", client_secret="hidden-secret"))
        (sent,) = [call for call in server.calls if call.target == "/token"]

    form = parse_qs(sent.body.decode())
    said = caught.value.message + caught.value.hint + caplog.text
    for secret in (
        form["code_verifier"][0],
        sent.headers["authorization"].split()[1],
        "of-the-issuer",
        "of\nthe",
    ):
        assert secret not in said
    assert caught.value.message.isprintable()
