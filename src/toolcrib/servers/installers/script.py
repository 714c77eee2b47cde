"""A plain script, such as `server.py` or `index.js`: copied, and run with the packages that it needs.

Nothing of it is executed to find out: what it needs is read from its inline metadata, from a requirements
file or a project file beside it, else guessed from its imports.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from toolcrib.errors import InstallFailed, NotFound, UsageError
from toolcrib.servers.installing import files
from toolcrib.servers.installing.context import InstallContext
from toolcrib.servers.installing.environments import Resolved, make_environment, pinned, resolve
from toolcrib.servers.installing.node import find_node
from toolcrib.servers.installing.plan import Launch, Plan, Record, Request
from toolcrib.servers.installing.progress import Step
from toolcrib.servers.installing.scripts import PYTHON, Needs, is_runnable, is_script, read_needs

CONTENT = "content"
SKIPPED = files.SKIPPED - {"node_modules"}
"""Packages of Node beside a script are part of it: no manifest says how to fetch them."""


def recognises(reference: str) -> bool:
    """A script that is a file, and no program of its own."""
    path = Path(reference)
    return is_script(path) and path.is_file() and not is_runnable(path)


async def plan(request: Request, bench: InstallContext) -> Plan:
    """Copy the script alone, unless it uses what lies beside it."""
    script = Path(request.reference)
    needs = await asyncio.to_thread(read_needs, script)
    return await _plan(request, bench, script, needs, script.parent, alone=not needs.uses_folder(script))


async def plan_folder(request: Request, bench: InstallContext, folder: Path, script: Path) -> Plan:
    """The plan for a script and the folder that belongs to it."""
    needs = await asyncio.to_thread(read_needs, script, folder)
    return await _plan(request, bench, script, needs, folder, alone=False)


async def apply(plan: Plan, folder: Path, bench: InstallContext) -> Launch:
    """Copy, check that it is what was shown, and make the environment."""
    bench.progress(Step("copy", plan.copies))
    source, script = Path(plan.source), Path(plan.source) / plan.details["script"]
    only = script if plan.details["alone"] else None
    await asyncio.to_thread(files.copy, source, folder / CONTENT, only=only, skip=SKIPPED)
    tree = await asyncio.to_thread(files.survey, folder / CONTENT)
    if tree.digest != plan.digest_of_source:
        raise InstallFailed(f"{source} has changed since the plan was made.", hint="Start again.")
    if plan.details["environment"]:
        await make_environment(bench, folder, plan.lock, plan.options)
    return plan.launch


async def newest(record: Record, bench: InstallContext) -> str | None:
    """The script as it is now, named by its hash; None when it is gone."""
    script = Path(record.entry.get("command", ""))
    try:
        alone = record.reference == str(script) and not read_needs(script).uses_folder(script)
        only = script if alone else None
        tree = await asyncio.to_thread(files.survey, Path(record.source), only=only, skip=SKIPPED)
    except (UsageError, NotFound, OSError):
        return None
    return tree.digest[:12]


async def _plan(
    request: Request, bench: InstallContext, script: Path, needs: Needs, folder: Path, *, alone: bool
) -> Plan:
    bench.progress(Step("resolve", str(script)))
    inside = str(script.relative_to(folder))
    tree = await asyncio.to_thread(files.survey, folder, only=script if alone else None, skip=SKIPPED)
    with bench.scratch() as scratch:
        wanted = "\n".join(needs.requirements)
        resolved = await resolve(bench, scratch, wanted, request.options, needs.requires_python)
    source = script if alone else folder
    entry: dict[str, Any] = {"type": "custom", "sourcePath": str(source), "command": str(script)}
    environment = _has_environment(script, needs, resolved)
    return Plan(
        installer="script",
        name=request.name,
        reference=request.reference,
        package=script.name,
        version=tree.digest[:12],
        place=str(bench.place),
        fetches=tuple(f"{name}=={version}" for name, version in pinned(resolved.lock).items()),
        runtimes=resolved.runtimes,
        copies=f"{source} ({tree})",
        launch=await _launch(bench, inside, environment=environment, ours=needs.ours),
        remarks=_remarks(script, needs),
        entry={**entry, "version": tree.digest[:12], "args": list(request.args), "env": dict(request.env)},
        lock=resolved.lock,
        source=str(folder),
        digest_of_source=tree.digest,
        details={"script": inside, "alone": alone, "environment": environment},
        options=resolved.options,
    )


def _has_environment(script: Path, needs: Needs, resolved: Resolved) -> bool:
    """Not for a script that needs nothing: the interpreter itself will do."""
    chosen = resolved.options.python or resolved.options.needed_python
    return script.suffix in PYTHON and not needs.ours and bool(resolved.lock or chosen)


async def _launch(bench: InstallContext, inside: str, *, environment: bool, ours: bool) -> Launch:
    content = bench.place / CONTENT
    if not inside.endswith(PYTHON):
        program = (await find_node(bench)).program
    elif environment:
        program = str(bench.place / "venv" / "bin" / "python")
    else:
        program = sys.executable if ours else _plain_python()
    return Launch(command=program, args=(str(content / inside),), cwd=str(content))


def _plain_python() -> str:
    """The interpreter behind our own environment, whose packages a script must not come to rely on."""
    return os.path.realpath(sys.executable)


def _remarks(script: Path, needs: Needs) -> tuple[str, ...]:
    remarks = []
    if needs.requirements and not needs.declared:
        listed = ", ".join(needs.requirements)
        remarks.append(f"{script.name} does not say which packages it needs; from its imports: {listed}.")
    if needs.unknown and not needs.declared:
        listed = ", ".join(needs.unknown)
        remarks.append(
            f"It imports {listed}, for which no package is known: list them in a requirements.txt beside it, "
            "or add --with PACKAGE."
        )
    return tuple(remarks)
