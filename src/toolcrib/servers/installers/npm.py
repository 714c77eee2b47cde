"""`npm:NAME[@VERSION]` and local `.tgz` files, each in its own `node_modules`: npm's options, the choice of
the program, warnings, and the errors of npm in plain text.

The plan resolves all packages into a lock with hashes; applying installs exactly that lock. Install scripts
run only if allowed for their package, and then without the user's tokens.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from toolcrib.errors import InstallFailed, NotFound, UsageError
from toolcrib.serverkit.extras.index_settings import reasons
from toolcrib.servers.installers.engine import archives
from toolcrib.servers.installers.engine.contract import BROKEN, InstallContext, InstallProgress
from toolcrib.servers.installers.engine.files import check_present, file_digest
from toolcrib.servers.installers.engine.node import (
    NodeRuntime,
    find_node,
    least_major,
    package_of,
    packages_with_scripts,
)
from toolcrib.servers.installers.engine.package_names import freshness, looks_like
from toolcrib.servers.installers.engine.plan import InstallRequest, LaunchCommand, Plan, Record
from toolcrib.servers.installers.engine.start_hooks import hook_remarks

PREFIX = "npm:"
TARBALL = "package.tgz"
SAFE = (
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--omit=dev",
    "--allow-git=none",
    "--allow-remote=none",
)
"""Refuses dependencies from outside the registry."""
QUIET = ("--no-update-notifier", "--no-progress", "--global=false")
_NAME = re.compile(r"(?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*", re.IGNORECASE)
_VERSION = re.compile(r"[A-Za-z0-9^~*][A-Za-z0-9.^~*+_-]{0,99}")
_SCRIPT_NAMES = (".js", ".mjs", ".cjs")


def recognises(reference: str) -> bool:
    return reference.startswith(PREFIX) or reference.endswith((".tgz", ".tar.gz"))


def read_reference(reference: str) -> tuple[str, str]:
    """Name and version (default `latest`); raises `UsageError`."""
    text = reference.removeprefix(PREFIX)
    name, at, version = text[1:].partition("@")
    name = text[:1] + name
    if len(name) > 214 or not _NAME.fullmatch(name) or name.startswith((".", "-", "_")):
        raise UsageError(f"{name[:80]!r} is not an npm package name.", hint="Example: npm:@scope/name@1.2.3.")
    if at and not _VERSION.fullmatch(version):
        raise UsageError(f"{version[:80]!r} is not a version.", hint=f"Example: npm:{name}@1.2.3.")
    return name, version or "latest"


async def plan(request: InstallRequest, context: InstallContext) -> Plan:
    """Resolve all packages; downloads only metadata."""
    with context.scratch() as scratch:
        if request.reference.startswith(PREFIX):
            name, version = read_reference(request.reference)
            return await _plan_tree(request, context, scratch, name, version)
        source = Path(request.reference)
        return await plan_tarball(request, context, scratch, source)


async def plan_tarball(
    request: InstallRequest, context: InstallContext, scratch: Path, source: Path, *, main: str | None = None
) -> Plan:
    """The plan for a package file; `main` is its server if it has no `bin`."""
    check_present(source)
    await asyncio.to_thread(archives.check_tarball, source)
    name = _name_in(source, await asyncio.to_thread(archives.read_from_tarball, source, "package.json"))
    await asyncio.to_thread(shutil.copyfile, source, scratch / TARBALL)
    found = await _plan_tree(request, context, scratch, name, f"file:{TARBALL}", main)
    digest = await asyncio.to_thread(file_digest, source)
    return found.model_copy(update={"source": str(source), "digest_of_source": digest, "copies": source.name})


async def apply(plan: Plan, folder: Path, context: InstallContext) -> LaunchCommand:
    node = await find_node(context, plan.details["node"])
    if plan.source:
        await asyncio.to_thread(_take_tarball, plan, folder)
    _write_manifest(folder, plan.package, f"file:{TARBALL}" if plan.source else plan.version)
    (folder / "package-lock.json").write_text(plan.lock)
    total = len(plan.fetches)
    context.progress(InstallProgress("fetch", f"{total} package{'' if total == 1 else 's'}", 0, total))
    await _install_lock(context, node, folder, plan)
    if plan.scripts_allowed:
        context.progress(InstallProgress("scripts", ", ".join(plan.scripts_allowed)))
        await asyncio.to_thread(_remove_shadowing, folder, _path(context, node))
        words = [
            "rebuild",
            *QUIET,
            "--no-bin-links",
            "--foreground-scripts",
            "--ignore-scripts=false",
            "--",
            *plan.scripts_allowed,
        ]
        await _npm(context, node, folder, words, private=True)
    return _launch(node, folder, folder / "node_modules" / plan.package / plan.details["program"])


def _remove_shadowing(folder: Path, path: str) -> None:
    """Remove links that an allowed script would find before a program of the system, such as `node`."""
    for link in folder.glob("**/node_modules/.bin/*"):
        if shutil.which(link.name, path=path):
            link.unlink()


class _LockIncomplete(InstallFailed):
    """`npm ci` found packages missing in the lock."""


async def _install_lock(context: InstallContext, node: NodeRuntime, folder: Path, plan: Plan) -> None:
    """Install the lock, without optional packages that the registry does not have.

    `npm ci` requires every optional package in the lock, even those not found when it was made. `npm install`
    skips them; afterwards we check that nothing else was installed.
    """
    quiet, count = [*SAFE, "--loglevel=http"], _counter(context, len(plan.fetches))
    try:
        await _npm(context, node, folder, ["ci", *quiet], on_line=count)
    except _LockIncomplete:
        await _npm(context, node, folder, ["install", "--no-save", *quiet], on_line=count)
        await asyncio.to_thread(_check_installed, folder, plan)


def _check_installed(folder: Path, plan: Plan) -> None:
    locked = json.loads(plan.lock)["packages"]
    installed = json.loads((folder / "node_modules" / ".package-lock.json").read_text())["packages"]
    keys = ("version", "integrity")
    strange = sorted(
        path
        for path, package in installed.items()
        if any(package.get(key) != locked.get(path, {}).get(key) for key in keys)
    )
    if strange:
        listed = ", ".join(package_of(path) for path in strange)
        raise InstallFailed(f"npm installed packages outside the plan: {listed}.", hint="Start again.")


async def newest(record: Record, context: InstallContext) -> str | None:
    """The registry's latest version; None for a tarball."""
    if not record.reference.startswith(PREFIX):
        return None
    node = await find_node(context)
    with context.scratch() as scratch:
        words = ["view", "--json", "--loglevel=error", "--", record.package, "version"]
        out = await _npm(context, node, scratch, words)
    found = json.loads(out or "null")
    return str(found) if isinstance(found, str) else None


