"""A program on this machine: copied with its whole folder, so that it does not change under one's feet."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

from toolcrib.errors import InstallFailed, UsageError
from toolcrib.servers.installing import files
from toolcrib.servers.installing.context import InstallContext
from toolcrib.servers.installing.plan import Launch, Plan, Record, Request
from toolcrib.servers.installing.progress import Step
from toolcrib.servers.installing.scripts import is_runnable

CONTENT = "content"


def recognises(reference: str) -> bool:
    """A file that may be run."""
    return is_runnable(Path(reference))


async def plan(request: Request, bench: InstallContext) -> Plan:
    """Count and hash what would be copied."""
    program = Path(request.reference)
    folder = program.parent
    return await plan_folder(request, bench, folder, program, alone=_is_shared(folder, bench))


async def plan_folder(
    request: Request, bench: InstallContext, folder: Path, program: Path, *, alone: bool = False
) -> Plan:
    """The plan for a program and the folder that belongs to it; `alone` leaves the folder where it is."""
    bench.progress(Step("resolve", str(folder)))
    tree = await asyncio.to_thread(files.survey, folder, only=program if alone else None)
    inside = str(program.relative_to(folder))
    entry: dict[str, Any] = {"type": "custom", "sourcePath": str(folder), "command": str(program)}
    entry["version"] = tree.digest[:12]
    return Plan(
        installer="custom",
        name=request.name,
        reference=request.reference,
        package=program.name,
        version=tree.digest[:12],
        place=str(bench.place),
        copies=f"{program if alone else folder} ({tree})",
        launch=_launch(bench.place, inside),
        entry={**entry, "args": list(request.args), "env": dict(request.env)},
        source=str(folder),
        digest_of_source=tree.digest,
        details={"program": inside, "alone": alone},
        options=request.options,
    )


async def apply(plan: Plan, folder: Path, bench: InstallContext) -> Launch:
    """Copy, then make sure that it is what was counted."""
    bench.progress(Step("copy", plan.copies))
    source, inside = Path(plan.source), str(plan.details["program"])
    only = source / inside if plan.details["alone"] else None
    await asyncio.to_thread(files.copy, source, folder / CONTENT, only=only)
    tree = await asyncio.to_thread(files.survey, folder / CONTENT)
    if tree.digest != plan.digest_of_source:
        raise InstallFailed(f"{source} has changed since the plan was made.", hint="Start again.")
    return _launch(folder, inside)


async def newest(record: Record, bench: InstallContext) -> str | None:
    """The folder as it is now, named by its hash; None when it is gone."""
    program = Path(record.source) / record.launch.command.removeprefix(
        str(Path(record.launch.cwd or "")) + "/"
    )
    if not program.is_file():
        return None
    alone = _is_shared(Path(record.source), bench)
    try:
        tree = await asyncio.to_thread(files.survey, Path(record.source), only=program if alone else None)
    except UsageError:
        return None
    return tree.digest[:12]


def _launch(folder: Path, inside: str) -> Launch:
    return Launch(command=str(folder / CONTENT / inside), cwd=str(folder / CONTENT))


def _is_shared(folder: Path, bench: InstallContext) -> bool:
    """A folder of many programs, or of the person's whole life, is not the program's own."""
    path = bench.runner.environ.get("PATH", os.defpath).split(os.pathsep)
    return str(folder) in path or folder == Path.home() or folder == Path(folder.anchor)
