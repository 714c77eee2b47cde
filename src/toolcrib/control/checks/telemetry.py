"""Whether traces and metrics go anywhere, where somebody asked for them."""

from __future__ import annotations

from toolcrib.control.findings import Finding, Place, odd, well
from toolcrib.telemetry.setup import INSTALL, obstacle, wanted


async def check(place: Place) -> list[Finding]:
    """Asked for by the usual variables, and able to be sent; addresses stay out of it."""
    if not wanted(place.environ):
        return [well("telemetry", "Off: no OTEL_ variable asks for it.")]
    reason = obstacle(place.environ)
    if reason is not None:
        return [odd("telemetry", f"Asked for, but not sent. {reason}", f"Mend it, or unset it. {INSTALL}")]
    return [well("telemetry", "Sent over OTLP, as the OTEL_ variables say.")]
