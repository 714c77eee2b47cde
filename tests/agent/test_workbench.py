"""An agent has the terminal at hand for its own person, and never for those whom a gateway lends tools to."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Crib
from toolcrib.agent.agent import agent_principal
from toolcrib.bundled.terminal.sandbox import Sandbox
from toolcrib.operations.operation import Invocation
from toolcrib.operations.registry import perform

TERMINAL = "terminal__run_command"


async def ignore(event: object) -> None:
    """Nobody listens."""


async def test_a_question_opens_the_terminal(crib: Crib) -> None:
    async with crib.open() as host:
        await perform(host, "ask", {"text": "hello", "model": "demo"}, Invocation())

        assert TERMINAL in {tool.name for tool in host.tools()}


async def test_a_host_that_is_lent_to_others_opens_no_terminal(crib: Crib) -> None:
    async with crib.open() as host:
        host.lent = True
        await perform(host, "ask", {"text": "hello", "model": "demo"}, Invocation())

        assert TERMINAL not in {tool.name for tool in host.tools()}


async def test_what_a_chat_has_read_counts_when_it_goes_on(crib: Crib) -> None:
    crib.server("box")
    principal = agent_principal("chat")
    async with crib.open() as host:
        await host.ready()
        host.approvals.policy.sessions.of(principal).saw("box__echo", untrusted=True)
        await perform(host, "chat_close", {"chat": "chat"}, Invocation())

        assert host.approvals.policy.sessions.of(principal).untrusted == ("box__echo",)


async def test_the_terminal_follows_the_settings_while_it_runs(
    crib: Crib, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLCRIB_SEEN", "seen")
    outside = tmp_path / "outside"
    outside.mkdir()
    command = {"command": f"echo x > {outside}/made; echo $TOOLCRIB_SEEN"}
    crib.setting(terminal={"enabled": True, "folder": str(tmp_path), "sandbox": "none"})
    async with crib.open(watch=False) as host:
        before = await host.call(TERMINAL, command)
        (outside / "made").unlink()
        hidden = tmp_path / "hidden"
        hidden.mkdir()
        (hidden / "key").write_text("very secret")
        crib.setting(
            terminal={
                "enabled": True,
                "folder": str(outside),
                "variables": ["TOOLCRIB_SEEN"],
                "hidden": [str(hidden)],
            }
        )
        await host.reload()
        after = await host.call(TERMINAL, {"command": f"pwd; echo $TOOLCRIB_SEEN; cat {hidden}/key"})

    assert before["structuredContent"]["output"] == "\n"
    seen = after["structuredContent"]["output"]
    assert seen.startswith(f"{outside}\nseen\n")
    assert ("very secret" in seen) is (Sandbox().kind == "none")


async def test_a_terminal_that_is_switched_on_while_the_host_runs_is_offered(crib: Crib) -> None:
    async with crib.open(watch=False) as host:
        assert TERMINAL not in {tool.name for tool in host.tools()}
        crib.setting(terminal={"enabled": True})
        await host.reload()

        assert TERMINAL in {tool.name for tool in host.tools()}
