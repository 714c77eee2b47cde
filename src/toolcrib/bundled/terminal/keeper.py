"""Run as a program: starts one command, keeps all that comes of it together, and leaves nothing behind.
Decides the time between SIGTERM and SIGKILL, and ends commands that exceed their memory, processes or disk,
with the reason.

It adopts every descendant that loses its parent (Linux), so that neither a double fork nor a new session nor
an empty environment lets one get away. It reads what to start as one line of JSON from the descriptor named
first; when that is closed, all that runs is ended. How the command ended is written to the second.

Only the standard library, and little of it: this starts before every command.
"""

# ruff: noqa: PTH123, PTH208

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    Spec = Mapping[str, Any]

GRACE = 0.3
"""Seconds between asking and insisting."""
LEAST_LOOKS = 15
"""Looks in that time, at least: a suspended machine must not shorten the grace period."""
PATIENCE = 7.0
CHECK_EVERY = 0.25
LOOK_EVERY = 0.02
MANY_FORKS = 64
"""So many new processes on the whole machine between two looks are worth a check at once."""
_SUBREAPER, _DEATH_SIGNAL = 36, 1
LEAD = "lead"
WALL = b"(bwrap)"
"""Programs around a command rather than part of it; when one ends, all inside ends."""
_LINUX = sys.platform.startswith("linux")


def main() -> None:
    """Start, keep, end and report; or, inside of a sandbox, take the terminal and become the command."""
    if sys.argv[1] == LEAD:
        _lead(sys.argv[2:])
    control, status = int(sys.argv[1]), int(sys.argv[2])
    for descriptor in (control, status):
        os.set_inheritable(descriptor, False)  # the command must neither hold them open nor write to them
    spec = json.loads(_line(control))
    if _LINUX:
        _libc().prctl(_SUBREAPER, 1, 0, 0, 0)
    alarm = _wake_on_child()
    try:
        child = _start(spec)
    except OSError as error:
        _report(status, {"error": f"{error.strerror or error}"})
        return
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)  # the command alone holds its output open
    code, why = _keep(child, control, alarm, spec)
    running = sum(not _is_wall(pid) for pid in _descendants()) if _LINUX and why == "stopped" else 0
    left = _end_all(asked=why == "stopped")  # what broke a limit is not given time to break it further
    if spec.get("within"):
        left = 0  # what is left in a namespace ends with it, uncounted
    report = {"code": _reaped(child) if code is None else code, "why": why, "left": left, "running": running}
    _report(status, report)


def _keep(child: int, control: int, alarm: int, spec: Spec) -> tuple[int | None, str]:
    """Wait for the command's end, the word to end it, or a limit; returns its code, if any, and why."""
    checked, forked = time.monotonic(), _last_process()
    while True:
        ready, _, _ = select.select([control, alarm], [], [], LOOK_EVERY)
        if alarm in ready:
            with contextlib.suppress(BlockingIOError):
                os.read(alarm, 4096)
        code = _reap(child)
        if code is not None:
            return code, ""
        if control in ready and not os.read(control, 4096):
            return None, "stopped"
        if time.monotonic() - checked >= CHECK_EVERY or _last_process() - forked > MANY_FORKS:
            checked, forked = time.monotonic(), _last_process()
            broken = _broken_limit(spec)
            if broken:
                return None, broken


_codes: dict[int, int] = {}


def _reap(child: int) -> int | None:
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            _codes[pid] = os.waitstatus_to_exitcode(status)
    return _codes.get(child)


def _reaped(child: int) -> int:
    return _codes.get(child, -9)


def _start(spec: Spec) -> int:
    """Fork and become the command; raises `OSError` when that cannot be done."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        failed = os.read(reading, 4096)
        os.close(reading)
        if failed:
            os.waitpid(pid, 0)
            raise OSError(0, failed.decode())
        return pid
    try:
        _become(spec)
    except OSError as error:
        os.write(writing, f"{error.strerror}: {error.filename or spec['argv'][0]}".encode())
    os._exit(127)


def _become(spec: Spec) -> None:
    os.setsid()
    if spec.get("pty"):
        import fcntl
        import termios

        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    if _LINUX:
        _libc().prctl(_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    os.chdir(spec["cwd"])
    if spec.get("max_file"):
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (spec["max_file"], spec["max_file"]))
    filtered = bytes.fromhex(spec.get("filter", ""))
    if spec.get("within"):
        if spec.get("abstract"):
            _kernel_rules().isolate()
    elif spec.get("landlock"):
        _enter(spec, filtered)
    argv = [*_before(spec, filtered), *spec["argv"]]
    os.execve(argv[0], argv, dict(os.environ))  # noqa: S606 - the shell is the command


def _enter(spec: Spec, filtered: bytes) -> None:
    """Give up what the sandbox withholds; of all terminals only the command's own stays within reach."""
    rules, granted = _kernel_rules(), dict(spec["landlock"])
    if spec.get("pty"):
        granted["write"] = [*granted["write"], os.ttyname(0)]
    rules.drop_capabilities()
    rules.restrict(**granted)
    if filtered:
        rules.load_filter(filtered)


