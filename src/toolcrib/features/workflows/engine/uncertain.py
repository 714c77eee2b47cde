"""Asks whether a call that was interrupted should run again; no one else can know whether it happened."""

from __future__ import annotations

from toolcrib.features.workflows.engine.active_run import ActiveRun
from toolcrib.features.workflows.engine.waits import WaitKey
from toolcrib.graph.node_type import UserAnswer
from toolcrib.graph.walk import Visit

AGAIN = "Do it again"
DONE = "It was done"
STOP = "Stop here"
NUMBER = 0
"""The waits of the node itself count from 1."""


async def ask_again(execution: ActiveRun, visit: Visit, tools: list[str], reason: str) -> UserAnswer | None:
    """The user's decision; None if it did not come in time."""
    content = {
        "text": f"{', '.join(dict.fromkeys(tools))} may or may not have run. {reason} What now?",
        "choices": [AGAIN, DONE, STOP],
        "fields": {},
        "shown": {"node": visit.node, "tools": tools},
        "picture": None,
    }
    seconds = execution.info.workflow.options.question_deadline
    key = WaitKey(execution.run, visit.step, NUMBER)
    stored = execution.plan.secrets.hide(content)
    wait = await execution.waits.open(key, execution.root, "uncertain", stored, seconds)
    try:
        answer = await execution.waits.answer_of(wait)
    except TimeoutError:
        return None
    return UserAnswer(
        choice=answer["choice"], values=answer.get("values") or {}, comment=answer.get("comment") or ""
    )
