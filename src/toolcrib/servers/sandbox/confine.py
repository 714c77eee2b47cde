"""Turns a start command into one that runs in a sandbox."""

from __future__ import annotations

import json
import os
import platform
import re
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from toolcrib.errors import SpawnFailed
from toolcrib.serverkit.sandbox.bubblewrap import find_bubblewrap, mounted, namespaces, readable
from toolcrib.serverkit.sandbox.guarding import resolved
from toolcrib.serverkit.sandbox.layout import Layout
from toolcrib.serverkit.sandbox.socket_filter import connect_filter, socket_filter
from toolcrib.servers.sandbox.launch import Launch

NAMES_FILE = "/etc/resolv.conf"
LONGEST_NAMES_FILE = 4096
_SECCOMP = {"x86_64": 317, "aarch64": 277, "riscv64": 277}
"""The number of the call by which a program sets a filter."""
ENTRANCE = Path(__file__).with_name("entrance.py")
MEGABYTE = 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Confined:
    """What to start instead of the server's own command."""

    argv: list[str]
    environment: dict[str, str]
    descriptors: tuple[int, ...]
    """Inherited by the process; closed when the block is left."""
    channel: socket.socket | None
    """Receives the listening socket of the proxy, if the server has a network of its own."""


@contextmanager
def confine(launch: Launch, layout: Layout) -> Iterator[Confined]:
    """The command and descriptors to start with; raises `SpawnFailed` if no sandbox is possible here."""
    _require()
    policy = launch.policy
    separate = policy.network and not policy.shares_network
    inherited: list[int] = []
    ours, theirs = socket.socketpair() if separate else (None, None)
    try:
        relayed = separate and policy.reaches_others and can_relay()
        words = [*namespaces(network=policy.shares_network), *mounted(layout)]
        refused = socket_filter(unix_sockets=policy.unix_sockets, network=True)
        if refused:
            inherited.append(readable(refused))
            words += ["--seccomp", str(inherited[-1])]
        if relayed and resolved(NAMES_FILE).is_file():
            inherited.append(readable(_nameserver_inside()))
            words += ["--ro-bind-data", str(inherited[-1]), str(resolved(NAMES_FILE))]
        if theirs is not None:
            inherited.append(theirs.fileno())
        words += ["--chdir", str(launch.folder), "--", sys.executable, "-I", "-S", str(ENTRANCE)]
        words += [_orders(launch, theirs), launch.program, *launch.args]
        yield Confined(
            argv=words, environment=_environment(launch), descriptors=tuple(inherited), channel=ours
        )
    finally:
        for descriptor in inherited if theirs is None else inherited[:-1]:
            os.close(descriptor)
        if theirs is not None:
            theirs.close()


def _require() -> None:
    why = find_bubblewrap()[1] if sys.platform.startswith("linux") else "it exists only on Linux"
    if why:
        raise SpawnFailed(
            f"A sandbox for servers needs bubblewrap, which does not work here: {why}.",
            hint="Install bubblewrap (on Debian: apt install bubblewrap), or set `sandbox` to false.",
        )


def _orders(launch: Launch, channel: socket.socket | None) -> str:
    policy = launch.policy
    return json.dumps(
        {
            "channel": None if channel is None else channel.fileno(),
            "local": any(map(_is_local, policy.hosts)),
            "filter": connect_filter().hex() if policy.reaches_others and can_relay() else "",
            "seccomp": _SECCOMP.get(platform.machine(), 0),
            "data": policy.memory * MEGABYTE,
            "processes": policy.processes,
            "file": policy.disk * MEGABYTE,
        }
    )


def can_relay() -> bool:
    """Whether this is a machine that we know, with Linux 5.6; musl wants answers from port 53 itself."""
    version = tuple(int(part) for part in re.findall(r"\d+", platform.release())[:2])
    return version >= (5, 6) and platform.machine() in _SECCOMP and platform.libc_ver()[0] == "glibc"


def _nameserver_inside() -> bytes:
    """The file that names the machine's nameservers, with the one of the sandbox instead."""
    lines = resolved(NAMES_FILE).read_text("utf-8", "replace").splitlines()
    kept = [line for line in lines if line.startswith(("search", "domain", "options"))]
    return "\n".join(["nameserver 127.0.0.1", *kept, ""]).encode()[:LONGEST_NAMES_FILE]


def _is_local(host: str) -> bool:
    """Whether it is a port of this machine, which programs would otherwise not ask the proxy for."""
    name = host.rpartition(":")[0].strip("[]")
    return name in ("localhost", "::1") or name.startswith("127.")


def _environment(launch: Launch) -> dict[str, str]:
    """The server's own, with its private home; nothing leads to the user's session."""
    kept = {name: value for name, value in launch.environment.items() if not name.startswith("XDG_")}
    return {**kept, "HOME": str(launch.home), "TMPDIR": "/tmp"}  # noqa: S108 - private in the sandbox
