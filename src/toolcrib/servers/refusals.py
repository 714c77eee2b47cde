"""Says why a call cannot be made while its server is not ready."""

from __future__ import annotations

from toolcrib.errors import ServerNotReady
from toolcrib.schema.servers import ServerState, ServerStatus

HOPELESS = frozenset(
    {
        ServerState.DISABLED,
        ServerState.FAILED,
        ServerState.NEEDS_AUTH,
        ServerState.NEEDS_CONFIG,
        ServerState.NEEDS_TRUST,
    }
)
"""States that end only when somebody does something."""


def not_ready(status: ServerStatus) -> ServerNotReady:
    """The error for a call to a server in this state."""
    hint = "Try again shortly."
    if status.state is ServerState.DISABLED:
        return ServerNotReady(f"{status.name} is off.", hint=status.hint)
    if status.state in HOPELESS:
        return ServerNotReady(f"{status.name} is not running: {status.reason}", hint=status.hint)
    if status.state is ServerState.BACKOFF:
        return ServerNotReady(f"{status.name} is restarting: {status.reason}", hint=hint)
    return ServerNotReady(f"{status.name} is still starting.", hint=hint)
