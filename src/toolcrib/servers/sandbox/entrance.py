"""Run as a program inside a sandbox: sets limits, opens the proxy's port, and becomes the server.

Only the standard library: it starts before every sandboxed server. Its first argument is JSON.
"""

from __future__ import annotations

import json
import os
import resource
import socket
import sys


def main() -> None:
    wanted = json.loads(sys.argv[1])
    environment = dict(os.environ)
    if wanted["channel"] is not None:
        environment |= _proxied(wanted["channel"], local=wanted["local"])
    for name, value in (("RLIMIT_DATA", wanted["data"]), ("RLIMIT_NPROC", wanted["processes"])):
        if value:
            resource.setrlimit(getattr(resource, name), (value, value))
    argv = sys.argv[2:]
    try:
        os.execve(argv[0], argv, environment)  # noqa: S606 - the server is the command
    except OSError as error:
        sys.stderr.write(f"{argv[0]}: {error.strerror}\n")
        sys.stderr.flush()
        os._exit(126 if isinstance(error, PermissionError) else 127)


def _proxied(descriptor: int, local: bool) -> dict[str, str]:
    """Listen in the sandbox's own network and hand the listening socket to the host, which is the proxy."""
    listener = socket.create_server(("127.0.0.1", 0))
    with socket.socket(fileno=descriptor) as channel:
        socket.send_fds(channel, [b"."], [listener.fileno()])
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    listener.close()
    names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    direct = "" if local else "localhost,127.0.0.1"
    return {
        **{each: address for name in names for each in (name, name.lower())},
        **{"NO_PROXY": direct, "no_proxy": direct, "NODE_USE_ENV_PROXY": "1"},
    }


if __name__ == "__main__":
    main()
