"""A folder as a server: decides whether it is an npm package, Python project, unpacked bundle, script or
program, and packs or builds it; errors such as "contains nothing to install".
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

from toolcrib.errors import InstallFailed, NotFound, UsageError
from toolcrib.serverkit.bounded_read import read_bounded_text
from toolcrib.serverkit.extras.index_settings import index_settings, reasons
from toolcrib.servers.installers import custom, npm, python
from toolcrib.servers.installers import script as script_installer
from toolcrib.servers.installers.engine import files
from toolcrib.servers.installers.engine.archives import WheelContent
from toolcrib.servers.installers.engine.contract import InstallContext, InstallProgress
from toolcrib.servers.installers.engine.environments import declared, make_environment, resolve, write_starter
from toolcrib.servers.installers.engine.node import find_node
from toolcrib.servers.installers.engine.plan import InstallRequest, LaunchCommand, Plan, Record
from toolcrib.servers.installers.engine.scripts import find_entry, is_runnable
from toolcrib.servers.installers.engine.uv import find_uv

PROJECT = "project"
LARGEST_MANIFEST = 16_000_000


def recognises(reference: str) -> bool:
    return bool(reference) and Path(reference).is_dir()


async def plan(request: InstallRequest, context: InstallContext) -> Plan:
    folder = Path(request.reference)
    if (folder / "manifest.json").is_file():
        from toolcrib.servers.installers import bundle

        return await bundle.plan(request, context)
    if (folder / "package.json").is_file():
        return await _plan_npm(request, context, folder)
    if (folder / "pyproject.toml").is_file() and (script := _project_script(folder, request.options.program)):
        return await script_installer.plan_folder(request, context, folder, script)
    if (folder / "pyproject.toml").is_file():
        return await _plan_project(request, context, folder)
    if (folder / "server.json").is_file():
        from toolcrib.servers.installers import registry

        inside = request.model_copy(update={"reference": str(folder / "server.json")})
        return await registry.plan(inside, context)
    program = _find_program(folder, request.options.program)
    if is_runnable(program):
        return await custom.plan_folder(request, context, folder, program)
    return await script_installer.plan_folder(request, context, folder, program)


async def apply(plan: Plan, folder: Path, context: InstallContext) -> LaunchCommand:
    """Pack or build the folder, then install the archive."""
    if plan.details["kind"] == "npm":
        return await _apply_npm(plan, folder, context)
    source = folder / PROJECT
    await asyncio.to_thread(files.copy, Path(plan.source), source, skip=files.SKIPPED)
    plan.check_source((await asyncio.to_thread(files.survey, source)).digest)
    context.progress(InstallProgress("build", plan.package))
    built = await _build(context, source, folder)
    await make_environment(context, folder, plan.lock, plan.options, wheel=built)
    shutil.rmtree(source)
    write_starter(folder, plan.details["program"], plan.details["target"])
    return python.launch_of(folder, plan.details)


async def newest(record: Record, context: InstallContext) -> str | None:
    """Unknown; `toolcrib update NAME` installs the folder's current content."""
    return None


async def _plan_npm(request: InstallRequest, context: InstallContext, folder: Path) -> Plan:
    tree = await asyncio.to_thread(files.survey, folder, skip=files.SKIPPED)
    main = _main_file(folder, _read_manifest(folder))
    with context.scratch() as scratch, context.scratch() as packed:
        tarball = await _pack(context, folder, packed)
        found = await npm.plan_tarball(request, context, scratch, tarball, main=main)
    return found.model_copy(
        update={
            "installer": "folder",
            "source": str(folder),
            "copies": f"{folder} ({tree})",
            "details": {**found.details, "kind": "npm"},
        }
    )


async def _apply_npm(plan: Plan, folder: Path, context: InstallContext) -> LaunchCommand:
    with context.scratch() as packed:
        tarball = await _pack(context, Path(plan.source), packed)
        return await npm.apply(plan.model_copy(update={"source": str(tarball)}), folder, context)


def _read_manifest(folder: Path) -> dict[str, Any]:
    try:
        text = read_bounded_text(folder / "package.json", LARGEST_MANIFEST, encoding="utf-8-sig")
        found = json.loads(text)
    except (OSError, ValueError) as error:
        raise UsageError(f"{folder}/package.json is not valid JSON: {error}.", hint="Fix the file.") from None
    if not isinstance(found, dict):
        raise UsageError(f"{folder}/package.json is not a JSON object.", hint="Fix the file.")
    return found


def _main_file(folder: Path, manifest: dict[str, Any]) -> str | None:
    """The server script of a package without a `bin`."""
    start = re.match(r"node\s+(\S+)$", str((manifest.get("scripts") or {}).get("start", "")))
    named = [str(manifest.get("main") or ""), start[1] if start else "", "server.js", "index.js", "main.js"]
    return next((file for file in named if file and (folder / file).is_file()), None)


