"""Starts a server in its sandbox, and provides its proxy and limits while it runs."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import secrets
import signal
import socket
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from toolcrib.config.paths import server_folder
from toolcrib.errors import SpawnFailed
from toolcrib.schema.servers import OTHER_MACHINES, SandboxPolicy
from toolcrib.serverkit.sandbox.bubblewrap import is_weaker_for_root
from toolcrib.serverkit.sandbox.disk import DiskMeter
from toolcrib.serverkit.sandbox.layout import Layout, State
from toolcrib.servers.processes.child import StartCommand, environment_of, find_program, spawn
from toolcrib.servers.processes.orphans import descendants, signal_group, stat_of
from toolcrib.servers.sandbox.confine import MEGABYTE, SandboxedCommand, confine, layout_of
from toolcrib.servers.sandbox.proxy import HostList, serve
from toolcrib.servers.transport import LinkContext
from toolcrib.tasks import in_background

_CONTROLLER = "pids"
_PREFIX = "toolcrib-"
_JOIN = 'echo $$ > "$1"; shift; exec "$@"'
"""Before the sandbox starts, so that every process of it belongs to the group."""

PERIOD = 0.5
LONGEST_PAUSE = 2.0
_TICKS = os.sysconf("SC_CLK_TCK")

MOST_HINTS = 100
LONGEST_LINE = 16 * 1024
_SIGNS = re.compile(
    rb"EACCES|EROFS|ENOENT|EPERM|ermission denied|ead-only file system|o such file|ot permitted|ot found"
    rb"|emoryError|ut of memory|annot allocate memory|bad_alloc|esource temporarily unavailable|EAGAIN"
    rb"|EFBIG|ile too large"
)
_PATH = re.compile(r"(?<![\w./~-])/(?:[^\s'\"`:;,()<>\\\[\]{}]+)")
_NO_MEMORY = re.compile(r"MemoryError|[Oo]ut of memory|annot allocate memory|bad_alloc")
_TOO_LARGE = re.compile(r"EFBIG|[Ff]ile too large")
_NO_PROCESS = re.compile(r"(fork|spawn|clone|thread)\S* .{0,80}(EAGAIN|esource temporarily unavailable)")

FOLDER = "sandboxes"
"""Beside the folder of installed servers."""
DISK_PERIOD = 0.5
CLEAN_UP_TRIES, CLEAN_UP_PAUSE = 150, 0.04


def needs_group() -> bool:
    """Whether the system ignores the usual limit for this user."""
    return os.getuid() == 0


def make_group(processes: int) -> Path | None:
    """A control group that allows so many processes; None if none can be made here."""
    for parent in _parents():
        _remove_abandoned(parent)
        group = parent / f"{_PREFIX}{os.getpid()}-{secrets.token_hex(8)}"
        try:
            group.mkdir()
            (group / "pids.max").write_text(str(processes))
            return group
        except OSError:
            remove_group(group)
    return None


def joining(group: Path, argv: list[str]) -> list[str]:
    """The same command, run in the group."""
    return ["/bin/sh", "-c", _JOIN, "sh", str(group / "cgroup.procs"), *argv]


def remove_group(group: Path) -> bool:
    """Remove it; false if it still has processes. A group that stays is removed by a later host."""
    with contextlib.suppress(OSError):
        group.rmdir()
    return not group.exists()


def _remove_abandoned(parent: Path) -> None:
    """Remove the groups of hosts that were killed."""
    for group in parent.glob(f"{_PREFIX}*-*"):
        if not Path("/proc", group.name.split("-")[1]).exists():
            remove_group(group)


def _parents() -> Iterator[Path]:
    """Folders in which a group with this controller may be possible, the nearest first."""
    own = _own_groups()
    for root, controllers in _hierarchies():
        if _CONTROLLER in controllers and _CONTROLLER in own:
            yield root / own[_CONTROLLER].lstrip("/")
        elif not controllers and "" in own:
            nearest = root / own[""].lstrip("/")
            yield from (path for path in (nearest, *nearest.parents) if _passes_on(path, root))


def _passes_on(group: Path, root: Path) -> bool:
    if not group.is_relative_to(root):
        return False
    try:
        return _CONTROLLER in (group / "cgroup.subtree_control").read_text().split()
    except OSError:
        return False


def _own_groups() -> dict[str, str]:
    """The group of this process for each controller; that of version 2 has no controller's name."""
    found: dict[str, str] = {}
    for line in _lines("/proc/self/cgroup"):
        _, names, path = line.split(":", 2)
        found |= dict.fromkeys(names.split(","), path)
    return found


