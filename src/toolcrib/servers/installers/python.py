"""`pypi:NAME[==VERSION]` and local wheels, each in its own environment with compiled bytecode: the plan, its
warnings, and the start command.

The plan resolves all packages into a lock with hashes; applying installs exactly that lock. Only wheels are
used: building a source distribution runs its code, so it must be allowed by name.
"""

from __future__ import annotations

import asyncio
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from toolcrib.errors import UsageError
from toolcrib.servers.installers.engine.archives import WheelContent, choose_program, normal_name, read_wheel
from toolcrib.servers.installers.engine.contract import InstallContext, InstallProgress
from toolcrib.servers.installers.engine.environments import (
    STARTER,
    Resolved,
    fetch_wheel,
    make_environment,
    pinned,
    resolve,
    without,
    write_starter,
)
from toolcrib.servers.installers.engine.files import check_present, file_digest
from toolcrib.servers.installers.engine.package_names import looks_like
from toolcrib.servers.installers.engine.plan import InstallRequest, LaunchCommand, Plan, Record

PREFIX = "pypi:"
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_EXTRAS = re.compile(r"\[[A-Za-z0-9._, -]*\]")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.!+_-]{0,99}")


def recognises(reference: str) -> bool:
    return reference.startswith(PREFIX) or reference.endswith(".whl")


def read_reference(reference: str) -> tuple[str, str, str | None]:
    """Name, extras and version; raises `UsageError`."""
    text, found, version = reference.removeprefix(PREFIX).partition("==")
    if not found and "@" in text:
        text, _, version = text.partition("@")
    bracket = text.find("[")
    name, extras = (text, "") if bracket < 0 else (text[:bracket], text[bracket:])
    if len(name) > 200 or not _NAME.fullmatch(name) or (extras and not _EXTRAS.fullmatch(extras)):
        raise UsageError(f"{text[:80]!r} is not a Python package name.", hint="Example: pypi:name==1.2.3.")
    if version and not _VERSION.fullmatch(version):
        raise UsageError(f"{version[:80]!r} is not a version.", hint=f"Example: pypi:{name}==1.2.3.")
    return name, extras, version if version and version != "latest" else None


async def plan(request: InstallRequest, context: InstallContext) -> Plan:
    """Resolve all packages; downloads only the package's own wheel, to find its programs."""
    with context.scratch() as scratch:
        if request.reference.startswith(PREFIX):
            return await _plan_package(request, context, scratch)
        return await _plan_wheel(request, context, scratch, Path(request.reference))


async def apply(plan: Plan, folder: Path, context: InstallContext) -> LaunchCommand:
    wheel = await asyncio.to_thread(_take_wheel, plan, folder) if plan.source else None
    await make_environment(context, folder, plan.lock, plan.options, wheel=wheel)
    write_starter(folder, plan.details["program"], plan.details["target"])
    return launch_of(folder, plan.details)


async def newest(record: Record, context: InstallContext) -> str | None:
    """The newest compatible version; None for a wheel file."""
    if not record.reference.startswith(PREFIX):
        return None
    with context.scratch() as scratch:
        found = await resolve(context, scratch, record.package, record.options, dependencies=False)
    return pinned(found.lock).get(normal_name(record.package))


async def _plan_package(request: InstallRequest, context: InstallContext, scratch: Path) -> Plan:
    name, extras, version = read_reference(request.reference)
    context.progress(InstallProgress("ask", f"the Python package index for {name}"))
    wanted = f"{name}{extras}{f'=={version}' if version else ''}"
    found = await resolve(context, scratch, wanted, request.options)
    packages = pinned(found.lock)
    exact = packages[normal_name(name)]
    count = f"{len(packages)} package{'' if len(packages) == 1 else 's'}"
    context.progress(InstallProgress("resolve", f"{name} {exact}: {count}", len(packages)))
    content = await fetch_wheel(context, scratch, name, found.lock, found.options)
    known = looks_like("pypi", name)
    alike = (f"{name} is not the well-known {known}, despite the similar name.",) if known else ()
    plan = make_plan(request, context, name, exact, found, content)
    return plan.model_copy(update={"remarks": (*alike, *plan.remarks, *_index_remarks(context))})


async def _plan_wheel(request: InstallRequest, context: InstallContext, scratch: Path, source: Path) -> Plan:
    check_present(source)
    context.progress(InstallProgress("resolve", source.name))
    content = await asyncio.to_thread(read_wheel, source)
    resolved = await resolve(context, scratch, f"{content.name} @ {source.as_uri()}", request.options)
    others = replace(resolved, lock=without(resolved.lock, content.name))
    found = make_plan(request, context, content.name, content.version, others, content)
    digest = await asyncio.to_thread(file_digest, source)
    return found.model_copy(update={"source": str(source), "digest_of_source": digest, "copies": source.name})


def make_plan(
    request: InstallRequest,
    context: InstallContext,
    name: str,
    version: str,
    resolved: Resolved,
    content: WheelContent,
) -> Plan:
    """The plan for a package with a known wheel or project file."""
    lock = resolved.lock
    program, target = choose_program(content, request.options.program)
    module = target.partition(":")[0]
    details = {"program": program, "target": target, "module": module}
    own = f"{name}=={version}"
    others = [f"{package}=={number}" for package, number in pinned(lock).items()]
    normal = f"{normal_name(name)}=={version}"
    entry: dict[str, Any] = {"type": "python", "module": module, "package": name, "version": version}
    return context.new_plan(
        request,
        installer="python",
        package=name,
        version=version,
        fetches=(own, *(other for other in others if other != normal)),
        runtimes=resolved.runtimes,
        launch=launch_of(context.place, details),
        remarks=content.remarks,
        builds=tuple(name for name in request.options.allow_build if normal_name(name) in pinned(lock)),
        entry=entry,
        lock=lock,
        details=details,
        options=resolved.options,
    )


def launch_of(folder: Path, details: dict[str, Any]) -> LaunchCommand:
    """The environment's Python with the package's program."""
    python = str(folder / "venv" / "bin" / "python")
    if details["program"]:
        return LaunchCommand(command=python, args=(str(folder / STARTER),))
    return LaunchCommand(command=python, args=("-m", details["module"]))


def _take_wheel(plan: Plan, folder: Path) -> Path:
    target = folder / Path(plan.source).name
    shutil.copyfile(plan.source, target)
    plan.check_source(file_digest(target))
    return target


def _index_remarks(context: InstallContext) -> tuple[str, ...]:
    from toolcrib.serverkit.extras.index_settings import index_settings

    further = index_settings(context.runner.environ).get("UV_INDEX", "").split()
    if not further:
        return ()
    return (f"pip has {len(further)} extra indexes; the best version from all of them is used.",)
