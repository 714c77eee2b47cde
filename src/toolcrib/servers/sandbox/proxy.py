"""The proxy by which a sandboxed server reaches what its entry allows, and no service of this machine: hosts
and ports, DNS, most connections, timeouts, and the texts for a refused address.

It listens inside the sandbox's network, which has no other way out. Each address is checked. Where only some
hosts are allowed, programs ask for them by name (HTTP); names are looked up here, so that none can lead to
this machine or a private network unless the entry names it with its port.

Carries the TCP connections of a sandboxed server to other machines, whatever program makes them (Linux). The
sandbox's own network leads nowhere. The kernel reports every `connect` inside (seccomp) and waits for our
answer: we connect to the checked address, and the program's socket to our listener in the sandbox. No socket
of the machine's network gets into the sandbox, so a program that changes the address while we look at it is
left with its own empty network. DNS queries are the only datagrams that leave: a socket that is connected to
port 53 of the sandbox is connected to one of ours instead, which passes them on.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import errno
import fcntl
import os
import re
import select
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from fnmatch import fnmatchcase
from ipaddress import IPv6Address, ip_address
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from toolcrib.errors import FetchFailed, NetworkRefused
from toolcrib.schema.servers import OTHER_MACHINES
from toolcrib.serverkit.network.addresses import AddressKind, is_closed
from toolcrib.serverkit.network.policy import NetworkPolicy, canonical_host, endpoint, shown
from toolcrib.serverkit.network.resolving import Resolver, system_resolver
from toolcrib.servers.processes.origin import is_here, is_own
from toolcrib.tasks import TaskSet, in_background

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Reach = Callable[[str, int], Awaitable[Sequence[str]]]
"""The addresses to connect to for an address and port; none for one inside; raises `NetworkRefused`."""
Open = Callable[[Sequence[str], int], Coroutine[Any, Any, Streams]]
Nameservers = Callable[[], Sequence[tuple[str, int]]]

DNS = 53
NAMES = ("127.0.0.1", DNS)
"""Where programs in the sandbox look names up."""
QUERY_SECONDS = 5.0
MOST_QUERIES = 256
MOST_REPORTS = 100
ACCEPT_SECONDS = 30.0
"""A connection that is not accepted after this time is given up."""
_RECEIVE, _ANSWER, _IS_WAITING = 0xC0502100, 0xC0182101, 0x40082102
_NOTICE = struct.Struct("=QIIiIQ6Q")
_CONTINUE = 1
_CLOSED = b"\x07"
"""The state of a TCP connection that was refused."""
_PIDFD_GETFD = 438
_LONGEST_ADDRESS = 128
_libc = ctypes.CDLL(None, use_errno=True)

HEAD_BYTES = 64 * 1024
HEAD_SECONDS = 30.0
CONNECT_SECONDS = 30.0
CHUNK = 64 * 1024
MOST_CONNECTIONS = 256
LISTENER, NOTICES, NAMES_SOCKET = "lnd"
"""What the program inside the sandbox sends: sockets, and the kernel's reports of connections."""
WEB_PORTS = frozenset({80, 443})
_AMBIGUOUS = re.compile(rb"(?<!\r)\n|\r(?!\n)|\n[ \t]|\0")
"""Ends of lines and continued lines, which servers read in different ways."""

Report = Callable[[str], None]