async def _plan_tree(
    request: InstallRequest,
    context: InstallContext,
    scratch: Path,
    name: str,
    version: str,
    main: str | None = None,
) -> Plan:
    context.progress(InstallProgress("ask", f"the npm registry for {name}"))
    node = await find_node(context)
    _write_manifest(scratch, name, version)
    words = ["install", "--package-lock-only", *SAFE, "--loglevel=http"]
    await _npm(context, node, scratch, words, on_line=_resolving(context, name))
    lock = (scratch / "package-lock.json").read_text()
    packages: dict[str, Any] = json.loads(lock)["packages"]
    own = packages[f"node_modules/{name}"]
    least = least_major(own.get("engines"))
    if node.version[0] < least:
        node = await find_node(context, least)
    scripts = packages_with_scripts(packages)
    allowed = tuple(package for package in scripts if package in request.options.allow_scripts)
    program = choose_program(name, own.get("bin") or main, request.options.program)
    published = (
        await _published(context, node, scratch, name, own["version"]) if version[:5] != "file:" else None
    )
    entry: dict[str, Any] = {"type": "npm", "package": name, "version": own["version"]}
    return context.new_plan(
        request,
        installer="npm",
        package=name,
        version=own["version"],
        published=published,
        fetches=_fetches(packages, name),
        launch=_launch(node, context.place, context.place / "node_modules" / name / program, planned=True),
        scripts_refused=tuple(package for package in scripts if package not in allowed),
        scripts_allowed=allowed,
        remarks=(*_remarks(name, published), *hook_remarks((), _programs(packages))),
        entry=entry,
        lock=lock,
        details={"node": least, "program": program},
    )


