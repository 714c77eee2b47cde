"""An agent has the terminal at hand for its own person, and never for those whom a gateway lends tools to."""

from __future__ import annotations

from tests.conftest import Crib
from toolcrib.agent.agent import agent_principal
from toolcrib.control.dispatch import perform

TERMINAL = "terminal__run_command"


async def ignore(event: object) -> None:
    """Nobody listens."""


async def test_a_question_opens_the_terminal(crib: Crib) -> None:
    async with crib.open() as host:
        await perform(host, "ask", {"text": "hello", "model": "demo"}, ignore)

        assert TERMINAL in {tool.name for tool in host.tools()}


async def test_a_host_that_is_lent_to_others_opens_no_terminal(crib: Crib) -> None:
    async with crib.open() as host:
        host.lent = True
        await perform(host, "ask", {"text": "hello", "model": "demo"}, ignore)

        assert TERMINAL not in {tool.name for tool in host.tools()}


async def test_what_a_chat_has_read_counts_when_it_goes_on(crib: Crib) -> None:
    crib.server("box")
    principal = agent_principal("chat")
    async with crib.open() as host:
        await host.ready()
        host.approvals.sessions.of(principal).saw("box__echo", untrusted=True, private=False)
        await perform(host, "chat_close", {"chat": "chat"}, ignore)

        assert host.approvals.sessions.of(principal).untrusted == ("box__echo",)
