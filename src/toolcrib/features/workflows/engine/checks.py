"""Checks after a node or a run: a failed one fails it, or is noted as a warning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from toolcrib.errors import CallFailed
from toolcrib.features.workflows.engine.visit_context import VisitContext
from toolcrib.schema.workflows import Check


class CheckFailed(CallFailed):
    """What should hold does not."""

    kind = "check_failed"


async def check_all(checks: Sequence[Check], context: VisitContext, values: Mapping[str, Any]) -> None:
    from toolcrib.features.workflows.checks import run_check

    """Note every outcome; raises `CheckFailed` for the first that fails."""
    outcomes = [await run_check(check, context, values) for check in checks]
    for outcome in outcomes:
        context.note("check", **asdict(outcome))
    if failed := [outcome.reason for outcome in outcomes if outcome.fails]:
        raise CheckFailed(f"A check failed: {failed[0]}.", hint="Look at the trace of the node.")