class Relay:
    """`notices` are the kernel's reports, `ports` those of our sockets inside: for connections, for names."""

    def __init__(
        self,
        notices: int,
        ports: tuple[int, int],
        reach: Reach,
        connect: Open,
        report: Callable[[str], None],
    ) -> None:
        self._notices = notices
        self._port, self._names_port = ports
        self._reach = reach
        self._connect = connect
        self._report = report
        self._reported: set[str] = set()
        self._expected: dict[tuple[str, int], asyncio.Future[asyncio.Task[Streams]]] = {}
        self._loop = asyncio.get_running_loop()
        self._poll = select.poll()
        self._poll.register(notices, select.POLLIN)
        self._threads = ThreadPoolExecutor(2, "sandbox connect")
        """The program decides whether its socket blocks; it must not block us."""
        self._tasks = TaskSet()

    async def __aenter__(self) -> Relay:
        self._loop.add_reader(self._notices, self._receive)
        return self

    async def __aexit__(self, *error: object) -> None:
        self._loop.remove_reader(self._notices)
        os.close(self._notices)
        for task in self._tasks:
            task.cancel()
        for name in list(self._expected):
            self._forget(name)
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def destination(self, name: Any) -> Streams:
        """Where the connection that came from this address leads; raises `OSError`."""
        key = _key(name)
        slot = self._expected.setdefault(key, self._loop.create_future())
        try:
            async with asyncio.timeout(ACCEPT_SECONDS):
                return await (await asyncio.shield(slot))
        finally:
            self._expected.pop(key, None)

    def _receive(self) -> None:
        found = self._poll.poll(0)
        if not found or not found[0][1] & select.POLLIN:
            if found:
                self._loop.remove_reader(self._notices)  # all programs of the sandbox have ended
            return
        notice = bytearray(_NOTICE.size)
        with contextlib.suppress(OSError):  # it has ended, or was interrupted
            fcntl.ioctl(self._notices, _RECEIVE, notice)
            self._tasks.start(self._answer(notice), name="sandbox connect")

    async def _answer(self, notice: bytearray) -> None:
        number, pid, _, _, _, _, descriptor, pointer, length, *_ = _NOTICE.unpack(notice)
        code = None
        with contextlib.suppress(OSError, ValueError):  # it has ended, or its arguments make no sense
            code = await self._decide(number, pid, descriptor & 0x7FFFFFFF, pointer, length)
        answer = (0, _CONTINUE) if code is None else (-code, 0)
        with contextlib.suppress(OSError):  # it has ended
            fcntl.ioctl(self._notices, _ANSWER, bytearray(struct.pack("=QqiI", number, 0, *answer)))

    async def _decide(self, number: int, pid: int, descriptor: int, pointer: int, length: int) -> int | None:
        """The error that the program gets, 0 for none; None to have the kernel do the call as it is.

        Raises `OSError` or `ValueError` where nothing can be found out; the kernel does the call then too.
        """
        with _socket_of(pid, descriptor) as theirs:
            fcntl.ioctl(self._notices, _IS_WAITING, bytearray(struct.pack("=Q", number)))
            target = _address(_memory(pid, pointer, min(length, _LONGEST_ADDRESS)))
            if target is None or theirs.family not in (socket.AF_INET, socket.AF_INET6):
                return None
            if theirs.type == socket.SOCK_DGRAM and target == NAMES:
                return await self._in_thread(theirs, _inside(theirs, self._names_port))
            if theirs.type != socket.SOCK_STREAM or _is_connected(theirs):
                return None
            return await self._carry(theirs, *target)

    async def _carry(self, theirs: socket.socket, address: str, port: int) -> int:
        try:
            addresses = await self._reach(address, port)
        except NetworkRefused as error:
            self._say(address, port, error.message)
            return errno.EACCES
        if (address, port) == NAMES:
            addresses = [system_nameservers()[0][0]]
        if not addresses:
            return await self._connect_inside(theirs, address, port)
        if not _has_route(addresses[0], port):
            return errno.ENETUNREACH
        far = asyncio.create_task(self._connect(addresses, port))
        if os.get_blocking(theirs.fileno()) and (failed := await _error_of(far)):
            return failed
        code = await self._in_thread(theirs, _inside(theirs, self._port))
        if code not in (0, errno.EINPROGRESS):
            _give_up(far)
            return code
        key = _key(theirs.getsockname())
        self._expected.setdefault(key, self._loop.create_future()).set_result(far)
        self._loop.call_later(ACCEPT_SECONDS, self._forget, key)
        return code

    async def _connect_inside(self, theirs: socket.socket, address: str, port: int) -> int:
        mapped = theirs.family == socket.AF_INET6 and ":" not in address
        code = await self._in_thread(theirs, (f"::ffff:{address}" if mapped else address, port))
        ended = theirs.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1) == _CLOSED
        if code == errno.ECONNREFUSED or (code == errno.EINPROGRESS and ended):
            self._say(address, port, "The sandbox has no such service, and those of this machine are closed.")
        return code

    async def _in_thread(self, theirs: socket.socket, address: tuple[str, int]) -> int:
        return await self._loop.run_in_executor(self._threads, theirs.connect_ex, address)

    def _forget(self, key: tuple[str, int]) -> None:
        slot = self._expected.pop(key, None)
        if slot is not None and slot.done():
            _give_up(slot.result())

    def _say(self, address: str, port: int, why: str) -> None:
        named = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
        if named not in self._reported and len(self._reported) < MOST_REPORTS:
            self._reported.add(named)
            how = f"To allow it, add '{named}' to sandbox.network of its entry, with '*:*'."
            self._report(f"blocked {named}: {why} {how}")


