"""Which version is spoken: every way in which a server may take the probe and the handshake."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.loop_clock import LoopClock
from tests.servers.puppets import LEGACY, MODERN, SILENCE, Message, Puppet, Refusal
from toolcrib import __version__
from toolcrib.errors import ConfigError, StartFailed
from toolcrib.servers.sessions import negotiation
from toolcrib.servers.sessions.handlers import Handlers

pytestmark = pytest.mark.usefixtures("tidy")
META = "io.modelcontextprotocol/"


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slowly the child starts, it is asked one thing after the other."""
    monkeypatch.setattr(negotiation, "PROBE_PATIENCE", 60)


@pytest.fixture
def impatient(patient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(negotiation, "PROBE_PATIENCE", 0.2)


async def test_a_modern_server_is_asked_once_and_needs_no_handshake(puppet):
    async with puppet(MODERN) as server, server.connect() as session:
        assert (session.agreement.era, session.agreement.version) == ("modern", "2026-07-28")
        assert session.agreement.server_info == {"name": "puppet", "version": "1.2"}
        await session.list_tools(timeout=60)
        assert [message["method"] for message in server.heard] == ["server/discover", "tools/list"]


async def test_every_modern_request_says_who_asks_and_what_it_can_do(puppet):
    async with puppet(MODERN) as server, server.connect(handlers=Handlers(roots=_nothing)) as session:
        await session.list_tools(timeout=60)
        for message in server.heard:
            assert message["params"]["_meta"] == {
                META + "protocolVersion": "2026-07-28",
                META + "clientInfo": {"name": "toolcrib", "version": __version__},
                META + "clientCapabilities": {"roots": {"listChanged": True}},
            }


async def test_a_legacy_server_gets_the_handshake_and_no_modern_meta(puppet):
    async with puppet(LEGACY) as server, server.connect() as session:
        assert (session.agreement.era, session.agreement.version) == ("legacy", "2025-11-25")
        await session.list_tools(timeout=60)
        methods = [message["method"] for message in server.heard]
        assert methods == ["server/discover", "initialize", "notifications/initialized", "tools/list"]
        assert server.all("initialize")[0]["params"] == {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "toolcrib", "version": __version__},
        }
        assert "params" not in server.all("tools/list")[0]


@pytest.mark.parametrize("code", [-32601, -32602, -32600, -32603, -32000, -32001, 0, 7])
async def test_any_error_to_the_probe_means_legacy(puppet, code: int):
    async with puppet({**LEGACY, "server/discover": Refusal(code)}) as server, server.connect() as session:
        assert session.agreement.era == "legacy"


@pytest.mark.parametrize("data", [{"supported": ["2026-07-28", "2025-06-18"]}, {"supported": "?"}, {}, None])
async def test_a_refused_version_falls_back_where_a_legacy_one_may_do(puppet, data: Any):
    script = {**LEGACY, "server/discover": Refusal(-32022, "Unsupported protocol version", data)}
    async with puppet(script) as server, server.connect() as session:
        assert session.agreement.era == "legacy"


@pytest.mark.parametrize(
    "reaction",
    [
        Refusal(-32022, "Unsupported", {"supported": ["2031-01-01"]}),
        {"supportedVersions": ["2031-01-01"], "capabilities": {}},
    ],
)
async def test_a_server_of_a_later_age_is_named_and_never_retried(puppet, reaction: Any):
    async with puppet({**LEGACY, "server/discover": reaction}) as server:
        with pytest.raises(ConfigError, match="only protocol 2031-01-01") as caught:
            async with server.connect():
                pass
        assert "Update Toolcrib" in caught.value.hint
        assert not server.all("initialize")


@pytest.mark.parametrize("result", [{}, {"supportedVersions": None}, {"supportedVersions": []}, {"x": [1]}])
async def test_an_answer_that_is_no_discovery_means_legacy(puppet, result: dict[str, Any]):
    async with puppet({**LEGACY, "server/discover": result}) as server, server.connect() as session:
        assert session.agreement.era == "legacy"


async def test_a_server_silent_to_the_probe_gets_the_handshake_after_a_while(puppet, impatient):
    async with puppet({**LEGACY, "server/discover": SILENCE}) as server, server.connect() as session:
        assert session.agreement.era == "legacy"
        assert not server.all("notifications/cancelled")


async def test_a_slow_start_is_no_misjudged_era(puppet, impatient):
    async def late(server: Puppet, probe: Message) -> None:
        await server.expect("initialize")
        await server.reply(probe, MODERN["server/discover"])

    script = {**MODERN, "server/discover": late, "initialize": SILENCE}
    async with puppet(script) as server, server.connect() as session:
        assert session.agreement.era == "modern"
        await session.list_tools(timeout=60)
        assert not server.all("notifications/cancelled")


