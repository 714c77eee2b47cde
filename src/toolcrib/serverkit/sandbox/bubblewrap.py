"""Finds bubblewrap, says why it does not work here, and writes its arguments: namespaces, hidden parts of
`/proc`, size of shared memory.

To the kernel, root in a sandbox still owns the files of root. So what root may change without any capability
is read-only or hidden, as container runtimes do it: `/proc`, `/dev`, and bubblewrap's own program file.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from toolcrib.serverkit.sandbox.layout import Layout, mounts

_NAMESPACES = (
    *("--die-with-parent", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"),
    *("--unshare-cgroup-try", "--cap-drop", "ALL"),
)
_NO_FURTHER_USERS = "--disable-userns"
"""From version 0.8 on; the filter of system calls refuses them too."""
_SIZE = "--size"
"""From version 0.7 on."""
_TRIED = ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "true")
_READ_ONLY = (
    'mount -o bind,ro "$1" "$1" && mount -o rbind,ro /dev /dev && [ ! -w "$1" ] && [ ! -w /dev ] || exit 1; '
    'shift; exec "$@"'
)
"""Run by root before bubblewrap, which binds devices writable and shows its own file as `/proc/1/exe`: their
owner could change the modes, of the real ones."""
_MASKED = (
    *("/proc/acpi", "/proc/asound", "/proc/kcore", "/proc/keys", "/proc/key-users", "/proc/latency_stats"),
    *("/proc/sched_debug", "/proc/scsi", "/proc/sysrq-trigger", "/proc/timer_list", "/proc/timer_stats"),
    *("/sys/firmware", "/sys/fs/bpf", "/sys/fs/pstore", "/sys/kernel/config", "/sys/kernel/debug"),
    *("/sys/kernel/security", "/sys/kernel/tracing", "/sys/devices/virtual/powercap"),
)
SHARED_MEMORY = 1024 * 1024 * 1024
"""Bytes that fit into `/dev/shm`."""
PROBE_SECONDS = 30


@cache
def find_bubblewrap() -> tuple[str, str]:
    """Its path, and why it does not work here: containers and some systems forbid what it needs."""
    found = shutil.which("bwrap")
    return (found, _failure([found, *_NAMESPACES, *_TRIED])) if found else ("", "it is not installed")


def _failure(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, timeout=PROBE_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"it cannot be run ({type(error).__name__})"
    said = done.stderr.decode("utf-8", "replace").strip().removeprefix("bwrap: ")
    return (said or "it failed without a message") if done.returncode else ""


@cache
def _program(found: str) -> list[str]:
    """The start of the command line, as strict as this system allows."""
    alone = [found, *_NAMESPACES, *([_NO_FURTHER_USERS] if _offers(found, _NO_FURTHER_USERS) else [])]
    choices = [alone]
    if os.getuid() == 0 and (unshare := shutil.which("unshare")):
        file = str(Path(found).resolve())
        choices.insert(0, [unshare, "--mount", "--", "/bin/sh", "-c", _READ_ONLY, "sh", file, *alone])
    return next((choice for choice in choices if not _failure([*choice, *_TRIED])), [found, *_NAMESPACES])


def is_weaker_for_root() -> bool:
    """Whether this is root, and a sandboxed program could change the modes of devices and of bubblewrap."""
    found, why = find_bubblewrap()
    return os.getuid() == 0 and not why and _program(found)[0] == found


@cache
def _offers(found: str, option: str) -> bool:
    done = subprocess.run([found, "--help"], capture_output=True, timeout=PROBE_SECONDS, check=False)
    return option.encode() in done.stdout + done.stderr


def namespaces(*, network: bool) -> list[str]:
    """The program and its namespaces; no capabilities even for root, which it would otherwise keep."""
    words = [*_program(find_bubblewrap()[0])]
    words += ["--uid", "1000", "--gid", "1000"] if os.getuid() == 0 else []
    return words if network else [*words, "--unshare-net"]


def mounted(layout: Layout) -> list[str]:
    """The folders of the sandbox; in hidden ones nothing can be created."""
    words: list[str] = []
    empty: list[str] = []
    for way, source, target in mounts(layout):
        words += [way, str(target)] if way == "--tmpfs" else [way, str(source), str(target)]
        empty += [str(target)] if way == "--tmpfs" else []
        words += _kernel_folders() if target == Path("/") else []
    return [*words, *(word for path in empty for word in ("--remount-ro", path))]


def _kernel_folders() -> list[str]:
    """`/dev` with few devices, and `/proc`; nothing in them or in `/sys` can be changed."""
    words = ["--dev", "/dev", "--proc", "/proc"]
    if _offers(find_bubblewrap()[0], _SIZE):
        words += ["--perms", "1777", _SIZE, str(SHARED_MEMORY), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]  # noqa: S108
    for path in _private_to_root():
        words += (
            ["--tmpfs", path, "--remount-ro", path]
            if Path(path).is_dir()
            else ["--ro-bind", os.devnull, path]
        )
    return [*words, "--remount-ro", "/proc"]


@cache
def _private_to_root() -> tuple[str, ...]:
    """What the kernel shows only to root, by the modes of the files, and what containers hide as well."""
    return tuple(dict.fromkeys([*filter(os.path.exists, _MASKED), *_closed("/proc")]))


def _closed(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if not entry.name.isdigit() and not entry.is_symlink() and not entry.stat().st_mode & 0o004:
                yield entry.path


def readable(data: bytes) -> int:
    """A descriptor that bubblewrap reads this from; the caller closes it."""
    reading, writing = os.pipe()  # its buffer is larger than any filter
    os.write(writing, data)
    os.close(writing)
    return reading