def _kernel_rules() -> Any:
    """The module beside this one, which most commands do not need."""
    return _module("kernel_rules", os.curdir)


def _module(name: str, folder: str) -> Any:
    """A module of Toolcrib that imports no other of it; the folder is relative to ours."""
    sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), folder))  # noqa: PTH100, PTH118, PTH120
    return __import__(name)


def _before(spec: Spec, filtered: bytes) -> list[str]:
    """The words before the command: its sandbox, and the program that gives it the terminal inside."""
    within: list[str] = list(spec.get("within", ()))
    if not within:
        return within
    if filtered:
        within += ["--seccomp", str(_readable(filtered))]
    within.append("--")
    if spec.get("pty"):
        within += [sys.executable, "-I", "-S", os.path.abspath(__file__), LEAD]  # noqa: PTH100
    return within


def _readable(data: bytes) -> int:
    """A descriptor that bubblewrap reads this from."""
    reading, writing = os.pipe()  # its buffer is larger than any filter
    os.write(writing, data)
    os.close(writing)
    os.set_inheritable(reading, True)
    return reading


def _lead(argv: list[str]) -> None:
    """Become the command, in front at the terminal: an interrupt is for it, not for the walls around it."""
    os.setpgid(0, 0)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    os.tcsetpgrp(0, os.getpgrp())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execve(argv[0], argv, dict(os.environ))  # noqa: S606 - the shell is the command


def _broken_limit(spec: Spec) -> str:
    if not _LINUX:
        return ""
    family = _descendants()
    if len(family) > spec["max_processes"]:
        return f"it started more than {spec['max_processes']} processes"
    if spec["max_memory"]:
        page = os.sysconf("SC_PAGE_SIZE")
        if sum(_resident(pid) for pid in family) * page > spec["max_memory"]:
            return f"it took more than {spec['max_memory'] // 2**20} MiB of memory"
    if spec.get("max_disk") and _meter(spec).exceeded():
        return f"its temporary files took more than {spec['max_disk'] // 2**20} MiB on disk"
    return ""


_meters: list[Any] = []


def _meter(spec: Spec) -> Any:
    if not _meters:
        disk = _module("disk", os.path.join(os.pardir, os.pardir, "serverkit", "sandbox"))  # noqa: PTH118
        limits = (spec["measured"], spec["max_disk"], _descendants)
        _meters.append(disk.DiskMeter(*limits, from_now=spec["from_now"]))
    return _meters[0]


def _last_process() -> int:
    """The number of the process that was started last, to see how fast new ones come."""
    try:
        with open("/proc/loadavg", "rb") as file:
            return int(file.read().split()[-1])
    except (OSError, ValueError, IndexError):
        return 0


def _resident(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1])
    except (OSError, IndexError, ValueError):
        return 0


def _descendants() -> set[int]:
    """All that live and come from here."""
    parents: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            continue
        if fields[0] not in (b"Z", b"X"):
            parents.setdefault(int(fields[1]), []).append(int(name))
    found: set[int] = set()
    left = [os.getpid()]
    while left:
        for pid in parents.get(left.pop(), ()):
            if pid not in found:
                found.add(pid)
                left.append(pid)
    return found


def _end_all(asked: bool) -> int:
    """Ask, if that was wanted, then stop and kill until none is left; returns how many there were."""
    if not _LINUX:
        return _end_group()
    ended: set[int] = set()
    if asked:
        for pid in _descendants():
            ended.add(pid)
            if not _is_wall(pid):
                _signal(pid, signal.SIGTERM)
                _signal(pid, signal.SIGCONT)
        until, looks = time.monotonic() + GRACE, 0
        while _descendants() and (time.monotonic() < until or looks < LEAST_LOOKS):
            looks += 1
            _reap(0)
            time.sleep(0.01)
    stopped: set[int] = set()
    until = time.monotonic() + PATIENCE
    while (family := _descendants()) and time.monotonic() < until:
        ended |= family
        new = family - stopped
        if new:  # One that is stopped does not fork: they are killed once no new one appears.
            for pid in new:
                _signal(pid, signal.SIGSTOP)
            stopped |= new
            continue
        for pid in family:
            _signal(pid, signal.SIGKILL)
        _reap(0)
        time.sleep(0.005)
        stopped.clear()
    _reap(0)
    return len(ended)


def _is_wall(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return WALL in file.read()
    except OSError:
        return False


def _end_group() -> int:
    for pid in list(_codes):
        _signal(-pid, signal.SIGKILL)
    return 0


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _wake_on_child() -> int:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    return reading


def _line(descriptor: int) -> bytes:
    data = b""
    while not data.endswith(b"\n"):
        part = os.read(descriptor, 65536)
        if not part:
            os._exit(1)
        data += part
    return data


def _report(descriptor: int, said: dict[str, object]) -> None:
    with contextlib.suppress(OSError):
        os.write(descriptor, json.dumps(said).encode() + b"\n")


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


if __name__ == "__main__":
    main()
