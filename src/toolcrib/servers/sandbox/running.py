"""Starts a server in its sandbox, and provides its proxy and limits while it runs."""

from __future__ import annotations

import asyncio
import socket
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from toolcrib.errors import SpawnFailed
from toolcrib.schema.servers import OTHER_MACHINES, SandboxPolicy
from toolcrib.serverkit.sandbox.bubblewrap import is_weaker_for_root
from toolcrib.serverkit.sandbox.disk import DiskMeter
from toolcrib.servers.installed import server_folder
from toolcrib.servers.processes.orphans import descendants
from toolcrib.servers.processes.spawning import StartCommand, environment_of, find_program, spawn
from toolcrib.servers.sandbox.confine import MEGABYTE, confine
from toolcrib.servers.sandbox.hints import SandboxHints
from toolcrib.servers.sandbox.launch import Launch
from toolcrib.servers.sandbox.places import layout_of
from toolcrib.servers.sandbox.process_limit import joining, make_group, needs_group, remove_group
from toolcrib.servers.sandbox.proxy import HostList, serve
from toolcrib.servers.sandbox.throttle import throttled
from toolcrib.servers.transport import LinkContext

FOLDER = "sandboxes"
"""Beside the folder of installed servers."""
DISK_PERIOD = 0.5
CLEAN_UP_TRIES, CLEAN_UP_PAUSE = 150, 0.04


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
            await stack.enter_async_context(limited_on_disk(started, report))
        await stack.enter_async_context(throttled(started.process.pid, started.policy.cpu, report))
        yield


@asynccontextmanager
async def limited_on_disk(started: Started, report: Callable[[str], None]) -> AsyncIterator[None]:
    """Stop the server if its own files take too much space while the block runs."""
    group, most = started.process.pid, started.policy.disk
    meter = DiskMeter([str(started.own)], most * MEGABYTE, lambda: descendants(group))

    async def watch_disk() -> None:
        while not await asyncio.to_thread(meter.exceeded):  # noqa: ASYNC110 - a file system says nothing by itself
            await asyncio.sleep(DISK_PERIOD)
        report(
            f"[sandbox] It was stopped: its private home and /tmp take more than {most} MB. Remove files in "
            f"{started.own}, or raise sandbox.disk of the server's entry."
        )
        started.process.kill()

    task = asyncio.create_task(watch_disk(), name=f"limit of disk space {group}")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _launch(spec: StartCommand, context: LinkContext) -> Launch:
    if context.sandbox is None or context.installs is None:
        raise SpawnFailed(f"{context.server} has no folder for a sandbox.")
    environment = environment_of(spec, context)
    installed = server_folder(context.installs, context.server)
    return Launch(
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
