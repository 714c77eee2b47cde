"""`.mcpb` and `.dxt` bundles, packed or unpacked; their user settings become questions and secrets. Reads the
manifest, with errors for the platform, the signature and files outside the bundle.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from toolcrib.errors import InstallFailed
from toolcrib.serverkit.bounded_read import read_bounded
from toolcrib.servers.installed import CURRENT
from toolcrib.servers.installers.engine import archives, files
from toolcrib.servers.installers.engine.contract import InstallContext, InstallProgress
from toolcrib.servers.installers.engine.environments import (
    Resolved,
    declared,
    make_environment,
    pinned,
    plain_python,
    resolve,
)
from toolcrib.servers.installers.engine.node import find_node
from toolcrib.servers.installers.engine.plan import (
    InstallQuestion,
    InstallRequest,
    LaunchCommand,
    Plan,
    Record,
    literal,
    slot,
)

HERE = "${__dirname}"
_USER = re.compile(r"\$\{user_config\.([^}]+)\}")
_PLATFORMS = {"linux": "linux", "darwin": "darwin", "win32": "win32"}

CONTENT = "content"
SIGNATURE = b"MCPB_SIG_V1"
SUFFIXES = (".mcpb", ".dxt")
LARGEST_FILE = 16_000_000
"""Bytes of a manifest or another file that is read before the installation."""


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class BundleCommand(_Model):
    command: str = Field(min_length=1)
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    platform_overrides: dict[str, dict[str, Any]] = {}

    def here(self) -> BundleCommand:
        """The command for this platform; an override replaces values, it is not merged."""
        override = self.platform_overrides.get(_PLATFORMS.get(sys.platform, sys.platform))
        return self.model_validate({**self.model_dump(), **override}) if override else self


class BundleServer(_Model):
    type: Literal["node", "python", "binary", "uv"]
    entry_point: str = ""
    mcp_config: BundleCommand | None = None


class BundleInput(_Model):
    """A user setting."""

    type: Literal["string", "number", "boolean", "directory", "file"] = "string"
    title: str = ""
    description: str = ""
    required: bool = False
    default: Any = None
    multiple: bool = False
    sensitive: bool = False
    min: float | None = None
    max: float | None = None


class BundleCompatibility(_Model):
    platforms: tuple[str, ...] = ()


class BundleManifest(_Model):
    name: str = Field(min_length=1)
    version: str = Field(min_length=1)
    description: str = ""
    server: BundleServer
    user_config: dict[str, BundleInput] = {}
    compatibility: BundleCompatibility = BundleCompatibility()


def read_manifest(content: bytes, source: str) -> BundleManifest:
    """Raises `InstallFailed` if invalid."""
    try:
        manifest = BundleManifest.model_validate(json.loads(content.decode("utf-8-sig")))
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InstallFailed(f"The manifest of {source} is invalid: {where}: {first['msg']}.") from None
    except (ValueError, RecursionError) as error:
        raise InstallFailed(f"The manifest of {source} is not valid JSON: {error}") from None
    platforms = manifest.compatibility.platforms
    if platforms and sys.platform not in platforms:
        raise InstallFailed(
            f"{manifest.name} does not run on {sys.platform}, only on {', '.join(platforms)}."
        )
    check_inside(manifest.server.entry_point, source)
    return manifest


def questions_of(manifest: BundleManifest, home: Path) -> tuple[InstallQuestion, ...]:
    return tuple(
        InstallQuestion(
            key=key,
            title=asked.title or key,
            description=asked.description,
            kind=asked.type,
            required=asked.required,
            default=_default(asked.default, home),
            multiple=asked.multiple,
            secret=asked.sensitive,
            minimum=asked.min,
            maximum=asked.max,
        )
        for key, asked in manifest.user_config.items()
    )


def check_inside(path: str, source: str) -> None:
    """Refuse a path outside the bundle."""
    if path.startswith(("/", "\\")) or ".." in re.split(r"[/\\]", path):
        raise InstallFailed(
            f"{source} refers to a file outside itself: {path[:200]!r}.", hint="Do not use it."
        )


def fill_in(text: str, folder: Path, home: Path) -> str:
    """An argument with folders filled in and settings as slots; the rest is unchanged."""
    if HERE in text:
        check_inside(text.partition(HERE)[2].lstrip("/"), "The bundle")
    return _replace(text, {**_folders(home), "__dirname": str(folder)})


def _folders(home: Path) -> dict[str, str]:
    named = {name.upper(): str(home / name) for name in ("Desktop", "Documents", "Downloads")}
    return {**named, "HOME": str(home), "/": "/", "pathSeparator": "/"}


def _replace(text: str, values: Mapping[str, str]) -> str:
    parts = re.split(r"(\$\{[^}]*\})", text)
    return "".join(_part(part, values) for part in parts)


def _part(part: str, values: Mapping[str, str]) -> str:
    if user := _USER.fullmatch(part):
        return slot(user[1])
    if part.startswith("${") and part[2:-1] in values:
        return values[part[2:-1]]
    # The user's variables and secrets are never filled into a bundle's text.
    return literal(part)


def _default(value: Any, home: Path) -> Any:
    if isinstance(value, str):
        return _replace(value, _folders(home)).replace("$${", "${")
    if isinstance(value, list):
        return [_default(item, home) for item in value]
    return value


def recognises(reference: str) -> bool:
    return reference.endswith(SUFFIXES) and not reference.startswith(("http://", "https://"))


async def plan(request: InstallRequest, context: InstallContext) -> Plan:
    """Check the whole archive without unpacking it."""
    source = Path(request.reference)
    files.check_present(source)
    context.progress(InstallProgress("resolve", source.name))
    manifest, names = await asyncio.to_thread(_look_into, source)
    if manifest.server.entry_point and manifest.server.entry_point.removeprefix("./") not in names:
        raise InstallFailed(f"{source.name} does not contain its entry point {manifest.server.entry_point}.")
    resolved = await _resolve(request, context, source, manifest)
    return await _plan(request, context, source, manifest, resolved)


async def apply(plan: Plan, folder: Path, context: InstallContext) -> LaunchCommand:
    """Unpack within limits, and create the environment if needed."""
    source, content = Path(plan.source), folder / CONTENT
    context.progress(InstallProgress("copy", plan.copies))
    plan.check_source(await asyncio.to_thread(_take, source, content, Path(plan.launch.command)))
    if plan.details["environment"]:
        await make_environment(context, folder, plan.lock, plan.options)
    return plan.launch


async def newest(record: Record, context: InstallContext) -> str | None:
    """Unknown; `toolcrib update NAME FILE` installs another file."""
    return None


def _take(source: Path, content: Path, program: Path) -> str:
    """Copy or unpack; returns the source's digest."""
    if source.is_dir():
        files.copy(source, content)
        digest = files.survey(content).digest
    else:
        digest = files.file_digest(source)
        archives.unpack_zip(source, content)
    if program.is_relative_to(content) and program.is_file():
        program.chmod(0o755)
    return digest


