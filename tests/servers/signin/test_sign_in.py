"""Signing in for real: discovery, registration, PKCE, the browser's way back, renewal, refusals."""

from __future__ import annotations

import asyncio
import json

import httpx2
import pytest
from mcp.server import MCPServer

from tests.asgi_server import serving
from tests.servers.signin.issuer import Scene, listening_socket, signed_scene
from toolcrib.cli.host_connection import reach
from toolcrib.errors import AuthRequired, UsageError
from toolcrib.schema.servers import ServerState
from toolcrib.serverkit.redirect_listener import listen
from toolcrib.servers.remote.client import RemoteSpec
from toolcrib.servers.signin.login import sign_in


async def log_in(crib, scene: Scene, name: str = "guarded") -> dict:
    """As `toolcrib login` does, with a person who agrees."""
    pages: list[asyncio.Task] = []
    async with reach(crib.home) as commands:
        outcome = await commands.login(
            name=name, on_event=lambda event: pages.append(asyncio.ensure_future(scene.agree(event["open"])))
        )
    await asyncio.gather(*pages)
    return outcome


async def test_a_server_that_wants_a_sign_in_says_how_and_works_after_it(crib):
    async with signed_scene() as scene:
        crib.entry("guarded", {"type": "http", "url": scene.url})
        async with crib.open() as host:
            await host.ready()
            status = host.servers.status("guarded")
            assert status.state is ServerState.NEEDS_AUTH
            assert "toolcrib login guarded" in status.hint
        outcome = await log_in(crib, scene)
        assert outcome["issuer"].rstrip("/") == scene.issuer.url
        assert (outcome["scope"], outcome["renews"]) == ("tools", True)
        assert scene.issuer.asked == ["register", "authorize", "exchange"]
        async with crib.open() as host:
            await host.ready()
            result = await host.call("guarded__whisper", {"text": "hello"})
            assert result["content"][0]["text"] == "hello"


async def test_a_running_host_goes_on_with_the_new_sign_in_by_itself(crib):
    async with signed_scene() as scene:
        crib.entry("guarded", {"type": "http", "url": scene.url})
        async with crib.open() as host:
            await host.ready()
            kept = await sign_in("guarded", RemoteSpec(url=scene.url), scene.agree_soon)
            host.core.credentials.save("guarded", kept)
            await host.servers["guarded"].restart()
            await host.ready()
            assert host.servers.status("guarded").state is ServerState.READY


async def test_nothing_of_a_sign_in_stands_in_the_config_the_log_or_the_answer(crib):
    async with signed_scene() as scene:
        crib.entry("guarded", {"type": "http", "url": scene.url})
        outcome = await log_in(crib, scene)
        secrets = [*scene.issuer.access, *scene.issuer.refresh]
        assert len(secrets) == 2
        assert not any(secret in json.dumps(outcome) for secret in secrets)
        for path in crib.home.rglob("*"):
            if path.is_file() and path.name != "secrets.json":
                assert not any(secret.encode() in path.read_bytes() for secret in secrets), path


async def test_an_expired_token_is_renewed_and_the_rotated_one_is_kept(crib):
    async with signed_scene(lifetime=1) as scene:
        crib.entry("guarded", {"type": "http", "url": scene.url})
        await log_in(crib, scene)
        for expected in (1, 2):
            async with crib.open() as host:
                await host.ready()
                assert host.servers.status("guarded").state is ServerState.READY
                await host.call("guarded__whisper", {"text": "again"})
            assert scene.issuer.asked.count("renew") >= expected
            assert scene.issuer.asked.count("authorize") == 1


async def test_many_calls_at_once_renew_only_once(crib):
    async with signed_scene() as scene:
        crib.entry("guarded", {"type": "http", "url": scene.url})
        await log_in(crib, scene)
        async with crib.open() as host:
            await host.ready()
            scene.issuer.access.clear()  # the server takes none of the tokens it knew
            texts = [str(number) for number in range(20)]
            results = await asyncio.gather(*(host.call("guarded__whisper", {"text": text}) for text in texts))
            assert [result["content"][0]["text"] for result in results] == texts
            assert scene.issuer.asked.count("renew") == 1


async def test_a_sign_in_that_its_issuer_ended_waits_for_the_person(crib, until):
    async with signed_scene() as scene:
        crib.entry("guarded", {"type": "http", "url": scene.url})
        await log_in(crib, scene)
        async with crib.open() as host:
            await host.ready()
            scene.issuer.access.clear()
            scene.issuer.refresh.clear()
            with pytest.raises(AuthRequired, match="has expired"):
                await host.call("guarded__whisper", {"text": "x"})
            await until(host, lambda: host.servers.status("guarded").state is ServerState.NEEDS_AUTH)


