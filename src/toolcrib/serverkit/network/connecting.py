"""Connects to a host by name, to checked addresses only.

The check is part of connecting: a name is looked up once, every address is checked, and the connection goes
to one of them. A DNS server that answers differently the second time gains nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import anyio
import httpcore2

from toolcrib.errors import NetworkRefused
from toolcrib.serverkit.network.policy import NetworkPolicy

NEXT_ADDRESS_AFTER = 0.25
"""Seconds until the next address is tried as well, as RFC 8305 recommends."""
_Options = Iterable[httpcore2.SOCKET_OPTION] | None


class GuardedBackend(httpcore2.AsyncNetworkBackend):
    """The connections of a client; raises `NetworkRefused` for addresses that the policy does not allow."""

    def __init__(self, policy: NetworkPolicy) -> None:
        self._policy = policy
        self._inner = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: _Options = None,
    ) -> httpcore2.AsyncNetworkStream:
        try:
            with anyio.fail_after(timeout):
                addresses = await self._policy.addresses(host, port)
                return await self._first_of(_interleaved(addresses), port, local_address, socket_options)
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout(error) from error

    async def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: _Options = None
    ) -> httpcore2.AsyncNetworkStream:
        raise NetworkRefused("Local sockets are not allowed.", hint="Use an http or https URL.")

    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)

    async def _first_of(
        self, addresses: list[str], port: int, local_address: str | None, options: _Options
    ) -> httpcore2.AsyncNetworkStream:
        """The first connection that opens; a host with a broken address costs little time."""
        opened: list[httpcore2.AsyncNetworkStream] = []
        errors: list[httpcore2.ConnectError] = []

        async def attempt(address: str, ended: anyio.Event) -> None:
            try:
                opened.append(await self._inner.connect_tcp(address, port, None, local_address, options))
                group.cancel_scope.cancel()
            except httpcore2.ConnectError as error:
                errors.append(error)
            finally:
                ended.set()

        try:
            async with anyio.create_task_group() as group:
                for address in addresses:
                    ended = anyio.Event()
                    group.start_soon(attempt, address, ended)
                    with anyio.move_on_after(NEXT_ADDRESS_AFTER):
                        await ended.wait()
            if not opened:
                raise errors[0]
            return opened.pop(0)
        finally:
            for surplus in opened:
                await surplus.aclose()


def _interleaved(addresses: list[str]) -> list[str]:
    """Alternately of the first address's family and of the other one, as one family may not work at all."""
    first = [each for each in addresses if (":" in each) == (":" in addresses[0])]
    other = [each for each in addresses if each not in first]
    pairs = itertools.zip_longest(first, other)
    return [each for pair in pairs for each in pair if each is not None]
