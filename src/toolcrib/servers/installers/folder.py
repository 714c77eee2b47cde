"""A folder: an npm package, a Python project, an unpacked bundle, a script or program with its files."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

from toolcrib.errors import InstallFailed, NotFound, UsageError
from toolcrib.servers.installers import custom, npm, python
from toolcrib.servers.installers import script as script_installer
from toolcrib.servers.installing import files, wheels
from toolcrib.servers.installing.context import InstallContext
from toolcrib.servers.installing.environments import make_environment, resolve
from toolcrib.servers.installing.node import find_node
from toolcrib.servers.installing.plan import Launch, Plan, Record, Request
from toolcrib.servers.installing.progress import Step
from toolcrib.servers.installing.scripts import find_entry, is_runnable
from toolcrib.servers.installing.starter import write_starter
from toolcrib.servers.installing.uv import find_uv, index_settings, reasons

PROJECT = "project"


def recognises(reference: str) -> bool:
    """A folder that is there."""
    return bool(reference) and Path(reference).is_dir()


async def plan(request: Request, bench: InstallContext) -> Plan:
    """Whatever the folder is."""
    folder = Path(request.reference)
    if (folder / "manifest.json").is_file():
        from toolcrib.servers.installers import bundle

        return await bundle.plan(request, bench)
    if (folder / "package.json").is_file():
        return await _plan_npm(request, bench, folder)
    if (folder / "pyproject.toml").is_file() and (script := _project_script(folder, request.options.program)):
        return await script_installer.plan_folder(request, bench, folder, script)
    if (folder / "pyproject.toml").is_file():
        return await _plan_project(request, bench, folder)
    if (folder / "server.json").is_file():
        from toolcrib.servers.installers import registry

        inside = request.model_copy(update={"reference": str(folder / "server.json")})
        return await registry.plan(inside, bench)
    program = _find_program(folder, request.options.program)
    if is_runnable(program):
        return await custom.plan_folder(request, bench, folder, program)
    return await script_installer.plan_folder(request, bench, folder, program)


async def apply(plan: Plan, folder: Path, bench: InstallContext) -> Launch:
    """A package or project in a folder is made into an archive first, then installed as one."""
    if plan.details["kind"] == "npm":
        return await _apply_npm(plan, folder, bench)
    source = folder / PROJECT
    await asyncio.to_thread(files.copy, Path(plan.source), source, skip=files.SKIPPED)
    await asyncio.to_thread(_check_unchanged, plan, source)
    bench.progress(Step("build", plan.package))
    built = await _build(bench, source, folder)
    await make_environment(bench, folder, plan.lock, plan.options, wheel=built)
    shutil.rmtree(source)
    write_starter(folder, plan.details["program"], plan.details["target"])
    return python.launch_of(folder, plan.details)


async def newest(record: Record, bench: InstallContext) -> str | None:
    """Nobody can know; `toolcrib update NAME` takes the folder as it is now."""
    return None


async def _plan_npm(request: Request, bench: InstallContext, folder: Path) -> Plan:
    tree = await asyncio.to_thread(files.survey, folder, skip=files.SKIPPED)
    main = _main_file(folder, _read_manifest(folder))
    with bench.scratch() as scratch, bench.scratch() as packed:
        tarball = await _pack(bench, folder, packed)
        found = await npm.plan_tarball(request, bench, scratch, tarball, main=main)
    return found.model_copy(
        update={
            "installer": "folder",
            "source": str(folder),
            "copies": f"{folder} ({tree})",
            "details": {**found.details, "kind": "npm"},
        }
    )


async def _apply_npm(plan: Plan, folder: Path, bench: InstallContext) -> Launch:
    with bench.scratch() as packed:
        tarball = await _pack(bench, Path(plan.source), packed)
        return await npm.apply(plan.model_copy(update={"source": str(tarball)}), folder, bench)


def _read_manifest(folder: Path) -> dict[str, Any]:
    try:
        found = json.loads((folder / "package.json").read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{folder}/package.json is not valid JSON: {error}.", hint="Correct it.") from None
    if not isinstance(found, dict):
        raise UsageError(f"{folder}/package.json is not a JSON object.", hint="Correct it.")
    return found


def _main_file(folder: Path, manifest: dict[str, Any]) -> str | None:
    """The script that is the server of a package which names no program."""
    start = re.match(r"node\s+(\S+)$", str((manifest.get("scripts") or {}).get("start", "")))
    named = [str(manifest.get("main") or ""), start[1] if start else "", "server.js", "index.js", "main.js"]
    return next((one for one in named if one and (folder / one).is_file()), None)


async def _pack(bench: InstallContext, folder: Path, target: Path) -> Path:
    """`npm pack` takes what the package would publish; none of its scripts run."""
    node = await find_node(bench)
    with bench.scratch() as copied:
        source = await asyncio.to_thread(_with_name, folder, copied)
        form = ["pack", "--ignore-scripts", "--pack-destination", str(target), "--loglevel=error", "--json"]
        # Not inside the folder: a .npmrc there is not the person's own setting.
        done = await bench.runner.run([*node.npm, *form, "--", str(source)], cwd=target)
    found = files.matching(target, "*.tgz")
    if done.code or len(found) != 1:
        raise InstallFailed(f"npm could not pack {folder}. {reasons(done.errors)}")
    return found[0]


def _with_name(folder: Path, scratch: Path) -> Path:
    """The folder, or a copy with a name and a version: `npm install` in a new folder writes neither."""
    manifest = _read_manifest(folder)
    if manifest.get("name") and manifest.get("version"):
        return folder
    copied = scratch / "package"
    files.copy(folder, copied, skip=files.SKIPPED)
    plain = re.sub(r"[^a-z0-9]+", "-", folder.name.lower()).strip("-") or "server"
    (copied / "package.json").write_text(json.dumps({"name": plain, "version": "0.0.0", **manifest}))
    return copied


async def _plan_project(request: Request, bench: InstallContext, folder: Path) -> Plan:
    project = _read_project(folder)
    name, version = str(project.get("name", "")), str(project.get("version", "0"))
    bench.progress(Step("resolve", name))
    scripts = {key: str(target) for key, target in project.get("scripts", {}).items()}
    content = wheels.Content(name, version, scripts, _runnable(folder))
    python.read_reference(f"{python.PREFIX}{name}")
    tree = await asyncio.to_thread(files.survey, folder, skip=files.SKIPPED)
    wanted = [str(one) for one in project.get("dependencies", ())]
    with bench.scratch() as scratch:
        requires = str(project.get("requires-python", ""))
        resolved = await resolve(bench, scratch, "\n".join(wanted), request.options, requires)
    found = python.make_plan(request, bench, name, version, resolved, content)
    return found.model_copy(
        update={
            "installer": "folder",
            "fetches": found.fetches[1:],
            "builds": (name, *found.builds),
            "remarks": (f"{name} is built from its folder, which runs its build system's code.",),
            "source": str(folder),
            "digest_of_source": tree.digest,
            "copies": f"{folder} ({tree})",
            "details": {**found.details, "kind": "python"},
        }
    )


def _read_project(folder: Path) -> dict[str, Any]:
    try:
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    except (OSError, ValueError, KeyError) as error:
        raise UsageError(
            f"{folder}/pyproject.toml has no [project] that can be read ({error}).",
            hint="Give it a name, a version and dependencies there.",
        ) from None
    if "dependencies" in project.get("dynamic", ()):
        raise UsageError(
            f"The dependencies of {folder.name} are only known once it is built.",
            hint="Build a wheel yourself, and install that.",
        )
    return dict(project)


def _runnable(folder: Path) -> tuple[str, ...]:
    found = [*folder.glob("*/__main__.py"), *folder.glob("src/*/__main__.py")]
    return tuple(sorted(path.parent.name for path in found))


async def _build(bench: InstallContext, source: Path, folder: Path) -> Path:
    offline = ["--offline"] if bench.offline else []
    line = [find_uv(bench), "build", "--wheel", "--quiet", *offline, "--out-dir", str(folder), str(source)]
    done = await bench.runner.run(line, cwd=source, env=index_settings(bench.runner.environ))
    found = files.matching(folder, "*.whl")
    if done.code or len(found) != 1:
        raise InstallFailed(f"{source.name} could not be built. {reasons(done.errors)}")
    return found[0]


def _check_unchanged(plan: Plan, copied: Path) -> None:
    if files.survey(copied).digest != plan.digest_of_source:
        raise InstallFailed(f"{plan.source} has changed since the plan was made.", hint="Start again.")


def _project_script(folder: Path, wanted: str | None) -> Path | None:
    """The server of a project that is no package: `uv init` makes these. None for one that is a package."""
    if _has_table(folder, "project"):
        project = _read_project(folder)
        if project.get("scripts") or _runnable(folder):
            return None
    return _named_program(folder, wanted) if wanted else find_entry(folder)


def _has_table(folder: Path, table: str) -> bool:
    try:
        return table in tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return True  # reading it says what is wrong


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
        raise UsageError(f"{folder} holds several programs: {listed}.", hint="Say which with --program NAME.")
    raise UsageError(
        f"{folder} holds nothing that can be installed.",
        hint="A server.py, an index.js, a package.json, a pyproject.toml or a program is needed.",
    )


def _named_program(folder: Path, wanted: str) -> Path:
    program = folder / wanted
    if not program.is_file() or not program.resolve().is_relative_to(folder.resolve()):
        raise NotFound(f"{folder} has no file {wanted}.", hint="Check --program.")
    return program


def manifest_name(folder: Path) -> str | None:
    """What a folder calls itself, for a server's name; None when it does not say."""
    for file in ("manifest.json", "package.json", "server.json"):
        try:
            found = json.loads((folder / file).read_text(encoding="utf-8"))
            return str(found["name"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
    try:
        return str(_read_project(folder)["name"])
    except (UsageError, KeyError):
        return None
