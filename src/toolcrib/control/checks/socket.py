"""Whether a host is running on the home, and its socket."""

from __future__ import annotations

import stat

from toolcrib.control.findings import Finding, Place, broken, odd, well
from toolcrib.host.lock import running_host


async def check(place: Place) -> list[Finding]:
    """Who holds the home, and who could reach the socket."""
    path = place.paths.socket
    holder = running_host(place.paths.lock_file)
    try:
        mode = path.lstat().st_mode
    except OSError:
        mode = 0
    if mode and not stat.S_ISSOCK(mode):
        return [broken("host", f"{path} is in the way: it is no socket.", "Move it elsewhere.")]
    if mode & 0o077:
        return [odd("host", f"Others may reach the socket {path}.", "Restart the host.")]
    if holder is None:
        return [well("host", "None is running; commands open one for themselves. `toolcrib up` starts one.")]
    who = f"Process {holder.get('pid', '?')} runs since {holder.get('since', '?')}"
    if not mode:
        return [
            odd("host", f"{who}, without a socket.", "A Python program holds this home, or is just starting.")
        ]
    return [well("host", f"{who}, at {path}.")]