async def test_a_late_refusal_of_the_probe_leaves_the_handshake_its_time(puppet, impatient):
    async def late(server: Puppet, probe: Message) -> None:
        handshake = await server.expect("initialize")
        await server.refuse(probe, Refusal(-32601))
        await server.reply(handshake, LEGACY["initialize"])

    script = {**LEGACY, "server/discover": late, "initialize": SILENCE}
    async with puppet(script) as server, server.connect() as session:
        assert session.agreement.era == "legacy"


@pytest.mark.parametrize("code", [-32022, -32601])
async def test_a_refused_handshake_waits_for_the_probe_that_is_just_behind(puppet, impatient, code: int):
    async def crosswise(server: Puppet, handshake: Message) -> None:
        probe = server.all("server/discover")[0]
        await server.say(
            {"jsonrpc": "2.0", "id": handshake["id"], "error": {"code": code, "message": "no"}},
            {"jsonrpc": "2.0", "id": probe["id"], "result": MODERN["server/discover"]},
        )

    script = {**MODERN, "server/discover": SILENCE, "initialize": crosswise}
    async with puppet(script) as server, server.connect() as session:
        assert session.agreement.era == "modern"


async def test_silence_and_then_a_refusal_fail_before_the_deadline(puppet, impatient):
    script = {"server/discover": SILENCE, "initialize": Refusal(-32600, "not today")}
    async with puppet(script) as server:
        with pytest.raises(StartFailed, match="puppet refused the handshake: not today"):
            async with server.connect(timeout=600):
                pass


async def test_a_server_that_answers_nothing_fails_with_the_deadline(puppet, impatient, clock: LoopClock):
    async with puppet({}) as server:

        async def connect() -> None:
            async with server.connect(timeout=60):
                pass

        with pytest.raises(StartFailed, match="did not answer the handshake within 60 s") as caught:
            await clock.outlasts(connect(), 60, begun=server.expect("initialize"))
        assert "timeouts.start" in caught.value.hint
        assert not server.all("notifications/cancelled")  # the spec forbids cancelling a handshake


@pytest.mark.parametrize("version", ["2025-06-18", "2025-03-26", "2024-11-05"])
async def test_a_legacy_server_may_choose_an_older_version(puppet, version: str):
    script = {**LEGACY, "initialize": {**LEGACY["initialize"], "protocolVersion": version}}
    async with puppet(script) as server, server.connect() as session:
        assert session.agreement.version == version


@pytest.mark.parametrize("version", ["1999-01-01", None, 7, ["2025-11-25"]])
async def test_an_unknown_version_is_named_and_never_retried(puppet, version: Any):
    script = {**LEGACY, "initialize": {**LEGACY["initialize"], "protocolVersion": version}}
    async with puppet(script) as server:
        with pytest.raises(ConfigError, match="unknown protocol"):
            async with server.connect():
                pass
        assert not server.all("notifications/initialized")


async def test_a_remembered_legacy_server_is_not_probed(puppet):
    async with puppet(LEGACY) as server, server.connect(era="legacy") as session:
        assert session.agreement.era == "legacy"
        await session.list_tools(timeout=60)
        assert not server.all("server/discover")


async def test_a_remembered_legacy_server_that_became_modern_is_found_out(puppet):
    async with puppet(MODERN) as server, server.connect(era="legacy") as session:
        assert session.agreement.era == "modern"
        await server.expect("server/discover")


async def test_a_remembered_modern_server_that_became_legacy_is_found_out(puppet):
    async with puppet(LEGACY) as server, server.connect(era="modern") as session:
        assert session.agreement.era == "legacy"


@pytest.mark.parametrize("script", [LEGACY, MODERN], ids=["legacy", "modern"])
async def test_odd_details_are_not_fatal(puppet, script):
    opening = "initialize" if script is LEGACY else "server/discover"
    odd = {**script[opening], "capabilities": ["tools"], "serverInfo": "me", "instructions": 5, "_meta": 3}
    async with puppet({**script, opening: odd}) as server, server.connect() as session:
        assert session.agreement.capabilities == {}
        assert session.agreement.server_info == {}
        assert session.agreement.instructions == ""


async def test_instructions_are_kept(puppet):
    script = {**LEGACY, "initialize": {**LEGACY["initialize"], "instructions": "Be gentle."}}
    async with puppet(script) as server, server.connect() as session:
        assert session.agreement.instructions == "Be gentle."


async def test_a_server_that_pings_before_it_answers_gets_its_answer(puppet):
    async def ping_first(server: Puppet, message: Message) -> None:
        await server.ask("p", "ping")
        assert (await server.answer_to("p"))["result"] == {}
        await server.reply(message, LEGACY["initialize"])

    async with puppet({**LEGACY, "initialize": ping_first}) as server, server.connect() as session:
        assert session.agreement.era == "legacy"


async def test_a_cancelled_negotiation_leaves_nothing(puppet):
    async with puppet({}) as server:
        connecting = asyncio.ensure_future(_enter(server))
        await server.expect("server/discover")
        connecting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await connecting


async def _enter(server: Puppet) -> None:
    async with server.connect():
        raise AssertionError


async def _nothing(server: str, params: dict[str, Any]) -> dict[str, Any]:
    return {}