def _socket_of(pid: int, descriptor: int) -> socket.socket:
    """The same socket that the program has under this number."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("Tgid:"):
            pid = int(line.split()[1])
    process = os.pidfd_open(pid)
    try:
        found = _libc.syscall(_PIDFD_GETFD, process, descriptor, 0)
        if found < 0:
            raise OSError(ctypes.get_errno(), "the socket cannot be had")
    finally:
        os.close(process)
    try:
        return socket.socket(fileno=found)
    except OSError:
        os.close(found)
        raise


def _memory(pid: int, pointer: int, length: int) -> bytes:
    memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY)
    try:
        return os.pread(memory, length, pointer)
    except OverflowError as error:
        raise OSError(errno.EFAULT, "no such memory") from error
    finally:
        os.close(memory)


def _address(data: bytes) -> tuple[str, int] | None:
    """The address and port of a `sockaddr`; None for other families than those of the internet."""
    family = int.from_bytes(data[:2], "little")
    port = int.from_bytes(data[2:4])
    if family == socket.AF_INET and len(data) >= 8:
        return socket.inet_ntop(socket.AF_INET, data[4:8]), port
    if family == socket.AF_INET6 and len(data) >= 24:
        address = IPv6Address(data[8:24])
        return str(address.ipv4_mapped or address), port
    return None


def _is_connected(theirs: socket.socket) -> bool:
    try:
        theirs.getpeername()
    except OSError:
        return False
    return True


def _inside(theirs: socket.socket, port: int) -> tuple[str, int]:
    """One of our sockets in the sandbox, as a socket of this kind can reach it."""
    if theirs.family == socket.AF_INET:
        return "127.0.0.1", port
    alone = theirs.getsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY)
    return ("::1" if alone else "::ffff:127.0.0.1"), port


def _has_route(address: str, port: int) -> bool:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as asking:
            asking.connect((address, port))  # sends nothing
    except OSError:
        return False
    return True


async def _error_of(far: asyncio.Task[Streams]) -> int:
    """0 once it is connected."""
    try:
        await asyncio.shield(far)
    except TimeoutError:
        return errno.ETIMEDOUT
    except OSError as error:
        return error.errno or errno.ECONNREFUSED
    return 0


def _give_up(far: asyncio.Task[Streams]) -> None:
    """Close a connection that nobody takes."""

    def close(done: asyncio.Task[Streams]) -> None:
        if not done.cancelled() and done.exception() is None:
            done.result()[1].close()

    far.cancel()
    far.add_done_callback(close)


def _key(name: Any) -> tuple[str, int]:
    address = ip_address(str(name[0]))
    return str(getattr(address, "ipv4_mapped", None) or address), int(name[1])


def system_nameservers() -> Sequence[tuple[str, int]]:
    """Those of this machine."""
    try:
        lines = Path("/etc/resolv.conf").read_text().splitlines()
    except OSError:
        lines = []
    words = [line.split() for line in lines]
    found = [fields[1] for fields in words if len(fields) > 1 and fields[0] == "nameserver"]
    return [(address, DNS) for address in found[:3] or ["127.0.0.1"]]


class NameRelay:
    """Passes DNS queries on while the block runs."""

    def __init__(self, inside: socket.socket, nameservers: Nameservers = system_nameservers) -> None:
        self._inside = inside
        self._nameservers = nameservers
        self._loop = asyncio.get_running_loop()
        self._tasks = TaskSet()

    async def __aenter__(self) -> NameRelay:
        self._inside.setblocking(False)
        self._loop.add_reader(self._inside, self._receive)
        return self

    async def __aexit__(self, *error: object) -> None:
        self._loop.remove_reader(self._inside)
        self._inside.close()
        for task in self._tasks:
            task.cancel()

    def _receive(self) -> None:
        with contextlib.suppress(OSError):
            query, client = self._inside.recvfrom(65535)
            if len(self._tasks) < MOST_QUERIES:
                self._tasks.start(self._ask(query, client), name="sandbox name")

    async def _ask(self, query: bytes, client: Any) -> None:
        for server in self._nameservers():
            with contextlib.suppress(OSError, TimeoutError):
                self._inside.sendto(await self._answer(query, server), client)
                return

    async def _answer(self, query: bytes, server: tuple[str, int]) -> bytes:
        family = socket.AF_INET6 if ":" in server[0] else socket.AF_INET
        with socket.socket(family, socket.SOCK_DGRAM) as asking:
            asking.setblocking(False)
            asking.connect(server)
            await self._loop.sock_sendall(asking, query)
            async with asyncio.timeout(QUERY_SECONDS):
                return await self._loop.sock_recv(asking, 65535)


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
    try:
        async with in_background(_serve(channel, hosts, report), "sandbox proxy"):
            yield
    finally:
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
            names = socket.socket(fileno=received[NAMES_SOCKET])
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
