"""A plain script, such as `server.py` or `index.js`: copied, and run with the packages it needs. Has the plan
and its warnings; `engine/scripts.py` finds the packages.

These are read from its inline metadata, or from a requirements or project file beside it, else guessed from
its imports. The script is not executed for that.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from toolcrib.errors import NotFound, UsageError
from toolcrib.servers.installers.engine import files
from toolcrib.servers.installers.engine.contract import InstallContext, InstallProgress
from toolcrib.servers.installers.engine.environments import (
    Resolved,
    make_environment,
    pinned,
    plain_python,
    resolve,
)
from toolcrib.servers.installers.engine.node import find_node
from toolcrib.servers.installers.engine.plan import InstallRequest, LaunchCommand, Plan, Record
from toolcrib.servers.installers.engine.scripts import PYTHON, ScriptNeeds, is_runnable, is_script, read_needs

CONTENT = "content"
SKIPPED = files.SKIPPED - {"node_modules"}
"""Node packages beside a script belong to it: no manifest lists them."""


def recognises(reference: str) -> bool:
    """A script that is not executable by itself."""
    path = Path(reference)
    return is_script(path) and path.is_file() and not is_runnable(path)


async def plan(request: InstallRequest, context: InstallContext) -> Plan:
    """Copies only the script, unless it uses files beside it."""
    script = Path(request.reference)
    needs = await asyncio.to_thread(read_needs, script)
    return await _plan(request, context, script, needs, script.parent, alone=not needs.uses_folder(script))


async def plan_folder(request: InstallRequest, context: InstallContext, folder: Path, script: Path) -> Plan:
    """The plan for a script and its folder."""
    needs = await asyncio.to_thread(read_needs, script, folder)
    return await _plan(request, context, script, needs, folder, alone=False)


async def apply(plan: Plan, folder: Path, context: InstallContext) -> LaunchCommand:
    """Copy, check that it is unchanged since the plan, and create the environment."""
    context.progress(InstallProgress("copy", plan.copies))
    source, script = Path(plan.source), Path(plan.source) / plan.details["script"]
    only = script if plan.details["alone"] else None
    await asyncio.to_thread(files.copy, source, folder / CONTENT, only=only, skip=SKIPPED)
    plan.check_source((await asyncio.to_thread(files.survey, folder / CONTENT)).digest)
    if plan.details["environment"]:
        await make_environment(context, folder, plan.lock, plan.options)
    return plan.launch


async def newest(record: Record, context: InstallContext) -> str | None:
    """The script's current hash; None if it is missing."""
    script = Path(record.entry.get("command", ""))
    try:
        alone = record.reference == str(script) and not read_needs(script).uses_folder(script)
        only = script if alone else None
        tree = await asyncio.to_thread(files.survey, Path(record.source), only=only, skip=SKIPPED)
    except (UsageError, NotFound, OSError):
        return None
    return tree.digest[:12]


async def _plan(
    request: InstallRequest,
    context: InstallContext,
    script: Path,
    needs: ScriptNeeds,
    folder: Path,
    *,
    alone: bool,
) -> Plan:
    context.progress(InstallProgress("resolve", str(script)))
    inside = str(script.relative_to(folder))
    tree = await asyncio.to_thread(files.survey, folder, only=script if alone else None, skip=SKIPPED)
    with context.scratch() as scratch:
        wanted = "\n".join(needs.requirements)
        resolved = await resolve(context, scratch, wanted, request.options, needs.requires_python)
    source = script if alone else folder
    entry: dict[str, Any] = {"type": "custom", "sourcePath": str(source), "command": str(script)}
    environment = _has_environment(script, needs, resolved)
    return context.new_plan(
        request,
        installer="script",
        package=script.name,
        version=tree.digest[:12],
        fetches=tuple(f"{name}=={version}" for name, version in pinned(resolved.lock).items()),
        runtimes=resolved.runtimes,
        copies=f"{source} ({tree})",
        launch=await _launch(context, inside, environment=environment, ours=needs.ours),
        remarks=_remarks(script, needs),
        entry={**entry, "version": tree.digest[:12]},
        lock=resolved.lock,
        source=str(folder),
        digest_of_source=tree.digest,
        details={"script": inside, "alone": alone, "environment": environment},
        options=resolved.options,
    )


def _has_environment(script: Path, needs: ScriptNeeds, resolved: Resolved) -> bool:
    """Not for a script without packages: any interpreter will do."""
    chosen = resolved.options.python or resolved.options.needed_python
    return script.suffix in PYTHON and not needs.ours and bool(resolved.lock or chosen)


async def _launch(context: InstallContext, inside: str, *, environment: bool, ours: bool) -> LaunchCommand:
    content = context.place / CONTENT
    if not inside.endswith(PYTHON):
        program = (await find_node(context)).program
    elif environment:
        program = str(context.place / "venv" / "bin" / "python")
    else:
        program = sys.executable if ours else plain_python()
    return LaunchCommand(command=program, args=(str(content / inside),), cwd=str(content))


def _remarks(script: Path, needs: ScriptNeeds) -> tuple[str, ...]:
    remarks = []
    if needs.requirements and not needs.declared:
        listed = ", ".join(needs.requirements)
        remarks.append(f"{script.name} declares no packages; guessed from its imports: {listed}.")
    if needs.unknown and not needs.declared:
        listed = ", ".join(needs.unknown)
        remarks.append(
            f"It imports {listed}, whose package is unknown: list it in a requirements.txt beside it, "
            "or add --with PACKAGE."
        )
    return tuple(remarks)
