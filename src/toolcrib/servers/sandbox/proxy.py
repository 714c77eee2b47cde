"""The proxy by which a sandboxed server reaches what its entry allows, and no service of this machine.

It listens inside the sandbox's network, which has no other way out. Each address is checked. Where only some
hosts are allowed, programs ask for them by name (HTTP); names are looked up here, so that none can lead to
this machine or a private network unless the entry names it with its port.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import struct
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from fnmatch import fnmatchcase
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from toolcrib.errors import FetchFailed, NetworkRefused
from toolcrib.schema.servers import OTHER_MACHINES
from toolcrib.serverkit.network.addresses import AddressKind, is_closed
from toolcrib.serverkit.network.policy import NetworkPolicy, canonical_host, endpoint, shown
from toolcrib.serverkit.network.resolving import Resolver, system_resolver
from toolcrib.servers.sandbox.own_ports import is_here, is_own
from toolcrib.servers.sandbox.relay import NameRelay, Relay

HEAD_BYTES = 64 * 1024
HEAD_SECONDS = 30.0
CONNECT_SECONDS = 30.0
CHUNK = 64 * 1024
MOST_CONNECTIONS = 256
LISTENER, NOTICES, NAMES = "lnd"
"""What the program inside the sandbox sends: sockets, and the kernel's reports of connections."""
WEB_PORTS = frozenset({80, 443})
_AMBIGUOUS = re.compile(rb"(?<!\r)\n|\r(?!\n)|\n[ \t]|\0")
"""Ends of lines and continued lines, which servers read in different ways."""

Report = Callable[[str], None]


class HostList:
    """Decides which hosts and ports a server may reach."""

    def __init__(self, hosts: Sequence[str], resolve: Resolver = system_resolver) -> None:
        named = [_split(text) for text in hosts if text != OTHER_MACHINES]
        self._names = [host for host, port in named if port is None]
        self._exact = {(host, port) for host, port in named if port is not None}
        self.others = OTHER_MACHINES in hosts
        kinds: tuple[AddressKind, ...] = ("public", "private", "reserved") if self.others else ("public",)
        exceptions = frozenset(endpoint(host, port) for host, port in self._exact if "*" not in host)
        self._policy = NetworkPolicy(
            allow_private=exceptions, ports=None, kinds=frozenset(kinds), resolve=resolve
        )

    async def addresses(self, host: str, port: int) -> Sequence[str]:
        """The checked addresses of an allowed host; raises `NetworkRefused`."""
        host = canonical_host(host)
        allowed = port in WEB_PORTS and any(fnmatchcase(host, name) for name in self._names)
        if not allowed and not self.others and not any(_matches(host, port, exact) for exact in self._exact):
            raise NetworkRefused(f"{host}:{port} is not among the hosts of its sandbox.")
        found = await self._policy.addresses(host, port)
        if any(is_own(address, port) for address in found):
            raise NetworkRefused(f"{host}:{port} is the gateway of this host, which no server may use.")
        if not self._policy.allows(host, port) and any(
            is_closed(address) or is_here(address) for address in found
        ):
            raise NetworkRefused(f"{host}:{port} is on this machine, or only for it.")
        return found

    async def reach(self, address: str, port: int) -> Sequence[str]:
        """The same for a connection to an address; empty if it stays inside of the sandbox."""
        for host in [host for host, named in self._exact if named == port and "*" not in host]:
            with contextlib.suppress(FetchFailed):
                if address in await self.addresses(host, port):
                    return [address]
        ip = ip_address(address)
        return [] if ip.is_loopback or ip.is_unspecified else await self.addresses(address, port)


def _matches(host: str, port: int, allowed: tuple[str, int]) -> bool:
    return port == allowed[1] and fnmatchcase(host, allowed[0])


def _split(text: str) -> tuple[str, int | None]:
    host, colon, port = text.strip().lower().rpartition(":")
    if colon and port.isdigit() and not host.endswith(":"):
        return host.strip("[]"), int(port)
    return text.strip().lower().strip("[]"), None


@asynccontextmanager
async def serve(channel: socket.socket, hosts: HostList, report: Report) -> AsyncIterator[None]:
    """Be the proxy of the sandbox at the other end of this channel while the block runs."""
    waiting = asyncio.create_task(_serve(channel, hosts, report), name="sandbox proxy")
    try:
        yield
    finally:
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        channel.close()