def _look_into(source: Path) -> tuple[BundleManifest, set[str]]:
    if source.is_dir():
        content: bytes | None = _read(source, "manifest.json")
        names = {str(path.relative_to(source)) for path in source.rglob("*") if path.is_file()}
    else:
        names = {entry.filename.removeprefix("./") for entry in archives.check_zip(source)}
        content = archives.read_from_zip(source, "manifest.json")
    if content is None:
        raise InstallFailed(f"{source.name} is not a bundle: it has no manifest.json.")
    return read_manifest(content, source.name), names


async def _plan(
    request: InstallRequest,
    context: InstallContext,
    source: Path,
    manifest: BundleManifest,
    resolved: Resolved,
) -> Plan:
    content, home = context.place / CONTENT, Path(context.runner.environ.get("HOME") or Path.home())
    start = _start(manifest).here()
    command, outside = await _command(context, request, manifest, start.command, content)
    # Arguments from the first with an answer on are in the entry, with paths through the active version, so
    # that an update does not have to change them.
    active = context.place.parent.parent / CURRENT / CONTENT
    split = next((i for i, word in enumerate(start.args) if "${user_config." in word), len(start.args))
    own = tuple(_plain(fill_in(word, content, home)) for word in start.args[:split])
    asked = [fill_in(word, active, home) for word in start.args[split:]]
    env = {key: fill_in(value, active, home) for key, value in start.env.items()}
    digest, shown = await asyncio.to_thread(_digest, source)
    entry: dict[str, Any] = {"type": "custom", "sourcePath": str(source), "version": manifest.version}
    return context.new_plan(
        request,
        installer="bundle",
        package=manifest.name,
        version=manifest.version,
        fetches=tuple(f"{name}=={version}" for name, version in pinned(resolved.lock).items()),
        runtimes=resolved.runtimes,
        copies=f"{source.name} ({shown})",
        launch=LaunchCommand(command=command, args=own, cwd=str(content)),
        remarks=(*_signature(source), *outside),
        questions=questions_of(manifest, home),
        entry={**entry, "args": asked, "env": env},
        lock=resolved.lock,
        source=str(source),
        digest_of_source=digest,
        details={"environment": manifest.server.type == "uv"},
        options=resolved.options,
    )


