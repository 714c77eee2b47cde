"""Finds bubblewrap, says why it does not work here, and writes its arguments."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

from toolcrib.serverkit.sandbox.layout import Layout, mounts

_PROBE = (
    "--unshare-user",
    "--unshare-pid",
    "--ro-bind",
    "/",
    "/",
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    "true",
)
PROBE_SECONDS = 30


@cache
def find_bubblewrap() -> tuple[str, str]:
    """Its path, and why it does not work here: containers and some systems forbid what it needs."""
    found = shutil.which("bwrap")
    if found is None:
        return "", "it is not installed"
    try:
        done = subprocess.run([found, *_PROBE], capture_output=True, timeout=PROBE_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return found, f"it cannot be run ({type(error).__name__})"
    if done.returncode == 0:
        return found, ""
    said = done.stderr.decode("utf-8", "replace").strip().removeprefix("bwrap: ")
    return found, said or "it failed without a message"


def namespaces(*, network: bool) -> list[str]:
    """The program and its namespaces; no capabilities even for root, which it would otherwise keep."""
    words = [find_bubblewrap()[0], "--die-with-parent", "--unshare-user", "--unshare-pid", "--unshare-ipc"]
    words += ["--cap-drop", "ALL"]
    words += ["--uid", "1000", "--gid", "1000"] if os.getuid() == 0 else []
    return words if network else [*words, "--unshare-net"]


def mounted(layout: Layout) -> list[str]:
    """The folders of the sandbox."""
    words: list[str] = []
    for way, source, target in mounts(layout):
        words += [way, str(target)] if way == "--tmpfs" else [way, str(source), str(target)]
        words += ["--dev", "/dev", "--proc", "/proc"] if target == Path("/") else []
    return words


def readable(data: bytes) -> int:
    """A descriptor that bubblewrap reads this from; the caller closes it."""
    reading, writing = os.pipe()  # its buffer is larger than any filter
    os.write(writing, data)
    os.close(writing)
    return reading
