"""`approvals`: the questions that nobody was there to answer."""

from __future__ import annotations

from typing import cast

from toolcrib.control.answers.policy import ApprovalQuestion
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """Nothing."""


def needs(params: Params, configured: Configured) -> Needs:
    """They are in the database."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> list[ApprovalQuestion]:
    """An array of questions, the oldest first."""
    waiting = await host.questions.requests.waiting()
    return [
        cast("ApprovalQuestion", {"asked_at": one.asked_at.isoformat(timespec="seconds"), **one.question})
        for one in waiting
    ]
