"""`npm:NAME[@VERSION]` and local `.tgz` files: a tree of its own, started by node on the package's program.

The plan resolves the whole tree into a lock with hashes; applying installs exactly that lock. No install
script runs unless it is allowed for its package, and then without the person's tokens.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from toolcrib.errors import InstallFailed, NotFound, UsageError
from toolcrib.servers.installing import archive
from toolcrib.servers.installing.age import freshness
from toolcrib.servers.installing.context import InstallContext
from toolcrib.servers.installing.files import check_present, file_digest
from toolcrib.servers.installing.lookalikes import looks_like
from toolcrib.servers.installing.node import Node, find_node, least_major
from toolcrib.servers.installing.plan import Launch, Plan, Record, Request
from toolcrib.servers.installing.progress import Step
from toolcrib.servers.installing.uv import reasons

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
"""Dependencies from elsewhere than the registry are refused: nobody vouches for them."""
QUIET = ("--no-update-notifier", "--no-progress", "--global=false")
_NAME = re.compile(r"(?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*", re.IGNORECASE)
_VERSION = re.compile(r"[A-Za-z0-9^~*][A-Za-z0-9.^~*+_-]{0,99}")
_SCRIPT_NAMES = (".js", ".mjs", ".cjs")


def recognises(reference: str) -> bool:
    """`npm:…`, or a tarball that is there."""
    return reference.startswith(PREFIX) or reference.endswith((".tgz", ".tar.gz"))


def read_reference(reference: str) -> tuple[str, str]:
    """Name and version, the latter `latest` when none is given; raises `UsageError`."""
    text = reference.removeprefix(PREFIX)
    name, at, version = text[1:].partition("@")
    name = text[:1] + name
    if len(name) > 214 or not _NAME.fullmatch(name) or name.startswith((".", "-", "_")):
        raise UsageError(
            f"{name[:80]!r} is no name of an npm package.", hint="Such as npm:@scope/name@1.2.3."
        )
    if at and not _VERSION.fullmatch(version):
        raise UsageError(f"{version[:80]!r} is no version.", hint=f"Such as npm:{name}@1.2.3.")
    return name, version or "latest"


async def plan(request: Request, bench: InstallContext) -> Plan:
    """Resolve the tree; only metadata is fetched."""
    with bench.scratch() as scratch:
        if request.reference.startswith(PREFIX):
            name, version = read_reference(request.reference)
            return await _plan_tree(request, bench, scratch, name, version)
        source = Path(request.reference)
        return await plan_tarball(request, bench, scratch, source)


async def plan_tarball(
    request: Request, bench: InstallContext, scratch: Path, source: Path, *, main: str | None = None
) -> Plan:
    """The plan for a package in a file; `main` is its server where it names no program."""
    check_present(source)
    await asyncio.to_thread(archive.check_tarball, source)
    name = _name_in(source, await asyncio.to_thread(archive.read_from_tarball, source, "package.json"))
    await asyncio.to_thread(shutil.copyfile, source, scratch / TARBALL)
    found = await _plan_tree(request, bench, scratch, name, f"file:{TARBALL}", main)
    digest = await asyncio.to_thread(file_digest, source)
    return found.model_copy(update={"source": str(source), "digest_of_source": digest, "copies": source.name})


async def apply(plan: Plan, folder: Path, bench: InstallContext) -> Launch:
    """Install the lock of the plan."""
    node = await find_node(bench, plan.details["node"])
    if plan.source:
        await asyncio.to_thread(_take_tarball, plan, folder)
    _write_manifest(folder, plan.package, f"file:{TARBALL}" if plan.source else plan.version)
    (folder / "package-lock.json").write_text(plan.lock)
    total = len(plan.fetches)
    bench.progress(Step("fetch", f"{total} package{'' if total == 1 else 's'}", 0, total))
    await _install_lock(bench, node, folder, plan)
    if plan.scripts_allowed:
        bench.progress(Step("scripts", ", ".join(plan.scripts_allowed)))
        words = [
            "rebuild",
            *QUIET,
            "--foreground-scripts",
            "--ignore-scripts=false",
            "--",
            *plan.scripts_allowed,
        ]
        await _npm(bench, node, folder, words, private=True)
    return _launch(node, folder, folder / "node_modules" / plan.package / plan.details["program"])


class _LockIncomplete(InstallFailed):
    """`npm ci` misses packages in the lock."""


async def _install_lock(bench: InstallContext, node: Node, folder: Path, plan: Plan) -> None:
    """Install what the lock names, less the optional packages that the registry does not have.

    `npm ci` insists on having every optional package in the lock, also those that could not be found while
    it was made. `npm install` leaves these out; afterwards it is checked that nothing else was installed.
    """
    quiet, count = [*SAFE, "--loglevel=http"], _counter(bench, len(plan.fetches))
    try:
        await _npm(bench, node, folder, ["ci", *quiet], on_line=count)
    except _LockIncomplete:
        await _npm(bench, node, folder, ["install", "--no-save", *quiet], on_line=count)
        await asyncio.to_thread(_check_installed, folder, plan)


def _check_installed(folder: Path, plan: Plan) -> None:
    locked = json.loads(plan.lock)["packages"]
    installed = json.loads((folder / "node_modules" / ".package-lock.json").read_text())["packages"]
    keys = ("version", "integrity")
    strange = sorted(
        path
        for path, one in installed.items()
        if any(one.get(key) != locked.get(path, {}).get(key) for key in keys)
    )
    if strange:
        listed = ", ".join(_package_of(path) for path in strange)
        raise InstallFailed(f"npm installed what the plan does not name: {listed}.", hint="Start again.")


async def newest(record: Record, bench: InstallContext) -> str | None:
    """What the registry calls the latest; a tarball has no newer one."""
    if not record.reference.startswith(PREFIX):
        return None
    node = await find_node(bench)
    with bench.scratch() as scratch:
        words = ["view", "--json", "--loglevel=error", "--", record.package, "version"]
        out = await _npm(bench, node, scratch, words)
    found = json.loads(out or "null")
    return str(found) if isinstance(found, str) else None


async def _plan_tree(
    request: Request, bench: InstallContext, scratch: Path, name: str, version: str, main: str | None = None
) -> Plan:
    bench.progress(Step("resolve", name))
    node = await find_node(bench)
    _write_manifest(scratch, name, version)
    await _npm(bench, node, scratch, ["install", "--package-lock-only", *SAFE, "--loglevel=error"])
    lock = (scratch / "package-lock.json").read_text()
    packages: dict[str, Any] = json.loads(lock)["packages"]
    own = packages[f"node_modules/{name}"]
    least = least_major(own.get("engines"))
    if node.version[0] < least:
        node = await find_node(bench, least)
    scripts = _with_scripts(packages)
    allowed = tuple(one for one in scripts if one in request.options.allow_scripts)
    program = choose_program(name, own.get("bin") or main, request.options.program)
    published = (
        await _published(bench, node, scratch, name, own["version"]) if version[:5] != "file:" else None
    )
    entry: dict[str, Any] = {"type": "npm", "package": name, "version": own["version"]}
    return Plan(
        installer="npm",
        name=request.name,
        reference=request.reference,
        package=name,
        version=own["version"],
        published=published,
        place=str(bench.place),
        fetches=_fetches(packages, name),
        launch=_launch(node, bench.place, bench.place / "node_modules" / name / program, planned=True),
        scripts_refused=tuple(one for one in scripts if one not in allowed),
        scripts_allowed=allowed,
        remarks=_remarks(name, published),
        entry={**entry, "args": list(request.args), "env": dict(request.env)},
        lock=lock,
        details={"node": least, "program": program},
        options=request.options,
    )


def choose_program(name: str, programs: object, wanted: str | None) -> str:
    """The file of the package that is the server; raises `UsageError` when that is not clear."""
    short = name.rpartition("/")[2]
    listed = (
        {short: programs} if isinstance(programs, str) else programs if isinstance(programs, dict) else {}
    )
    if not listed:
        raise UsageError(f"{name} offers no program, so it is no server.", hint="Is it a library?")
    if wanted is None and len(listed) > 1 and short not in listed:
        raise UsageError(
            f"{name} offers several programs: {', '.join(listed)}.", hint="Say which with --program NAME."
        )
    chosen = wanted or (short if short in listed else next(iter(listed)))
    if chosen not in listed:
        raise UsageError(f"{name} has no program {chosen!r}.", hint=f"It has: {', '.join(listed)}.")
    file = str(listed[chosen])
    if file.startswith("/") or ".." in Path(file).parts:
        raise InstallFailed(f"The program {chosen!r} of {name} lies outside the package.")
    return file.removeprefix("./")


def _launch(node: Node, folder: Path, program: Path, *, planned: bool = False) -> Launch:
    if planned or _is_script(program):
        return Launch(command=node.program, args=(str(program),), env=_compile_cache(node, folder))
    program.chmod(0o755)
    return Launch(command=str(program))


def _compile_cache(node: Node, folder: Path) -> dict[str, str]:
    """From 22.1 on, Node keeps what it compiled, and starts the faster the next time."""
    return {"NODE_COMPILE_CACHE": str(folder / "compiled")} if node.version >= (22, 1) else {}


def _is_script(program: Path) -> bool:
    try:
        with program.open("rb") as file:
            first = file.readline(200)
    except OSError:
        raise InstallFailed(
            f"The package has no file {program.name}, which it calls its program.",
            hint="It may have to be built first.",
        ) from None
    return b"node" in first if first.startswith(b"#!") else program.suffix in (*_SCRIPT_NAMES, "")


def _name_in(source: Path, manifest: bytes | None) -> str:
    try:
        found = json.loads(manifest or b"")
        name = found["name"]
    except (ValueError, KeyError, TypeError):
        raise InstallFailed(f"{source.name} holds no package.json with a name.") from None
    return read_reference(f"{PREFIX}{name}")[0]


def _take_tarball(plan: Plan, folder: Path) -> None:
    shutil.copyfile(plan.source, folder / TARBALL)
    if file_digest(folder / TARBALL) != plan.digest_of_source:
        raise InstallFailed(f"{plan.source} has changed since the plan was made.", hint="Start again.")


def _write_manifest(folder: Path, name: str, version: str) -> None:
    content = {"name": "installed-server", "private": True, "dependencies": {name: version}}
    (folder / "package.json").write_text(json.dumps(content))


def _with_scripts(packages: Mapping[str, Any]) -> tuple[str, ...]:
    found = {_package_of(path) for path, one in packages.items() if path and one.get("hasInstallScript")}
    return tuple(sorted(found))


def _fetches(packages: Mapping[str, Any], name: str) -> tuple[str, ...]:
    found = {
        f"{_package_of(path)}@{one['version']}" for path, one in packages.items() if _is_fetched(path, one)
    }
    own = f"{name}@{packages[f'node_modules/{name}']['version']}"
    return (own, *sorted(found - {own}))


def _is_fetched(path: str, one: Mapping[str, Any]) -> bool:
    """Not what is for other systems only, as far as the lock tells."""
    return (
        bool(path) and not one.get("link") and not (one.get("optional") and (one.get("os") or one.get("cpu")))
    )


def _package_of(path: str) -> str:
    return path.rpartition("node_modules/")[2]


def _remarks(name: str, published: str | None) -> tuple[str, ...]:
    known = looks_like("npm", name)
    alike = [f"{name} looks like the well-known {known}, and is another package."] if known else []
    return (*alike, *freshness(published))


async def _published(bench: InstallContext, node: Node, scratch: Path, name: str, version: str) -> str | None:
    """When this version came out; not knowing is no reason to stop."""
    try:
        out = await _npm(bench, node, scratch, ["view", "--json", "--loglevel=error", "--", name, "time"])
        return str(json.loads(out)[version])
    except (InstallFailed, NotFound, ValueError, KeyError, TypeError):
        return None


def _counter(bench: InstallContext, total: int) -> Callable[[str], None]:
    seen: set[str] = set()

    def count(line: str) -> None:
        # "cache" is told of every package before npm has looked, so it says nothing.
        found = re.match(r"npm http fetch GET 200 (\S+)", line)
        if found and found[1].endswith(".tgz") and len(seen) < total:
            seen.add(found[1])
            bench.progress(Step("fetch", found[1].rpartition("/")[2].removesuffix(".tgz"), len(seen), total))

    return count


async def _npm(
    bench: InstallContext,
    node: Node,
    folder: Path,
    words: list[str],
    *,
    private: bool = False,
    on_line: Callable[[str], None] = lambda line: None,
) -> str:
    command, *rest = words
    options = [*QUIET, *(["--offline"] if bench.offline else [])]
    line = [*node.npm, command, "--prefix", str(folder), *options, *rest]
    # npm looks for `node` on the PATH: let it find the one that was chosen.
    path = f"{Path(node.program).parent}:{bench.runner.environ.get('PATH', '')}"
    done = await bench.runner.run(line, cwd=folder, env={"PATH": path}, private=private, on_line=on_line)
    if done.code == 0:
        return done.out
    raise _failure(done.errors, bench.offline)


_ASIDE = re.compile(
    r"complete log of this run|/_logs/|^\[?-|^\[<|^(?:Usage|Options|aliases|npm (?:ci|install)\b)"
)
"""What npm says besides the reason: where its log lies, and how it wants to be called."""


def _failure(errors: tuple[str, ...], offline: bool) -> InstallFailed | NotFound:
    lines = [line.removeprefix("npm error").strip() for line in errors if line.startswith("npm error")]
    code = next((line.split()[1] for line in lines if line.startswith("code ")), "")
    # What follows `Usage:` is how npm wants to be called, never the reason.
    usage = next((place for place, line in enumerate(lines) if line.startswith("Usage:")), len(lines))
    said = reasons([line for line in lines[:usage] if not _ASIDE.search(line)])
    if code == "EUSAGE" and any("from lock file" in line for line in lines):
        return _LockIncomplete(f"The lock does not name every package. {said}")
    if code in ("E404", "ETARGET"):
        return NotFound(
            f"The registry has no such package or version. {said}", hint="Check its name and version."
        )
    if code == "EINTEGRITY":
        return InstallFailed(f"A package is not what the lock says it must be. {said}", hint="Do not use it.")
    if code == "ENOTCACHED" or offline:
        return InstallFailed(
            f"Not everything that is needed is on this machine. {said}", hint="Try again without --offline."
        )
    if code in ("EALLOWGIT", "EALLOWREMOTE") or "allow-git" in said or "allow-remote" in said:
        return InstallFailed(
            f"It depends on a package from outside the registry, which is refused. {said}",
            hint="Ask its author for a version without.",
        )
    return InstallFailed(f"npm failed. {said}", hint="Check the network, and npm's settings: npm config list")
