"""An answer is one packet, and nothing that was written is lost when a connection ends."""

from __future__ import annotations

import asyncio

from toolcrib.gateway.http.gathering import Gathering


class Connection:
    """A transport that remembers what reached it."""

    def __init__(self) -> None:
        self.packets: list[bytes] = []
        self.closed = False

    def writelines(self, data: list[bytes]) -> None:
        assert not self.closed
        self.packets.append(b"".join(data))

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    def get_extra_info(self, name: str) -> str:
        return f"the {name}"


async def test_what_is_written_in_one_turn_goes_out_together():
    connection = Connection()
    transport = Gathering(connection, asyncio.get_running_loop())
    transport.write(b"head ")
    transport.write(b"body")
    await asyncio.sleep(0)
    transport.write(b"later")
    await asyncio.sleep(0)
    assert connection.packets == [b"head body", b"later"]


async def test_what_was_written_is_sent_before_the_connection_closes():
    connection = Connection()
    transport = Gathering(connection, asyncio.get_running_loop())
    transport.write(b"last words")
    transport.close()
    assert (connection.packets, transport.is_closing()) == ([b"last words"], True)
    await asyncio.sleep(0)
    assert connection.packets == [b"last words"]


async def test_everything_else_is_the_connection_itself():
    transport = Gathering(Connection(), asyncio.get_running_loop())
    assert transport.get_extra_info("peername") == "the peername"