def choose_program(name: str, programs: object, wanted: str | None) -> str:
    """The package's file that is the server; raises `UsageError` if unclear."""
    short = name.rpartition("/")[2]
    listed = (
        {short: programs} if isinstance(programs, str) else programs if isinstance(programs, dict) else {}
    )
    if not listed:
        raise UsageError(f"{name} has no program, so it is not a server.", hint="Is it a library?")
    if wanted is None and len(listed) > 1 and short not in listed:
        raise UsageError(
            f"{name} has several programs: {', '.join(listed)}.", hint="Choose one with --program NAME."
        )
    chosen = wanted or (short if short in listed else next(iter(listed)))
    if chosen not in listed:
        raise UsageError(f"{name} has no program {chosen!r}.", hint=f"It has: {', '.join(listed)}.")
    file = str(listed[chosen])
    if file.startswith("/") or ".." in Path(file).parts:
        raise InstallFailed(f"The program {chosen!r} of {name} is outside the package.")
    return file.removeprefix("./")


def _launch(node: NodeRuntime, folder: Path, program: Path, *, planned: bool = False) -> LaunchCommand:
    if planned or _is_script(program):
        return LaunchCommand(command=node.program, args=(str(program),), env=_compile_cache(node, folder))
    program.chmod(0o755)
    return LaunchCommand(command=str(program))


def _compile_cache(node: NodeRuntime, folder: Path) -> dict[str, str]:
    """Since 22.1, Node can cache compiled code, which speeds up later starts."""
    return {"NODE_COMPILE_CACHE": str(folder / "compiled")} if node.version >= (22, 1) else {}


def _is_script(program: Path) -> bool:
    try:
        with program.open("rb") as file:
            first = file.readline(200)
    except OSError:
        raise InstallFailed(
            f"The package's program {program.name} is missing.",
            hint="It may have to be built first.",
        ) from None
    return b"node" in first if first.startswith(b"#!") else program.suffix in (*_SCRIPT_NAMES, "")


def _name_in(source: Path, manifest: bytes | None) -> str:
    try:
        found = json.loads(manifest or b"")
        name = found["name"]
    except (ValueError, KeyError, TypeError):
        raise InstallFailed(f"{source.name} has no package.json with a name.") from None
    return read_reference(f"{PREFIX}{name}")[0]


def _take_tarball(plan: Plan, folder: Path) -> None:
    shutil.copyfile(plan.source, folder / TARBALL)
    plan.check_source(file_digest(folder / TARBALL))


def _write_manifest(folder: Path, name: str, version: str) -> None:
    content = {"name": "installed-server", "private": True, "dependencies": {name: version}}
    (folder / "package.json").write_text(json.dumps(content))


def _fetches(packages: Mapping[str, Any], name: str) -> tuple[str, ...]:
    found = {
        f"{package_of(path)}@{package['version']}"
        for path, package in packages.items()
        if _is_fetched(path, package)
    }
    own = f"{name}@{packages[f'node_modules/{name}']['version']}"
    return (own, *sorted(found - {own}))


def _is_fetched(path: str, package: Mapping[str, Any]) -> bool:
    """Excludes packages for other systems, as far as the lock says."""
    foreign = package.get("optional") and (package.get("os") or package.get("cpu"))
    return bool(path) and not package.get("link") and not foreign


def _programs(packages: Mapping[str, Any]) -> list[str]:
    """The names of all programs in the lock."""
    found = [(package_of(path).rpartition("/")[2], package.get("bin")) for path, package in packages.items()]
    return [name for own, bins in found if bins for name in (bins if isinstance(bins, dict) else [own])]


def _remarks(name: str, published: str | None) -> tuple[str, ...]:
    known = looks_like("npm", name)
    alike = [f"{name} is not the well-known {known}, despite the similar name."] if known else []
    return (*alike, *freshness(published))


async def _published(
    context: InstallContext, node: NodeRuntime, scratch: Path, name: str, version: str
) -> str | None:
    """When this version was published; None if unknown."""
    context.progress(InstallProgress("ask", f"the npm registry when {name} {version} was published"))
    try:
        out = await _npm(context, node, scratch, ["view", "--json", "--loglevel=error", "--", name, "time"])
        return str(json.loads(out)[version])
    except (InstallFailed, NotFound, ValueError, KeyError, TypeError):
        return None


