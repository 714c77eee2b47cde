"""The running host, if any, and its socket: whether other users can reach it, or something else is at its
path."""

from __future__ import annotations

import stat

from toolcrib.host.lock import running_host
from toolcrib.operations.health import CheckContext, CheckResult, broken, ok, warning


async def check(context: CheckContext) -> list[CheckResult]:
    """Report the host, and whether other users can reach its socket."""
    path = context.paths.socket
    holder = running_host(context.paths.lock_file)
    try:
        mode = path.lstat().st_mode
    except OSError:
        mode = 0
    if mode and not stat.S_ISSOCK(mode):
        return [broken("host", f"{path} is in the way: it is not a socket.", "Move it elsewhere.")]
    if mode & 0o077:
        return [warning("host", f"Other users can reach the socket {path}.", "Restart the host.")]
    if holder is None:
        return [ok("host", "Not running; each command starts its own. Start one with: toolcrib up")]
    process = f"Running as process {holder.get('pid', '?')} since {holder.get('since', '?')}"
    if not mode:
        return [
            warning(
                "host",
                f"{process}, without a socket.",
                "A Python program uses this home, or is just starting.",
            )
        ]
    return [ok("host", f"{process}, at {path}.")]