async def test_signing_out_forgets_everything(crib):
    async with signed_scene() as scene:
        crib.entry("guarded", {"type": "http", "url": scene.url})
        await log_in(crib, scene)
        async with reach(crib.home) as commands:
            assert (await commands.logout(name="guarded"))["was_signed_in"]
            assert not (await commands.logout(name="guarded"))["was_signed_in"]
        async with crib.open() as host:
            await host.ready()
            assert host.servers.status("guarded").state is ServerState.NEEDS_AUTH


async def test_tokens_go_to_no_other_address_than_the_one_they_are_for(crib):
    heard: list[str | None] = []

    async def steal(scope, receive, send):
        assert scope["type"] == "http"
        headers = {key.decode(): value.decode() for key, value in scope["headers"]}
        heard.append(headers.get("authorization"))
        await send({"type": "http.response.start", "status": 401, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async with signed_scene() as scene:
        crib.entry("guarded", {"type": "http", "url": scene.url})
        await log_in(crib, scene)
        listening, thief = listening_socket()
        async with serving(steal, listening):
            crib.entry("guarded", {"type": "http", "url": f"{thief}/mcp"})
            async with crib.open() as host:
                await host.ready()
                assert host.servers.status("guarded").state is ServerState.NEEDS_AUTH
    assert heard
    assert set(heard) == {None}


@pytest.mark.parametrize(
    ("overrides", "why"),
    [
        (
            {"authorization_endpoint": "javascript:alert(1)"},
            "metadata .* is invalid",
        ),
        (
            {"authorization_endpoint": "data:text/html,<script>alert(1)</script>"},
            "metadata .* is invalid",
        ),
        ({"authorization_endpoint": "file:///etc/passwd"}, "metadata .* is invalid"),
        ({"authorization_endpoint": "https://user:pw@127.0.0.1/authorize"}, "unsafe address"),
        ({"authorization_endpoint": "http://10.0.0.1/authorize"}, "unsafe address"),
        ({"registration_endpoint": "http://169.254.169.254/register"}, "unsafe address"),
        ({"code_challenge_methods_supported": ["plain"]}, "PKCE"),
        ({"code_challenge_methods_supported": []}, "PKCE"),
        ({"code_challenge_methods_supported": None}, "PKCE"),
        ({"issuer": "http://127.0.0.1:1"}, "failed"),
    ],
)
async def test_an_issuer_that_leads_astray_is_not_followed(overrides, why):
    pages: list[str] = []

    async def note(address: str, issuer: str) -> None:
        pages.append(address)

    async with signed_scene(overrides) as scene:
        with pytest.raises(AuthRequired, match=why):
            await sign_in("guarded", RemoteSpec(url=scene.url), note, patience=30)
        assert pages == []
        assert scene.issuer.access == {}


async def test_a_server_that_asks_for_none_says_so(crib, tmp_path):
    listening, url = listening_socket()
    async with serving(MCPServer("open").streamable_http_app(), listening, lifespan=True):
        with pytest.raises(UsageError, match="requires no sign-in"):
            await sign_in("open", RemoteSpec(url=f"{url}/mcp"), lambda address, issuer: asyncio.sleep(0))


async def test_a_person_who_does_not_come_back_is_not_waited_for_without_end():
    async with signed_scene() as scene:

        async def ignore(address: str, issuer: str) -> None:
            pass

        with pytest.raises(AuthRequired, match="was not completed"):
            await sign_in("guarded", RemoteSpec(url=scene.url), ignore, patience=1)


async def test_only_the_awaited_return_counts_and_only_once():
    async with listen() as callback, httpx2.AsyncClient(trust_env=False) as browser:
        callback.expect("right")
        assert (
            await browser.get(callback.redirect_uri, params={"code": "x", "state": "wrong"})
        ).status_code == 400
        assert (await browser.get(callback.redirect_uri, params={"code": "x"})).status_code == 400
        assert (await browser.get(callback.redirect_uri.replace("callback", "other"))).status_code == 404
        assert (await browser.post(callback.redirect_uri)).status_code == 404
        page = await browser.get(
            callback.redirect_uri, params={"error_description": "<script>x</script>", "state": "right"}
        )
        assert "<script>x" not in page.text
        assert "default-src 'none'" in page.headers["content-security-policy"]
        assert (
            await browser.get(callback.redirect_uri, params={"code": "y", "state": "right"})
        ).status_code == 400
        assert (await callback.answer()).error == "<script>x</script>"


async def test_the_earlier_registration_is_used_again_while_its_port_is_free():
    async with signed_scene() as scene:
        spec = RemoteSpec(url=scene.url)
        first = await sign_in("guarded", spec, scene.agree_soon)
        again = await sign_in("guarded", spec, scene.agree_soon, earlier=first)
        assert again.client_id == first.client_id
        assert scene.issuer.asked.count("register") == 1
        async with listen(int(first.redirect_uri.rsplit(":", 1)[1].split("/")[0])):
            other = await sign_in("guarded", spec, scene.agree_soon, earlier=first)
        assert other.client_id != first.client_id