def _resolving(context: InstallContext, name: str) -> Callable[[str], None]:
    """Counts the packages that npm looks up while it makes a lock."""
    seen: set[str] = set()

    def count(line: str) -> None:
        found = re.match(r"npm http fetch GET \d+ (\S+)", line)
        if found and found[1] not in seen:
            seen.add(found[1])
            packages = f"{len(seen)} package{'' if len(seen) == 1 else 's'}"
            context.progress(InstallProgress("resolve", f"{name}: {packages}", len(seen)))

    return count


def _counter(context: InstallContext, total: int) -> Callable[[str], None]:
    seen: set[str] = set()

    def count(line: str) -> None:
        # npm reports "cache" for every package before it has looked, so only 200 counts.
        found = re.match(r"npm http fetch GET 200 (\S+)", line)
        if found and found[1].endswith(".tgz") and len(seen) < total:
            seen.add(found[1])
            context.progress(
                InstallProgress("fetch", found[1].rpartition("/")[2].removesuffix(".tgz"), len(seen), total)
            )

    return count


async def _npm(
    context: InstallContext,
    node: NodeRuntime,
    folder: Path,
    words: list[str],
    *,
    private: bool = False,
    on_line: Callable[[str], None] = lambda line: None,
) -> str:
    command, *rest = words
    options = [*QUIET, *(["--offline"] if context.offline else [])]
    line = [*node.npm, command, "--prefix", str(folder), *options, *rest]
    # npm looks for `node` on the PATH: put the chosen one first.
    env = {"PATH": _path(context, node)}
    done = await context.runner.run(line, cwd=folder, env=env, private=private, on_line=on_line)
    if done.code == 0:
        return done.out
    raise _failure(done.errors, context.offline, _asked_for(folder))


def _asked_for(folder: Path) -> frozenset[str]:
    """The packages that the project in a folder names itself."""
    try:
        project = json.loads((folder / "package.json").read_bytes())
        return frozenset(project.get("dependencies", ()))
    except (OSError, ValueError, AttributeError):
        return frozenset()


def _path(context: InstallContext, node: NodeRuntime) -> str:
    return f"{Path(node.program).parent}:{context.runner.environ.get('PATH', '')}"


_ASIDE = re.compile(
    r"complete log of this run|/_logs/|^\[?-|^\[<|^(?:Usage|Options|aliases|npm (?:ci|install)\b)"
)
"""npm output other than the reason: its log file and its usage."""


_MISSING = re.compile(r"(?:found for |resource ')(@?[\w.-]+(?:/[\w.-]+)?)@")
"""The package that npm misses, in its two sentences for that."""


def _failure(
    errors: tuple[str, ...], offline: bool, asked_for: Collection[str] = ()
) -> InstallFailed | NotFound:
    lines = [line.removeprefix("npm error").strip() for line in errors if line.startswith("npm error")]
    code = next((line.split()[1] for line in lines if line.startswith("code ")), "")
    # Lines after `Usage:` are never the reason.
    usage = next((place for place, line in enumerate(lines) if line.startswith("Usage:")), len(lines))
    said = reasons([line for line in lines[:usage] if not _ASIDE.search(line)])
    if code == "EUSAGE" and any("from lock file" in line for line in lines):
        return _LockIncomplete(f"The lock is incomplete. {said}")
    if code in ("E404", "ETARGET"):
        missing = next((match[1] for line in lines if (match := _MISSING.search(line))), "")
        if missing and asked_for and missing not in asked_for:
            return NotFound(f"{missing}, which it depends on, is not in the registry. {said}", hint=BROKEN)
        return NotFound(
            f"No such package or version in the registry. {said}", hint="Check the name and version."
        )
    if code == "EINTEGRITY":
        return InstallFailed(f"A package does not match its hash in the lock. {said}", hint="Do not use it.")
    if code == "ENOTCACHED" or offline:
        return InstallFailed(
            f"Some packages are not in the local cache. {said}", hint="Try again without --offline."
        )
    if code in ("EALLOWGIT", "EALLOWREMOTE") or "allow-git" in said or "allow-remote" in said:
        return InstallFailed(
            f"It depends on a package outside the registry, which is refused. {said}",
            hint="Ask its author for a version without this dependency.",
        )
    return InstallFailed(f"npm failed. {said}", hint="Check the network and npm's settings: npm config list")
