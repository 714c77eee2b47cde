"""A program on this machine, copied with its folder so that later changes do not affect it; alone if the
folder is shared, such as one on the PATH.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

from toolcrib.errors import UsageError
from toolcrib.servers.installers.engine import files
from toolcrib.servers.installers.engine.contract import InstallContext, InstallProgress
from toolcrib.servers.installers.engine.plan import InstallRequest, LaunchCommand, Plan, Record
from toolcrib.servers.installers.engine.scripts import is_runnable

CONTENT = "content"


def recognises(reference: str) -> bool:
    return is_runnable(Path(reference))


async def plan(request: InstallRequest, context: InstallContext) -> Plan:
    program = Path(request.reference)
    folder = program.parent
    return await plan_folder(request, context, folder, program, alone=_is_shared(folder, context))


async def plan_folder(
    request: InstallRequest, context: InstallContext, folder: Path, program: Path, *, alone: bool = False
) -> Plan:
    """The plan for a program and its folder; `alone` copies only the program."""
    context.progress(InstallProgress("resolve", str(folder)))
    tree = await asyncio.to_thread(files.survey, folder, only=program if alone else None)
    inside = str(program.relative_to(folder))
    entry: dict[str, Any] = {"type": "custom", "sourcePath": str(folder), "command": str(program)}
    entry["version"] = tree.digest[:12]
    return context.new_plan(
        request,
        installer="custom",
        package=program.name,
        version=tree.digest[:12],
        copies=f"{program if alone else folder} ({tree})",
        launch=_launch(context.place, inside),
        entry=entry,
        source=str(folder),
        digest_of_source=tree.digest,
        details={"program": inside, "alone": alone},
    )


async def apply(plan: Plan, folder: Path, context: InstallContext) -> LaunchCommand:
    """Copy, then check that it is what was planned."""
    context.progress(InstallProgress("copy", plan.copies))
    source, inside = Path(plan.source), str(plan.details["program"])
    only = source / inside if plan.details["alone"] else None
    await asyncio.to_thread(files.copy, source, folder / CONTENT, only=only)
    plan.check_source((await asyncio.to_thread(files.survey, folder / CONTENT)).digest)
    return _launch(folder, inside)


async def newest(record: Record, context: InstallContext) -> str | None:
    """The folder's current hash; None if it is missing."""
    program = Path(record.source) / record.launch.command.removeprefix(
        str(Path(record.launch.cwd or "")) + "/"
    )
    if not program.is_file():
        return None
    alone = _is_shared(Path(record.source), context)
    try:
        tree = await asyncio.to_thread(files.survey, Path(record.source), only=program if alone else None)
    except UsageError:
        return None
    return tree.digest[:12]


def _launch(folder: Path, inside: str) -> LaunchCommand:
    return LaunchCommand(command=str(folder / CONTENT / inside), cwd=str(folder / CONTENT))


def _is_shared(folder: Path, context: InstallContext) -> bool:
    """Whether the folder holds more than the program: a PATH folder, the home or the root."""
    path = context.runner.environ.get("PATH", os.defpath).split(os.pathsep)
    return str(folder) in path or folder == Path.home() or folder == Path(folder.anchor)
