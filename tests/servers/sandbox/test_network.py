"""What a sandboxed server reaches: other machines, and of this machine only what its entry names."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Crib
from tests.servers.sandbox.test_running import CONNECT, GET, answering, logged, probing
from toolcrib.errors import NetworkRefused
from toolcrib.gateway.http.server import serve_http
from toolcrib.operations.trust import sandbox_text
from toolcrib.schema.servers import OTHER_MACHINES, SandboxPolicy
from toolcrib.servers.sandbox import running as confine
from toolcrib.servers.sandbox.proxy import HostList, NameRelay

MANY = """
import asyncio
async def one(port):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET / HTTP/1.1\\r\\n\\r\\n")
    return (await reader.read()).endswith(b"hello")
async def all(port, count):
    return sum(await asyncio.gather(*(one(port) for _ in range(count))))
"""
MAPPED = "import_('socket').socket(10).connect(('::ffff:127.0.0.1', {}))"


def own_address() -> str:
    """An address of this machine other than loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.connect(("10.255.255.255", 1))  # sends nothing
        return str(asking.getsockname()[0])


@asynccontextmanager
async def listening() -> AsyncIterator[tuple[int, list[bool]]]:
    """A listener at all addresses of this machine; its port, and whether anyone came."""
    met: list[bool] = []

    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        met.append(True)
        writer.close()

    server = await asyncio.start_server(client, None, 0, family=socket.AF_INET)
    port = server.sockets[0].getsockname()[1]
    async with server:
        with contextlib.suppress(OSError):
            await asyncio.start_server(client, "::1", port)
        yield port, met


async def test_by_default_no_service_of_this_machine_is_reached(crib: Crib) -> None:
    async with listening() as (port, met), probing(crib.home) as (host, run):
        for address in ("127.0.0.1", "127.9.8.7", "localhost", "::1", "0.0.0.0", "::", own_address()):
            said = await run(f"import_('socket').create_connection(({address!r}, {port}), 5)")
            assert "Error" in said, address
        assert "Error" in await run(MAPPED.format(port))
        line = await logged(host, f"blocked 127.0.0.1:{port}")
    assert "'*:*'" in line
    assert met == []


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1"])
async def test_a_named_port_of_this_machine_is_reached_by_any_program(crib: Crib, name: str) -> None:
    async with (
        answering() as port,
        answering() as other,
        probing(crib.home, {"network": ["*:*", f"{name}:{port}"]}) as (_, run),
    ):
        assert await run(GET.format(port)) == "b'hello'"
        assert "socket" in await run(CONNECT.format(port))
        assert await run(f"import_('socket').socket().connect(('127.0.0.1', {port}))") == "None"
        assert await run(MAPPED.format(port)) == "None"
        assert "refused" in await run(CONNECT.format(other))


async def test_many_connections_at_once_are_carried(crib: Crib) -> None:
    async with answering() as port, probing(crib.home, {"network": ["*:*", f"localhost:{port}"]}) as (_, run):
        running = f"import_('asyncio').run(scope['all']({port}, 100))"
        code = f"(lambda scope: (import_('builtins').exec({MANY!r}, scope), {running})[1])({{}})"
        assert await run(code) == "100"


async def test_a_service_inside_the_sandbox_is_reached_from_inside(crib: Crib) -> None:
    listener = "s := import_('socket').create_server(('127.0.0.1', 0))"
    serve = f"[{listener}, import_('socket').create_connection(s.getsockname(), 5)]"
    async with probing(crib.home) as (_, run):
        assert "raddr" in await run(serve)


async def test_a_named_port_without_a_service_is_refused(crib: Crib) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    async with probing(crib.home, {"network": ["*:*", f"127.0.0.1:{port}"]}) as (_, run):
        said = await run(f"import_('socket').socket().connect(('127.0.0.1', {port}))")
    assert "ConnectionRefusedError" in said


async def test_without_reports_of_the_kernel_the_proxy_is_the_only_way(
    crib: Crib, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confine, "can_relay", lambda: False)
    async with (
        answering() as port,
        answering() as other,
        probing(crib.home, {"network": ["*:*", f"127.0.0.1:{port}"]}) as (host, run),
    ):
        assert await run(GET.format(port)) == "b'hello'"
        assert "403" in await run(GET.format(other))
        assert "Error" in await run(CONNECT.format(port))
        assert "HTTP_PROXY" in await logged(host, "only programs")


@pytest.mark.parametrize("network", [True, "open"])
async def test_the_gateway_of_another_host_is_not_used(crib: Crib, tmp_path: Path, network: Any) -> None:
    """Not even where the server shares the network of this machine."""
    second = probing(tmp_path / "second", {"network": network})
    async with crib.open() as other, serve_http(other) as (base, _), second as (_, run):
        said = await run(GET.format(int(base.rpartition(":")[2])))
    assert "Error" in said
    assert ("403" in said or "reset" in said) is (network == "open")


async def test_an_open_network_reaches_the_services_of_this_machine(crib: Crib) -> None:
    async with answering() as port, probing(crib.home, {"network": "open"}) as (_, run):
        assert await run(GET.format(port)) == "b'hello'"
    assert "every service on it" in " ".join(sandbox_text(SandboxPolicy(shares_network=True)))


async def resolve(host: str, port: int) -> Sequence[str]:
    return {"here.example.com": ["127.0.0.1"], "api.example.com": ["93.184.216.34"]}[host]


@pytest.mark.parametrize(
    ("address", "port", "allowed"),
    [
        *(
            ("93.184.216.34", 25, True),
            ("10.1.2.3", 5432, True),
            ("fd12::1", 22, True),
            ("api.example.com", 8, True),
        ),
        *(("169.254.169.254", 80, False), ("fd00:ec2::254", 80, False), ("fe80::1", 80, False)),
        *(("224.0.0.1", 80, False), ("0.1.2.3", 80, False), ("here.example.com", 80, False)),
        *(("127.0.0.1", 5433, False), ("127.0.0.1", 5432, True), ("::ffff:127.0.0.1", 5433, False)),
        *(("169.254.169.254", 81, True), ("own", 80, False), ("192.0.0.192", 80, False)),
    ],
)
async def test_other_machines_are_reached_and_this_one_is_not(address: str, port: int, allowed: bool) -> None:
    hosts = HostList((OTHER_MACHINES, "127.0.0.1:5432", "169.254.169.254:81"), resolve)
    address = own_address() if address == "own" else address
    if allowed:
        assert await hosts.addresses(address, port)
        return
    with pytest.raises(NetworkRefused):
        await hosts.addresses(address, port)


async def test_a_public_address_of_this_machine_is_not_reached_by_name() -> None:
    async def here(host: str, port: int) -> Sequence[str]:
        return [own_address()]

    with pytest.raises(NetworkRefused):
        await HostList(("api.example.com",), here).addresses("api.example.com", 443)


async def test_names_are_asked_of_the_next_nameserver_if_the_first_is_silent() -> None:
    def inside() -> socket.socket:
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.bind(("127.0.0.1", 0))
        return made

    with inside() as nameserver, inside() as gone, inside() as client:
        closed = gone.getsockname()
        gone.close()
        client.setblocking(False)
        nameserver.setblocking(False)
        loop = asyncio.get_running_loop()
        served = inside()
        async with NameRelay(served, lambda: [closed, nameserver.getsockname()]), asyncio.timeout(30):
            await loop.sock_sendto(client, b"query", served.getsockname())
            asked, back = await loop.sock_recvfrom(nameserver, 100)
            await loop.sock_sendto(nameserver, b"answer to " + asked, back)
            assert await loop.sock_recv(client, 100) == b"answer to query"
