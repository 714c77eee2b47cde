"""`approval_answer`: say yes or no to a question that waits."""

from __future__ import annotations

from toolcrib.approvals.question import Answer, read_lift
from toolcrib.control.answers.policy import ApprovalAnswered
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.errors import NotFound
from toolcrib.host import Host
from toolcrib.schema.approvals import Lift, Scope

FOR_PAGES = True


class Params(OperationParams):
    """Which question, and what the person says."""

    id: str
    allow: bool
    scope: Scope = "once"
    message: str = ""
    any_arguments: bool = False
    """For every call of the tool, where the question has a rule for that."""
    lift: Lift | bool | None = None
    """How far content from outside may act from now on; true is the whole session."""


def needs(params: Params, configured: Configured) -> Needs:
    """It is in the database; a host that waits for it looks there."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> ApprovalAnswered:
    """`{id, allowed, scope}`; raises `NotFound`."""
    answer = Answer(
        allow=params.allow,
        scope=params.scope,
        any_arguments=params.any_arguments,
        message=params.message,
        lift=read_lift(params.lift),
    )
    if not await host.questions.answer(params.id, answer):
        raise NotFound(f"No question {params.id!r} waits.", hint="See them with: toolcrib approvals")
    return {"id": params.id, "allowed": params.allow, "scope": params.scope}
