"""Run as a program inside a sandbox: sets limits (memory, size of files, processes), opens the proxy's port,
and becomes the server.

Only the standard library: it starts before every sandboxed server. Its first argument is JSON.
"""

from __future__ import annotations

import json
import os
import resource
import socket
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LIMITS = {"data": resource.RLIMIT_DATA, "file": resource.RLIMIT_FSIZE, "processes": resource.RLIMIT_NPROC}
_SET_FILTER, _LISTENER, _WAIT_UNTIL_KILLED = 1, 8, 32


def main() -> None:
    wanted = json.loads(sys.argv[1])
    environment = dict(os.environ)
    if wanted["channel"] is not None:
        environment |= _connected(wanted)
    for name in ("data", "file", "processes"):
        if wanted[name]:
            resource.setrlimit(_LIMITS[name], (wanted[name], wanted[name]))
    argv = sys.argv[2:]
    try:
        os.execve(argv[0], argv, environment)  # noqa: S606 - the server is the command
    except OSError as error:
        sys.stderr.write(f"{argv[0]}: {error.strerror}\n")
        sys.stderr.flush()
        os._exit(126 if isinstance(error, PermissionError) else 127)


def _connected(wanted: dict[str, Any]) -> dict[str, str]:
    """Listen in the sandbox's own network and hand the listening socket to the host, which is the proxy.

    If every other machine may be reached, the host gets the kernel's reports of connections too, and needs no
    variables that name a proxy; without those reports, only programs that know of proxies reach anything.
    """
    listener = _listener()
    port = listener.getsockname()[1]
    sent = {"l": listener.detach()}
    if wanted["filter"] and (reports := _reports(wanted["seccomp"], bytes.fromhex(wanted["filter"]))) >= 0:
        sent |= {"n": reports, "d": _names()}
    with socket.socket(fileno=wanted["channel"]) as channel:
        socket.send_fds(channel, ["".join(sent).encode()], list(sent.values()))
    for descriptor in sent.values():
        os.close(descriptor)
    return {} if "n" in sent else _proxied(port, local=wanted["local"])


def _listener() -> socket.socket:
    """For sockets of both families where there are two."""
    try:
        return socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True, backlog=1024)
    except (OSError, ValueError):
        return socket.create_server(("127.0.0.1", 0), backlog=1024)


def _names() -> int:
    """The socket at which DNS queries arrive; port 53 would need a capability."""
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.bind(("127.0.0.1", 0))
    return made.detach()


def _reports(seccomp: int, code: bytes) -> int:
    """Have the kernel report every `connect` from now on; -1 if it cannot."""
    import ctypes
    import struct

    lines = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("H6xQ", len(code) // 8, ctypes.addressof(lines))
    libc = ctypes.CDLL(None)
    tries = (
        libc.syscall(seccomp, _SET_FILTER, _LISTENER | more, program) for more in (_WAIT_UNTIL_KILLED, 0)
    )
    return next((found for found in tries if found >= 0), -1)


def _proxied(port: int, *, local: bool) -> dict[str, str]:
    address = f"http://127.0.0.1:{port}"
    names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    direct = "" if local else "localhost,127.0.0.1"
    return {
        **{variable: address for name in names for variable in (name, name.lower())},
        **{"NO_PROXY": direct, "no_proxy": direct, "NODE_USE_ENV_PROXY": "1"},
    }


if __name__ == "__main__":
    main()
