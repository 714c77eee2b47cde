"""`.mcpb` and `.dxt` bundles, or one unpacked: what it asks becomes questions, what is secret a secret."""

from __future__ import annotations

import asyncio
import os
import sys
import tomllib
from pathlib import Path
from typing import Any

from toolcrib.errors import InstallFailed
from toolcrib.servers.installed import CURRENT
from toolcrib.servers.installing import archive, files
from toolcrib.servers.installing.context import InstallContext
from toolcrib.servers.installing.environments import Resolved, make_environment, pinned, resolve
from toolcrib.servers.installing.manifest import HERE, Manifest, Start, fill_in, questions_of, read_manifest
from toolcrib.servers.installing.node import find_node
from toolcrib.servers.installing.plan import Launch, Plan, Record, Request
from toolcrib.servers.installing.progress import Step

CONTENT = "content"
SIGNATURE = b"MCPB_SIG_V1"
SUFFIXES = (".mcpb", ".dxt")


def recognises(reference: str) -> bool:
    """A file with a bundle's suffix."""
    return reference.endswith(SUFFIXES) and not reference.startswith(("http://", "https://"))


async def plan(request: Request, bench: InstallContext) -> Plan:
    """Look the whole archive over; nothing of it is written."""
    source = Path(request.reference)
    files.check_present(source)
    bench.progress(Step("resolve", source.name))
    manifest, names = await asyncio.to_thread(_look_into, source)
    if manifest.server.entry_point and manifest.server.entry_point.removeprefix("./") not in names:
        raise InstallFailed(f"{source.name} does not hold {manifest.server.entry_point}, which it starts.")
    resolved = await _resolve(request, bench, source, manifest)
    return await _plan(request, bench, source, manifest, resolved)


async def apply(plan: Plan, folder: Path, bench: InstallContext) -> Launch:
    """Unpack within bounds, and make the environment where the bundle wants one."""
    source, content = Path(plan.source), folder / CONTENT
    bench.progress(Step("copy", plan.copies))
    digest = await asyncio.to_thread(_take, source, content, Path(plan.launch.command))
    if digest != plan.digest_of_source:
        raise InstallFailed(f"{source} has changed since the plan was made.", hint="Start again.")
    if plan.details["environment"]:
        await make_environment(bench, folder, plan.lock, plan.options)
    return plan.launch


async def newest(record: Record, bench: InstallContext) -> str | None:
    """Nobody can know; `toolcrib update NAME FILE` takes another file."""
    return None


def _take(source: Path, content: Path, program: Path) -> str:
    """Copy or unpack; returns the digest of what was taken."""
    if source.is_dir():
        files.copy(source, content)
        digest = files.survey(content).digest
    else:
        digest = files.file_digest(source)
        archive.unpack_zip(source, content)
    if program.is_relative_to(content) and program.is_file():
        program.chmod(0o755)
    return digest


def _look_into(source: Path) -> tuple[Manifest, set[str]]:
    if source.is_dir():
        content: bytes | None = (source / "manifest.json").read_bytes()
        names = {str(path.relative_to(source)) for path in source.rglob("*") if path.is_file()}
    else:
        names = {entry.filename.removeprefix("./") for entry in archive.check_zip(source)}
        content = archive.read_from_zip(source, "manifest.json")
    if content is None:
        raise InstallFailed(f"{source.name} holds no manifest.json, so it is no bundle.")
    return read_manifest(content, source.name), names


