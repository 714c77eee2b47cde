"""`pypi:NAME[==VERSION]` and local wheels: an environment of its own, its bytecode compiled beforehand.

The plan resolves every package into a lock with hashes; applying installs exactly that lock, from wheels
only: a source distribution runs code while it is built, and is refused unless it is allowed by name.
"""

from __future__ import annotations

import asyncio
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from toolcrib.errors import InstallFailed, UsageError
from toolcrib.servers.installing import wheels
from toolcrib.servers.installing.context import InstallContext
from toolcrib.servers.installing.environments import (
    Resolved,
    fetch_wheel,
    make_environment,
    pinned,
    resolve,
    without,
)
from toolcrib.servers.installing.files import check_present, file_digest
from toolcrib.servers.installing.lookalikes import looks_like
from toolcrib.servers.installing.plan import Launch, Plan, Record, Request
from toolcrib.servers.installing.progress import Step
from toolcrib.servers.installing.starter import STARTER, write_starter

PREFIX = "pypi:"
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_EXTRAS = re.compile(r"\[[A-Za-z0-9._, -]*\]")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.!+_-]{0,99}")


def recognises(reference: str) -> bool:
    """`pypi:…`, or a wheel."""
    return reference.startswith(PREFIX) or reference.endswith(".whl")


def read_reference(reference: str) -> tuple[str, str, str | None]:
    """Name, extras and version; raises `UsageError`."""
    text, found, version = reference.removeprefix(PREFIX).partition("==")
    if not found and "@" in text:
        text, _, version = text.partition("@")
    bracket = text.find("[")
    name, extras = (text, "") if bracket < 0 else (text[:bracket], text[bracket:])
    if len(name) > 200 or not _NAME.fullmatch(name) or (extras and not _EXTRAS.fullmatch(extras)):
        raise UsageError(f"{text[:80]!r} is no name of a Python package.", hint="Such as pypi:name==1.2.3.")
    if version and not _VERSION.fullmatch(version):
        raise UsageError(f"{version[:80]!r} is no version.", hint=f"Such as pypi:{name}==1.2.3.")
    return name, extras, version if version and version != "latest" else None


async def plan(request: Request, bench: InstallContext) -> Plan:
    """Resolve everything; only the package's own wheel is fetched, to see which program it brings."""
    with bench.scratch() as scratch:
        if request.reference.startswith(PREFIX):
            return await _plan_package(request, bench, scratch)
        return await _plan_wheel(request, bench, scratch, Path(request.reference))


async def apply(plan: Plan, folder: Path, bench: InstallContext) -> Launch:
    """Make the environment and install the lock of the plan."""
    wheel = await asyncio.to_thread(_take_wheel, plan, folder) if plan.source else None
    await make_environment(bench, folder, plan.lock, plan.options, wheel=wheel)
    write_starter(folder, plan.details["program"], plan.details["target"])
    return launch_of(folder, plan.details)


async def newest(record: Record, bench: InstallContext) -> str | None:
    """The newest version that fits; a wheel in a file has no newer one."""
    if not record.reference.startswith(PREFIX):
        return None
    with bench.scratch() as scratch:
        found = await resolve(bench, scratch, record.package, record.options, dependencies=False)
    return pinned(found.lock).get(wheels.normal(record.package))


async def _plan_package(request: Request, bench: InstallContext, scratch: Path) -> Plan:
    name, extras, version = read_reference(request.reference)
    bench.progress(Step("resolve", name))
    wanted = f"{name}{extras}{f'=={version}' if version else ''}"
    found = await resolve(bench, scratch, wanted, request.options)
    exact = pinned(found.lock)[wheels.normal(name)]
    content = await fetch_wheel(bench, scratch, name, found.lock, found.options)
    known = looks_like("pypi", name)
    alike = (f"{name} looks like the well-known {known}, and is another package.",) if known else ()
    plan = make_plan(request, bench, name, exact, found, content)
    return plan.model_copy(update={"remarks": (*alike, *_index_remarks(bench))})


async def _plan_wheel(request: Request, bench: InstallContext, scratch: Path, source: Path) -> Plan:
    check_present(source)
    bench.progress(Step("resolve", source.name))
    content = await asyncio.to_thread(wheels.read_wheel, source)
    resolved = await resolve(bench, scratch, f"{content.name} @ {source.as_uri()}", request.options)
    others = replace(resolved, lock=without(resolved.lock, content.name))
    found = make_plan(request, bench, content.name, content.version, others, content)
    digest = await asyncio.to_thread(file_digest, source)
    return found.model_copy(update={"source": str(source), "digest_of_source": digest, "copies": source.name})


def make_plan(
    request: Request,
    bench: InstallContext,
    name: str,
    version: str,
    resolved: Resolved,
    content: wheels.Content,
) -> Plan:
    """The plan for a package whose wheel, or whose settings, are known."""
    lock = resolved.lock
    program, target = wheels.choose_program(content, request.options.program)
    module = target.partition(":")[0]
    details = {"program": program, "target": target, "module": module}
    own = f"{name}=={version}"
    others = [f"{package}=={number}" for package, number in pinned(lock).items()]
    normal = f"{wheels.normal(name)}=={version}"
    entry: dict[str, Any] = {"type": "python", "module": module, "package": name, "version": version}
    return Plan(
        installer="python",
        name=request.name,
        reference=request.reference,
        package=name,
        version=version,
        place=str(bench.place),
        fetches=(own, *(other for other in others if other != normal)),
        runtimes=resolved.runtimes,
        launch=launch_of(bench.place, details),
        builds=tuple(one for one in request.options.allow_build if wheels.normal(one) in pinned(lock)),
        entry={**entry, "args": list(request.args), "env": dict(request.env)},
        lock=lock,
        details=details,
        options=resolved.options,
    )


def launch_of(folder: Path, details: dict[str, Any]) -> Launch:
    """The environment's own Python on the package's program, by absolute path."""
    python = str(folder / "venv" / "bin" / "python")
    if details["program"]:
        return Launch(command=python, args=(str(folder / STARTER),))
    return Launch(command=python, args=("-m", details["module"]))


def _take_wheel(plan: Plan, folder: Path) -> Path:
    target = folder / Path(plan.source).name
    shutil.copyfile(plan.source, target)
    if file_digest(target) != plan.digest_of_source:
        raise InstallFailed(f"{plan.source} has changed since the plan was made.", hint="Start again.")
    return target


def _index_remarks(bench: InstallContext) -> tuple[str, ...]:
    from toolcrib.servers.installing.uv import index_settings

    further = index_settings(bench.runner.environ).get("UV_INDEX", "").split()
    if not further:
        return ()
    return (f"pip is set up with {len(further)} further indexes; the best version of all of them is taken.",)
