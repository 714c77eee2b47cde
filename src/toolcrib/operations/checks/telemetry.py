"""Traces and metrics: whether they are turned on and can be sent."""

from __future__ import annotations

from toolcrib.operations.health import CheckContext, CheckResult, ok, warning
from toolcrib.telemetry.setup import INSTALL, obstacle, wanted


async def check(context: CheckContext) -> list[CheckResult]:
    """Check the OTEL_ variables; their values are not shown."""
    if not wanted(context.environ):
        return [ok("telemetry", "Off: no OTEL_ variable turns it on.")]
    reason = obstacle(context.environ)
    if reason is not None:
        return [
            warning(
                "telemetry", f"Turned on, but not sent. {reason}", f"Fix the variable, or unset it. {INSTALL}"
            )
        ]
    return [ok("telemetry", "Sent over OTLP, as set by the OTEL_ variables.")]