async def _plan(
    request: Request, bench: InstallContext, source: Path, manifest: Manifest, resolved: Resolved
) -> Plan:
    content, home = bench.place / CONTENT, Path(bench.runner.environ.get("HOME") or Path.home())
    start = _start(manifest).here()
    command, outside = await _command(bench, request, manifest, start.command, content)
    # Arguments after the first that holds an answer stand in the entry, where they go through the version
    # that is active, so that an update need not rewrite them.
    active = bench.place.parent.parent / CURRENT / CONTENT
    split = next((i for i, word in enumerate(start.args) if "${user_config." in word), len(start.args))
    own = tuple(_plain(fill_in(word, content, home)) for word in start.args[:split])
    asked = [fill_in(word, active, home) for word in start.args[split:]]
    env = {key: fill_in(value, active, home) for key, value in start.env.items()}
    digest, shown = await asyncio.to_thread(_digest, source)
    entry: dict[str, Any] = {"type": "custom", "sourcePath": str(source), "version": manifest.version}
    return Plan(
        installer="bundle",
        name=request.name,
        reference=request.reference,
        package=manifest.name,
        version=manifest.version,
        place=str(bench.place),
        fetches=tuple(f"{name}=={version}" for name, version in pinned(resolved.lock).items()),
        runtimes=resolved.runtimes,
        copies=f"{source.name} ({shown})",
        launch=Launch(command=command, args=own, cwd=str(content)),
        remarks=(*_signature(source), *outside),
        questions=questions_of(manifest, home),
        entry={**entry, "args": [*asked, *request.args], "env": {**env, **request.env}},
        lock=resolved.lock,
        source=str(source),
        digest_of_source=digest,
        details={"environment": manifest.server.type == "uv"},
        options=resolved.options,
    )


def _start(manifest: Manifest) -> Start:
    server = manifest.server
    program = f"{HERE}/{server.entry_point.removeprefix('./')}"
    if server.type == "uv":  # `uv run` would fetch at every start; the environment is made beforehand
        words = server.mcp_config.args if server.mcp_config else ()
        # `run --directory ${__dirname} server.py --flag …`: what follows the program is the server's own.
        entry = next((i for i, word in enumerate(words) if word.endswith(server.entry_point)), len(words))
        env = server.mcp_config.env if server.mcp_config else {}
        return Start(command="python", args=(program, *words[entry + 1 :]), env=env)
    if server.mcp_config is not None:
        return server.mcp_config
    if server.type == "binary":
        return Start(command=program)
    return Start(command=server.type, args=(program,))


async def _command(
    bench: InstallContext, request: Request, manifest: Manifest, command: str, content: Path
) -> tuple[str, tuple[str, ...]]:
    """The program by absolute path, and what to say of one that is not part of the bundle."""
    if command == "node":
        return (await find_node(bench)).program, ()
    if command in ("python", "python3"):
        if manifest.server.type == "uv":
            return str(bench.place / "venv" / "bin" / "python"), ()
        return (request.options.python or _own_python()), ()
    filled = _plain(fill_in(command, content, Path.home()))
    if filled.startswith(f"{content}/"):
        return filled, ()
    if not filled.startswith("/") and "/" in filled:
        return str(content / filled), ()
    return filled, (f"It starts {filled!r}, which is not part of the bundle.",)


def _own_python() -> str:
    """The interpreter behind our own environment: a bundle brings its packages with it."""
    return os.path.realpath(sys.executable)


async def _resolve(request: Request, bench: InstallContext, source: Path, manifest: Manifest) -> Resolved:
    if manifest.server.type != "uv":
        return Resolved("", request.options)
    text = await asyncio.to_thread(_read, source, "pyproject.toml")
    try:
        project = tomllib.loads((text or b"").decode())["project"]
    except (ValueError, KeyError):
        raise InstallFailed(f"{source.name} holds no pyproject.toml with its dependencies.") from None
    wanted = [str(one) for one in project.get("dependencies", ())]
    with bench.scratch() as scratch:
        requires = str(project.get("requires-python", ""))
        return await resolve(bench, scratch, "\n".join(wanted), request.options, requires)


def _read(source: Path, name: str) -> bytes | None:
    if source.is_dir():
        return (source / name).read_bytes() if (source / name).is_file() else None
    return archive.read_from_zip(source, name)


def _digest(source: Path) -> tuple[str, str]:
    if source.is_dir():
        tree = files.survey(source)
        return tree.digest, str(tree)
    return files.file_digest(source), files.size_in_words(source.stat().st_size)


def _signature(source: Path) -> tuple[str, ...]:
    if source.is_dir():
        return ()
    with source.open("rb") as file:
        file.seek(max(0, source.stat().st_size - 64 * 1024))
        signed = SIGNATURE in file.read()
    return (
        ("The bundle says that it is signed; the signature was not checked.",)
        if signed
        else ("The bundle is not signed.",)
    )


def _plain(text: str) -> str:
    """What stands in the launch note is taken as it is."""
    return text.replace("$${", "${")
