"""Addresses are checked while connecting: what was checked is what is connected to."""

from __future__ import annotations

import asyncio
import socket
import ssl
from pathlib import Path

import httpx2
import pytest

from tests.loop_clock import LoopClock
from tests.serverkit.network.names import Names, in_turn, names, on_loopback
from tests.servers.remote.certificate import make_certificate
from tests.servers.remote.scripted import Call, Reply, scripted
from toolcrib.serverkit.network import FetchFailed, NetworkPolicy, NetworkRefused, fetch, open_client

DEADLINE = 60.0


async def answer(call: Call, reply: Reply) -> None:
    await reply.send(200, call.headers["host"].encode())


@pytest.mark.parametrize(
    "addresses",
    [
        ["10.0.0.1"],
        ["127.0.0.1"],
        ["fe80::1%eth0"],
        ["192.0.0.8"],
        ["192.88.99.1"],
        ["64:ff9b::7f00:1"],
        ["8.8.8.8", "10.0.0.1"],
        ["2606:4700::1111", "::1"],
        ["8.8.8.8"] * 30 + ["1.1.1.1", "169.254.169.254"],
    ],
)
async def test_a_name_with_one_address_that_is_not_public_is_refused(addresses: list[str]) -> None:
    with pytest.raises(NetworkRefused, match=r"internal\.test is not allowed"):
        await fetch("http://internal.test/", NetworkPolicy(resolve=names(internal_test=addresses)))


async def test_a_name_is_looked_up_once_and_its_checked_address_is_connected_to() -> None:
    resolve = Names({"rebinding.test": in_turn("127.0.0.1", "10.0.0.1")})
    async with scripted(answer) as server:
        fetched = await fetch(f"http://rebinding.test:{server.port}/", on_loopback(resolve))

    assert fetched.content == f"rebinding.test:{server.port}".encode()
    assert resolve.asked == ["rebinding.test"]


async def test_a_name_that_changes_its_address_is_checked_again_for_the_next_connection() -> None:
    resolve = Names({"rebinding.test": in_turn("127.0.0.1", "10.0.0.1")})

    async def redirect(call: Call, reply: Reply) -> None:
        await reply.send(302, location="/second", connection="close")
        reply.cut()

    async with scripted(redirect) as server:
        with pytest.raises(NetworkRefused, match="private network"):
            await fetch(f"http://rebinding.test:{server.port}/", on_loopback(resolve))

    assert [call.target for call in server.calls] == ["/"]


async def test_an_open_connection_is_used_again_without_a_lookup() -> None:
    resolve = Names({"steady.test": in_turn("127.0.0.1", "10.0.0.1")})
    async with scripted(answer) as server, open_client(on_loopback(resolve)) as client:
        for _ in range(3):
            assert (await client.get(f"http://steady.test:{server.port}/")).status_code == 200

    assert resolve.asked == ["steady.test"]


async def test_an_exception_of_the_user_reaches_its_host_and_port_and_no_other() -> None:
    async with scripted(answer) as allowed, scripted(answer) as other:
        policy = NetworkPolicy(
            allow_private=frozenset({f"nas.local:{allowed.port}"}),
            ports=None,
            resolve=names(nas_local="127.0.0.1", other_local="127.0.0.1"),
        )
        assert (await fetch(f"http://nas.local:{allowed.port}/", policy)).status == 200
        for url in (
            f"http://nas.local:{other.port}/",
            f"http://other.local:{allowed.port}/",
            f"http://127.0.0.1:{allowed.port}/",
        ):
            with pytest.raises(NetworkRefused):
                await fetch(url, policy)

    assert other.calls == []
    assert len(allowed.calls) == 1


async def test_a_host_whose_first_address_does_not_answer_is_reached_by_the_next_one() -> None:
    async with scripted(answer) as server:
        resolve = names(both_test=["::1", "127.0.0.2", "127.0.0.1"])
        fetched = await fetch(f"http://both.test:{server.port}/", on_loopback(resolve))

    assert fetched.status == 200


async def test_an_address_that_never_answers_does_not_hold_up_the_next_one() -> None:
    """A listener whose queue is full lets connections hang."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.3", 0))
        silent.listen(0)
        port = silent.getsockname()[1]
        waiting = [socket.socket() for _ in range(4)]
        for each in waiting:
            each.setblocking(False)
            each.connect_ex(("127.0.0.3", port))
        async with scripted(answer, port=port), asyncio.timeout(DEADLINE):
            resolve = names(both_test=["127.0.0.3", "127.0.0.1"])
            fetched = await fetch(f"http://both.test:{port}/", on_loopback(resolve))
        for each in waiting:
            each.close()

    assert fetched.status == 200


async def test_a_host_where_no_address_answers_is_an_error_without_internals(unused_tcp_port: int) -> None:
    resolve = names(down_test=["127.0.0.1", "127.0.0.2"])
    with pytest.raises(FetchFailed, match=r"http://down\.test:\d+ could not be fetched"):
        await fetch(f"http://down.test:{unused_tcp_port}/", on_loopback(resolve))


async def test_a_lookup_that_hangs_ends_with_the_timeout(clock: LoopClock) -> None:
    asked = asyncio.Event()

    async def hang(host: str, port: int) -> list[str]:
        asked.set()
        await asyncio.Event().wait()
        return []

    async with open_client(on_loopback(hang), timeout=30) as client:
        with pytest.raises(httpx2.ConnectTimeout):
            await clock.outlasts(client.get("http://slow.test/"), 30, begun=asked.wait())


async def test_the_certificate_is_checked_for_the_name_and_not_for_the_address(tmp_path: Path) -> None:
    server_tls, trusted = make_certificate(tmp_path)
    tls = ssl.create_default_context(cafile=str(trusted))
    async with scripted(answer, tls=server_tls) as server:
        policy = on_loopback(names(impostor_test="127.0.0.1"))
        assert (await fetch(f"https://127.0.0.1:{server.port}/", policy, tls=tls)).status == 200
        with pytest.raises(FetchFailed, match="CERTIFICATE_VERIFY_FAILED"):
            await fetch(f"https://impostor.test:{server.port}/", policy, tls=tls)
        with pytest.raises(FetchFailed, match="CERTIFICATE_VERIFY_FAILED"):
            await fetch(f"https://127.0.0.1:{server.port}/", policy)


async def test_names_and_certificates_of_the_environment_are_not_asked_for_a_proxy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with scripted(answer) as proxy, scripted(answer) as server:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        await fetch(f"http://page.test:{server.port}/", on_loopback(names(page_test="127.0.0.1")))
        with pytest.raises(NetworkRefused):
            await fetch("http://page.test/", NetworkPolicy(resolve=names(page_test="10.0.0.1")))

    assert proxy.calls == []
    assert len(server.calls) == 1


async def test_a_proxy_is_used_on_request_and_still_gets_no_private_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    resolve = names(page_test="8.8.8.8", intranet_test="10.0.0.1")
    async with scripted(answer) as proxy:
        for name in ("HTTP_PROXY", "http_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        policy = NetworkPolicy(resolve=resolve)
        assert (await fetch("http://page.test/", policy, proxies=True)).content == b"page.test"
        assert (await fetch("http://only-proxy.test/", policy, proxies=True)).status == 200
        for url in ("http://intranet.test/", "http://10.0.0.1/", "http://127.0.0.1/", "http://page.test:22/"):
            with pytest.raises(NetworkRefused):
                await fetch(url, policy, proxies=True)

    assert [call.target for call in proxy.calls] == ["http://page.test/", "http://only-proxy.test/"]
