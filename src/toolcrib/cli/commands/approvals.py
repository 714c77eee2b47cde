"""`toolcrib approvals`: list calls that wait for approval, and allow or deny them, once or for a chat, a
project or always."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from toolcrib.cli.declare import declare
from toolcrib.cli.group import command_of
from toolcrib.cli.output import note, say
from toolcrib.cli.safe_text import revealed
from toolcrib.cli.surface import Surface

if TYPE_CHECKING:
    from toolcrib.operations.results.policy import ApprovalAnswered, ApprovalQuestion
    from toolcrib.schema.approvals import FlowException, Scope

SCOPES = ("once", "chat", "project", "always")
_LIFTED = {
    "tool": "allows calls of this tool after untrusted content, in this session",
    "turn": "allows all calls after untrusted content, until the answer ends",
    "session": "allows all calls after untrusted content, in this session",
}


@declare()
async def list_(surface: Surface) -> None:
    """List the calls that wait for your approval, exactly as they would run."""
    async with surface.reach() as client:
        found = await client.approvals()
    if surface.answer(found):
        return
    if not found:
        note("No call is waiting for approval.")
    for question in found:
        say(f"{question['id']}  {_whose(question)}  {question['asked_at']}")
        say(call_lines(question["call"]))
        for reason in question["reasons"]:
            say(f"  # {revealed(reason)}")
        for scope, rules in question.get("rules", {}).items():
            say(f"  --scope {scope} writes {rules['allow']}")
        for scope, rules in question.get("tool_rules", {}).items():
            say(f"  --scope {scope} --any-arguments writes {rules['allow']}")
        for lift in question.get("lifts", ()):
            say(f"  --lift {lift} {_LIFTED[lift]}")


def _whose(question: ApprovalQuestion) -> str:
    """The caller; for a client of the gateway, also the name that it gives itself."""
    principal = question["principal"]
    is_client = principal.partition(":")[0] == "gateway"
    return f"{principal} ({revealed(question['session'] or '')})" if is_client else principal


def call_lines(call: str) -> str:
    """The call, indented; only its own line breaks begin a line."""
    return "\n".join(f"  {revealed(line)}" for line in call.split("\n"))


@declare()
@click.argument("question")
@click.option("--scope", type=click.Choice(SCOPES), default="once", help="How long the answer applies.")
@click.option("--any-arguments", is_flag=True, help="Allow every call of a read-only tool.")
@click.option(
    "--lift", type=click.Choice(tuple(_LIFTED)), help="What untrusted content may cause from now on."
)
async def allow(
    surface: Surface, question: str, scope: Scope, any_arguments: bool, lift: FlowException | None
) -> None:
    """Allow the call with the id QUESTION."""
    async with surface.reach() as client:
        outcome = await client.approval_answer(
            id=question, allow=True, scope=scope, any_arguments=any_arguments, lift=lift
        )
    _show_answer(surface, outcome)


@declare()
@click.argument("question")
@click.option("--message", default="", metavar="TEXT", help="Your note to the caller.")
@click.option("--scope", type=click.Choice(SCOPES), default="once", help="How long the answer applies.")
async def deny(surface: Surface, question: str, message: str, scope: Scope) -> None:
    """Deny the call with the id QUESTION."""
    async with surface.reach() as client:
        outcome = await client.approval_answer(id=question, allow=False, message=message, scope=scope)
    _show_answer(surface, outcome)


def _show_answer(surface: Surface, outcome: ApprovalAnswered) -> None:
    if not surface.answer(outcome):
        say(f"{outcome['id']} is {'allowed' if outcome['allowed'] else 'denied'}.")


command = command_of(
    "approvals", "Tools", "List the calls that wait for your approval, and answer them.", list_, allow, deny
)