async def _pack(context: InstallContext, folder: Path, target: Path) -> Path:
    """Run `npm pack`, which takes what would be published, without scripts."""
    node = await find_node(context)
    with context.scratch() as copied:
        source = await asyncio.to_thread(_with_name, folder, copied)
        form = ["pack", "--ignore-scripts", "--pack-destination", str(target), "--loglevel=error", "--json"]
        # Not inside the folder: its .npmrc is not the user's setting.
        done = await context.runner.run([*node.npm, *form, "--", str(source)], cwd=target)
    found = files.matching(target, "*.tgz")
    if done.code or len(found) != 1:
        raise InstallFailed(f"npm could not pack {folder}. {reasons(done.errors)}")
    return found[0]


def _with_name(folder: Path, scratch: Path) -> Path:
    """The folder, or a copy with a name and version, which `npm init`-less folders lack."""
    manifest = _read_manifest(folder)
    if manifest.get("name") and manifest.get("version"):
        return folder
    copied = scratch / "package"
    files.copy(folder, copied, skip=files.SKIPPED)
    plain = re.sub(r"[^a-z0-9]+", "-", folder.name.lower()).strip("-") or "server"
    (copied / "package.json").write_text(json.dumps({"name": plain, "version": "0.0.0", **manifest}))
    return copied


async def _plan_project(request: InstallRequest, context: InstallContext, folder: Path) -> Plan:
    project = _read_project(folder)
    name, version = str(project.get("name", "")), str(project.get("version", "0"))
    context.progress(InstallProgress("resolve", name))
    scripts = {key: str(target) for key, target in project.get("scripts", {}).items()}
    content = WheelContent(name, version, scripts, _runnable(folder))
    python.read_reference(f"{python.PREFIX}{name}")
    tree = await asyncio.to_thread(files.survey, folder, skip=files.SKIPPED)
    wanted = declared(project, f"{folder}/pyproject.toml")
    with context.scratch() as scratch:
        requires = str(project.get("requires-python", ""))
        resolved = await resolve(context, scratch, wanted, request.options, requires)
    found = python.make_plan(request, context, name, version, resolved, content)
    return found.model_copy(
        update={
            "installer": "folder",
            "fetches": found.fetches[1:],
            "builds": (name, *found.builds),
            "remarks": (f"{name} is built from its folder, which runs code of its build system.",),
            "source": str(folder),
            "digest_of_source": tree.digest,
            "copies": f"{folder} ({tree})",
            "details": {**found.details, "kind": "python"},
        }
    )


def _read_project(folder: Path) -> dict[str, Any]:
    try:
        project = tomllib.loads(read_bounded_text(folder / "pyproject.toml", LARGEST_MANIFEST))["project"]
    except (OSError, ValueError, KeyError) as error:
        raise UsageError(
            f"{folder}/pyproject.toml has no valid [project] table ({error}).",
            hint="Add name, version and dependencies to it.",
        ) from None
    if "dependencies" in project.get("dynamic", ()):
        raise UsageError(
            f"The dependencies of {folder.name} are dynamic: known only after a build.",
            hint="Build a wheel, and install that.",
        )
    return dict(project)


def _runnable(folder: Path) -> tuple[str, ...]:
    found = [*folder.glob("*/__main__.py"), *folder.glob("src/*/__main__.py")]
    return tuple(sorted(path.parent.name for path in found))


async def _build(context: InstallContext, source: Path, folder: Path) -> Path:
    offline = ["--offline"] if context.offline else []
    line = [find_uv(context), "build", "--wheel", "--quiet", *offline, "--out-dir", str(folder), str(source)]
    done = await context.runner.run(line, cwd=source, env=index_settings(context.runner.environ))
    found = files.matching(folder, "*.whl")
    if done.code or len(found) != 1:
        raise InstallFailed(f"{source.name} could not be built. {reasons(done.errors)}")
    return found[0]


def _project_script(folder: Path, wanted: str | None) -> Path | None:
    """The server script of a project that is not a package (as `uv init` creates); None for a package."""
    if _has_table(folder, "project"):
        project = _read_project(folder)
        if project.get("scripts") or _runnable(folder):
            return None
    return _named_program(folder, wanted) if wanted else find_entry(folder)


def _has_table(folder: Path, table: str) -> bool:
    try:
        return table in tomllib.loads(read_bounded_text(folder / "pyproject.toml", LARGEST_MANIFEST))
    except (OSError, ValueError):
        return True  # `_read_project` reports the error


def _find_program(folder: Path, wanted: str | None) -> Path:
    if wanted is not None:
        return _named_program(folder, wanted)
    found = [path for path in sorted(folder.iterdir()) if is_runnable(path)]
    same = [path for path in found if path.stem == folder.name]
    if len(found) == 1 or len(same) == 1:
        return (same or found)[0]
    entry = find_entry(folder)
    if entry is not None and (not found or entry in found):
        return entry
    listed = ", ".join(path.name for path in found)
    if found:
        raise UsageError(
            f"{folder} contains several programs: {listed}.", hint="Choose one with --program NAME."
        )
    raise UsageError(
        f"{folder} contains nothing to install.",
        hint="It needs a server.py, index.js, package.json, pyproject.toml or program.",
    )


def _named_program(folder: Path, wanted: str) -> Path:
    program = folder / wanted
    if not program.is_file() or not program.resolve().is_relative_to(folder.resolve()):
        raise NotFound(f"{folder} has no file {wanted}.", hint="Check --program.")
    return program