def _hierarchies() -> Iterator[tuple[Path, frozenset[str]]]:
    """Where groups are mounted, each with its controllers; none are named for version 2."""
    for line in _lines("/proc/self/mounts"):
        _, place, kind, options, *_ = line.split()
        if kind in ("cgroup", "cgroup2"):
            yield Path(place), frozenset(options.split(",") if kind == "cgroup" else ())


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []


@asynccontextmanager
async def throttled(group: int, percent: int, report: Callable[[str], None]) -> AsyncIterator[None]:
    """Hold a process group to this share while the block runs; 0 for no limit."""
    if not percent:
        yield
        return
    try:
        async with in_background(_hold(group, percent / 100, report), f"limit of processor use {group}"):
            yield
    finally:
        signal_group(group, signal.SIGCONT)


async def _hold(group: int, share: float, report: Callable[[str], None]) -> None:
    loop = asyncio.get_running_loop()
    before, since = await asyncio.to_thread(cpu_seconds, group), loop.time()
    reported = False
    while True:
        await asyncio.sleep(PERIOD)
        used, now = await asyncio.to_thread(cpu_seconds, group), loop.time()
        excess = (used - before) / share - (now - since)
        before, since = used, now
        if excess <= 0:
            continue
        if not reported:
            report(
                f"[sandbox] It uses more than {share:.0%} of a processor and is slowed down. "
                "To allow more, raise sandbox.cpu of the server's entry."
            )
            reported = True
        signal_group(group, signal.SIGSTOP)
        await asyncio.sleep(min(excess, LONGEST_PAUSE))
        signal_group(group, signal.SIGCONT)
        since = loop.time()


def cpu_seconds(group: int) -> float:
    """The processor time that the living processes of a group have used."""
    total = 0
    for folder in Path("/proc").iterdir():
        fields = stat_of(folder.name) if folder.name.isdigit() else None
        if fields is not None and int(fields[2]) == group:
            total += int(fields[11]) + int(fields[12])
    return total / _TICKS


class SandboxHints:
    """Finds each cause once."""

    def __init__(self, layout: Layout, *, memory: int, processes: int, disk: int = 0) -> None:
        self._layout = layout
        self._memory = memory
        self._processes = processes
        self._disk = disk
        self._given: set[str] = set()

    def of(self, output: bytes) -> list[str]:
        """What to write to the log after this output."""
        if len(self._given) >= MOST_HINTS or not _SIGNS.search(output):
            return []
        text = output[:LONGEST_LINE].decode("utf-8", "replace")
        found = [hint for hint in self._causes(text) if hint not in self._given]
        self._given.update(found)
        return found

    def _causes(self, text: str) -> Iterator[str]:
        for path in dict.fromkeys(_PATH.findall(text)):
            if hint := self._about(Path(path.rstrip("."))):
                yield hint
        if self._memory and _NO_MEMORY.search(text):
            yield _hint(f"A process may use {self._memory} MB", "To allow more, raise sandbox.memory")
        if self._disk and _TOO_LARGE.search(text):
            yield _hint(f"A file may have {self._disk} MB", "To allow more, raise sandbox.disk")
        if _NO_PROCESS.search(text):
            limit = f"It may have {self._processes} processes"
            yield _hint(limit, "To allow more, raise sandbox.processes")

    def _about(self, path: Path) -> str:
        if not os.path.lexists(path) or self._is_replaced(path):
            return ""
        if not self._layout.is_real(path):
            return _hint(f"{path} is hidden", "To allow it, add it to sandbox.readable or sandbox.writable")
        if self._layout.state(path) == State.READ and os.access(path, os.W_OK):
            return _hint(f"{path} is read-only", "To allow changes, add it to sandbox.writable")
        return ""

    def _is_replaced(self, path: Path) -> bool:
        """Whether it is a temporary file of the sandbox, with the same name as one outside."""
        return any(
            path.is_relative_to(folder) and os.path.lexists(outside / path.relative_to(folder))
            for folder, outside in self._layout.private.items()
        )