def _start(manifest: BundleManifest) -> BundleCommand:
    server = manifest.server
    program = f"{HERE}/{server.entry_point.removeprefix('./')}"
    if server.type == "uv":  # `uv run` would download at every start
        words = server.mcp_config.args if server.mcp_config else ()
        # `run --directory ${__dirname} server.py --flag …`: arguments after the program are the server's.
        entry = next((i for i, word in enumerate(words) if word.endswith(server.entry_point)), len(words))
        env = server.mcp_config.env if server.mcp_config else {}
        return BundleCommand(command="python", args=(program, *words[entry + 1 :]), env=env)
    if server.mcp_config is not None:
        return server.mcp_config
    if server.type == "binary":
        return BundleCommand(command=program)
    return BundleCommand(command=server.type, args=(program,))


async def _command(
    context: InstallContext, request: InstallRequest, manifest: BundleManifest, command: str, content: Path
) -> tuple[str, tuple[str, ...]]:
    """The absolute path of the program, and a remark if it is not part of the bundle."""
    if command == "node":
        return (await find_node(context)).program, ()
    if command in ("python", "python3"):
        if manifest.server.type == "uv":
            return str(context.place / "venv" / "bin" / "python"), ()
        return (request.options.python or plain_python()), ()
    filled = _plain(fill_in(command, content, Path.home()))
    if filled.startswith(f"{content}/"):
        return filled, ()
    if not filled.startswith("/") and "/" in filled:
        return str(content / filled), ()
    return filled, (f"Starts {filled!r}, which is not part of the bundle.",)


async def _resolve(
    request: InstallRequest, context: InstallContext, source: Path, manifest: BundleManifest
) -> Resolved:
    if manifest.server.type != "uv":
        return Resolved("", request.options)
    text = await asyncio.to_thread(_read, source, "pyproject.toml")
    try:
        project = tomllib.loads((text or b"").decode())["project"]
    except (ValueError, KeyError):
        raise InstallFailed(f"{source.name} has no pyproject.toml with its dependencies.") from None
    wanted = declared(project, f"The pyproject.toml of {source.name}")
    with context.scratch() as scratch:
        requires = str(project.get("requires-python", ""))
        return await resolve(context, scratch, wanted, request.options, requires)


def _read(source: Path, name: str) -> bytes | None:
    if source.is_dir():
        return read_bounded(source / name, LARGEST_FILE) if (source / name).is_file() else None
    return archives.read_from_zip(source, name)


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
        ("The bundle has a signature, which was not checked.",) if signed else ("The bundle is not signed.",)
    )


def _plain(text: str) -> str:
    """`launch.json` is not expanded."""
    return text.replace("$${", "${")
