"""Work on a server in the form that surfaces show."""

from __future__ import annotations

from toolcrib.control import failures
from toolcrib.control.answers.setups import SetupShown, SetupStepShown
from toolcrib.control.shapes import moment
from toolcrib.control.sources import source_of
from toolcrib.schema.setups import SetupStatus, SetupStep


def setup_json(status: SetupStatus) -> SetupShown:
    """All of it."""
    return {
        "name": status.name,
        "kind": status.kind,
        "state": status.state,
        "installing": status.installing,
        "source": source_of(status.entry) if status.entry else None,
        "began": moment(status.began),
        "ended": moment(status.ended) if status.ended else None,
        "steps": [_step_json(step) for step in status.steps],
        "done": status.done,
        "total": status.total,
        "error": failures.to_json(status.error) if status.error else None,
        "review": list(status.review),
        "tools": status.tools,
        "log": list(status.log),
    }


def _step_json(step: SetupStep) -> SetupStepShown:
    return {
        "key": step.key,
        "state": step.state,
        "detail": step.detail,
        "ms": step.ms,
        "began": moment(step.began) if step.began else None,
    }
