"""The check of `toolcrib doctor` for workflows: triggers that are on but start nothing, and starts that
failed.
"""

from __future__ import annotations

from toolcrib.operations.health import CheckContext, CheckResult, ok, warning


async def check(context: CheckContext) -> list[CheckResult]:
    """Check that every trigger that was turned on can start runs."""
    if context.host is None:
        return []
    triggers = context.host.workflows.triggers
    if not any(activation.on for activation in await triggers.store.activations()):
        return []
    shown = await triggers.all()
    findings = [
        warning(
            f"trigger {found.defined.workflow}/{found.defined.key}",
            f"{found.status}: {found.reason}",
            f"See: toolcrib workflow triggers {found.defined.workflow}",
        )
        for found in shown
        if found.reason
    ]
    findings += [
        warning(
            f"trigger {found.defined.workflow}/{found.defined.key}",
            f"its start at {found.last.due:%Y-%m-%d %H:%M} failed: {found.last.note}",
            f"Start it again: toolcrib workflow rerun {found.last.run}",
        )
        for found in shown
        if found.last is not None and found.last.state == "failed"
    ]
    findings += [
        warning(
            f"trigger {lost.workflow}/{lost.trigger}", f"paused: {reason}", "Restore the workflow's file."
        )
        for lost, reason in await triggers.lost()
    ]
    return findings or [ok("triggers", "all workflows that start by themselves are ready")]