def _hint(what: str, how: str) -> str:
    return f"[sandbox] {what}. {how} of the server's entry."


@dataclass(frozen=True, kw_only=True)
class Started:
    process: subprocess.Popen[bytes]
    policy: SandboxPolicy
    hints: SandboxHints
    channel: socket.socket | None
    group: Path | None
    """The control group of its processes, if it needs one."""
    own: Path
    """Holds its private home and temporary files."""

    async def clean_up(self) -> None:
        """Remove its control group; the last processes may take a moment to end."""
        for _ in range(CLEAN_UP_TRIES):
            if self.group is None or remove_group(self.group):
                return
            await asyncio.sleep(CLEAN_UP_PAUSE)


def start_sandboxed(spec: StartCommand, context: LinkContext) -> Started:
    """Start a server in its sandbox; raises `SpawnFailed`."""
    launch = _launch(spec, context)
    layout = layout_of(launch)
    policy = launch.policy
    group = make_group(policy.processes) if policy.processes and needs_group() else None
    try:
        with confine(launch, layout) as confined:
            argv = confined.argv if group is None else joining(group, confined.argv)
            process = spawn(spec, argv, confined.environment, cwd="/", descriptors=confined.descriptors)
    except BaseException:
        if group is not None:
            remove_group(group)
        raise
    hints = SandboxHints(layout, memory=policy.memory, processes=policy.processes, disk=policy.disk)
    return Started(
        process=process, policy=policy, hints=hints, channel=confined.channel, group=group, own=launch.own
    )


@asynccontextmanager
async def watch(started: Started, report: Callable[[str], None]) -> AsyncIterator[None]:
    """Provide the proxy and the limits of processor use and disk space while the block runs."""
    if started.policy.processes and needs_group() and started.group is None:
        report("[sandbox] sandbox.processes has no effect: root needs a control group, which cannot be made.")
    if is_weaker_for_root():
        report("[sandbox] Toolcrib runs as root here, and the server could change the modes of devices.")
    async with AsyncExitStack() as stack:
        if started.channel is not None:
            hosts = HostList(started.policy.hosts or (OTHER_MACHINES,))
            await stack.enter_async_context(
                serve(started.channel, hosts, lambda line: report(f"[sandbox] {line}"))
            )
        if started.policy.disk:
            limit = _limit_disk(started, report)
            await stack.enter_async_context(
                in_background(limit, f"limit of disk space {started.process.pid}")
            )
        await stack.enter_async_context(throttled(started.process.pid, started.policy.cpu, report))
        yield


async def _limit_disk(started: Started, report: Callable[[str], None]) -> None:
    """Stop the server if its own files take too much space."""
    most = started.policy.disk
    meter = DiskMeter([str(started.own)], most * MEGABYTE, lambda: descendants(started.process.pid))
    while not await asyncio.to_thread(meter.exceeded):  # noqa: ASYNC110 - a file system says nothing by itself
        await asyncio.sleep(DISK_PERIOD)
    report(
        f"[sandbox] It was stopped: its private home and /tmp take more than {most} MB. Remove files in "
        f"{started.own}, or raise sandbox.disk of the server's entry."
    )
    started.process.kill()


def _launch(spec: StartCommand, context: LinkContext) -> SandboxedCommand:
    if context.sandbox is None or context.installs is None:
        raise SpawnFailed(f"{context.server} has no folder for a sandbox.")
    environment = environment_of(spec, context)
    installed = server_folder(context.installs, context.server)
    return SandboxedCommand(
        server=context.server,
        program=str(Path(find_program(spec.command, environment, spec.cwd)).absolute()),
        args=spec.args,
        cwd=spec.cwd,
        environment=environment,
        variables=spec.env,
        policy=context.sandbox,
        own=server_folder(context.installs.parent / FOLDER, context.server),
        installed=installed if installed.is_dir() else None,
    )