async def _serve(channel: socket.socket, hosts: HostList, report: Report) -> None:
    channel.setblocking(False)
    received = await _received(channel)
    if LISTENER not in received:
        return  # the server ended before it started
    listener = socket.socket(fileno=received[LISTENER])
    slots = asyncio.Semaphore(MOST_CONNECTIONS)
    relay: Relay | None = None

    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with slots:
            with contextlib.suppress(OSError, TimeoutError, asyncio.IncompleteReadError):
                if relay is None:
                    await _exchange(reader, writer, hosts, report)
                else:
                    await _carry(reader, writer, relay)
            writer.close()

    async with AsyncExitStack() as stack:
        if NOTICES in received:
            names = socket.socket(fileno=received[NAMES])
            ports = (listener.getsockname()[1], names.getsockname()[1])
            made = Relay(received[NOTICES], ports, hosts.reach, _connect_in_time, report)
            relay = await stack.enter_async_context(made)
            await stack.enter_async_context(NameRelay(names))
        elif hosts.others:
            report("only programs that use HTTP_PROXY reach the network here; see docs/sandbox.md.")
        server = await asyncio.start_server(client, sock=listener, limit=HEAD_BYTES)
        await stack.enter_async_context(server)
        await server.serve_forever()


async def _received(channel: socket.socket) -> dict[str, int]:
    """The descriptors that the sandbox sent, each by its letter."""
    ready = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(channel, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(channel)
    letters, descriptors, _, _ = socket.recv_fds(channel, 16, 3)
    return dict(zip(letters.decode("ascii", "replace"), descriptors, strict=False))


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, relay: Relay) -> None:
    """Connect a program with the address that it wanted; one that cannot be reached resets the connection."""
    try:
        far_reader, far_writer = await relay.destination(writer.get_extra_info("peername"))
    except (OSError, TimeoutError):
        connection = writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()
        return
    await _join(reader, writer, far_reader, far_writer)


async def _connect_in_time(
    addresses: Sequence[str], port: int
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    async with asyncio.timeout(CONNECT_SECONDS):
        return await _connect(addresses, port)


async def _exchange(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, hosts: HostList, report: Report
) -> None:
    try:
        async with asyncio.timeout(HEAD_SECONDS):
            head = await reader.readuntil(b"\r\n\r\n")
    except (TimeoutError, asyncio.LimitOverrunError):
        return
    target = _target(head)
    if target is None:
        await _answer(writer, "400 Bad Request", "This proxy takes CONNECT and absolute http URLs.")
        return
    host, port, first = target
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            far_reader, far_writer = await _connect(await hosts.addresses(host, port), port)
    except NetworkRefused as error:
        name = shown(f"{host}:{port}")
        report(f"blocked {name}: {error.message} To allow it, add {host!r} to sandbox.network of its entry.")
        await _answer(writer, "403 Forbidden", error.message)
        return
    except (OSError, TimeoutError, FetchFailed) as error:
        await _answer(writer, "502 Bad Gateway", f"{host} cannot be reached: {error}")
        return
    if first is None:
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
    else:
        far_writer.write(first)
    await _join(reader, writer, far_reader, far_writer)


async def _join(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    far_reader: asyncio.StreamReader,
    far_writer: asyncio.StreamWriter,
) -> None:
    try:
        await asyncio.gather(_copy(reader, far_writer), _copy(far_reader, writer))
    finally:
        far_writer.close()


def _target(head: bytes) -> tuple[str, int, bytes | None] | None:
    """The host and port, and for plain HTTP the request to send there; None for anything else."""
    line, _, rest = head.partition(b"\r\n")
    if _AMBIGUOUS.search(head):
        return None
    try:
        method, url, version = line.decode("ascii").split(" ")
        if method == "CONNECT":
            parts = urlsplit(f"//{url}")
            return (parts.hostname, parts.port, None) if parts.hostname and parts.port else None
        parts = urlsplit(url)
        if parts.scheme != "http" or not parts.hostname:
            return None
        path = parts._replace(scheme="", netloc="", fragment="").geturl() or "/"
        first = f"{method} {path} {version}\r\nHost: {_authority(parts)}\r\n".encode("ascii") + _closing(rest)
        return parts.hostname, parts.port or 80, first
    except ValueError:
        return None


def _authority(parts: SplitResult) -> str:
    """Host and port without a password."""
    return parts.netloc.rpartition("@")[2]


def _closing(headers: bytes) -> bytes:
    """One request a connection, and no other host than in its URL, so that no other site answers there."""
    dropped = (b"host:", b"host ", b"connection:", b"proxy-", b"keep-alive:")
    kept = [line for line in headers.split(b"\r\n") if line and not line.lower().startswith(dropped)]
    return b"\r\n".join([*kept, b"Connection: close", b"", b""])


async def _connect(addresses: Sequence[str], port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    error: OSError = OSError("it has no address")
    for address in addresses:
        try:
            return await asyncio.open_connection(address, port)
        except OSError as failed:
            error = failed
    raise error


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(CHUNK):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        with contextlib.suppress(OSError, RuntimeError):
            writer.write_eof() if writer.can_write_eof() else writer.close()


async def _answer(writer: asyncio.StreamWriter, status: str, text: str) -> None:
    body = f"{text}\n".encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\n"
    writer.write(head.encode() + b"Connection: close\r\n\r\n" + body)
    with contextlib.suppress(OSError):
        await writer.drain()
