"""The contract of an installer module, and what it works with: progress, and running npm and uv (output kept,
environment variables passed on).

An installer may be cancelled at any moment: the folder of the unfinished version is then removed.

Runs npm, uv and similar programs with bounded output, in a process group that ends with the caller. They get
the user's package index settings and little else of the environment.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import signal
import tempfile
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from toolcrib.config.environment import child_environment
from toolcrib.config.paths import make_private
from toolcrib.errors import InstallFailed
from toolcrib.servers.installers.engine.plan import InstallRequest, LaunchCommand, Plan, Record
from toolcrib.servers.processes.orphans import MARKER, signal_group
from toolcrib.servers.processes.termination import end_group

LONGEST_LINE = 64 * 1024
KEPT_LINES = 200
MOST_OUTPUT = 64 * 1024 * 1024
_SETTINGS = ("NPM_CONFIG_", "PIP_", "UV_")
_TOKENS = frozenset({"GIT_SSL_CAINFO", "NETRC", "NODE_AUTH_TOKEN", "NPM_TOKEN"})
_NOT_OURS = re.compile(
    r"npm_config_(prefix|global|script_shell|user_agent|local_prefix|ignore_scripts|node_options|bin_links)"
    r"|uv_compile_bytecode",
    re.IGNORECASE,
)
"""Set by npm in its own shells, and would redirect our npm; or would run code of packages."""

INSTALLERS = "toolcrib.servers.installers"

Stage = Literal["runtime", "ask", "resolve", "fetch", "copy", "scripts", "build", "activate"]


@dataclass(frozen=True)
class ProgramResult:
    code: int
    out: str
    errors: tuple[str, ...]
    """The last lines of stderr."""


@dataclass(frozen=True, kw_only=True)
class CommandRunner:
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    marker: Callable[[], str] = lambda: ""
    spawned: Callable[[int], None] = lambda group: None
    exited: Callable[[int], None] = lambda group: None

    async def run(
        self,
        command: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        private: bool = False,
        on_line: Callable[[str], None] = lambda line: None,
    ) -> ProgramResult:
        """Run to the end; `on_line` gets stderr. `private` hides package index settings."""
        async with self._process(command, cwd, self._environment(env or {}, private)) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            out, errors = await asyncio.gather(_all(process.stdout), _lines(process.stderr, on_line))
            return ProgramResult(await process.wait(), out, errors)

    def _environment(self, env: Mapping[str, str], private: bool) -> dict[str, str]:
        names = [name for name in self.environ if not private and _is_setting(name)]
        return child_environment(self.environ, allow=names, own={**env, MARKER: self.marker()})

    @asynccontextmanager
    async def _process(
        self, command: Sequence[str], cwd: Path, environment: Mapping[str, str]
    ) -> AsyncIterator[asyncio.subprocess.Process]:
        pipe = asyncio.subprocess.PIPE
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                cwd=cwd,
                env=environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=pipe,
                stderr=pipe,
                limit=LONGEST_LINE,
                start_new_session=True,
            )
        except OSError as error:
            raise InstallFailed(f"{command[0]} cannot be run: {error.strerror}.") from None
        self.spawned(process.pid)
        try:
            yield process
        finally:
            await asyncio.shield(_end(process, environment[MARKER]))
            self.exited(process.pid)


def _is_setting(name: str) -> bool:
    upper = name.upper()
    return (upper.startswith(_SETTINGS) or upper in _TOKENS) and not _NOT_OURS.fullmatch(name)


async def _end(process: asyncio.subprocess.Process, marker: str) -> None:
    """End the process group, and processes that left it."""
    gone = asyncio.Event()
    if process.returncode is None:
        signal_group(process.pid, signal.SIGKILL)
        await process.wait()
    gone.set()
    if marker:
        await end_group(process.pid, marker, gone)


async def _all(stream: asyncio.StreamReader) -> str:
    parts: list[bytes] = []
    size = 0
    while chunk := await stream.read(LONGEST_LINE):
        size += len(chunk)
        if size <= MOST_OUTPUT:
            parts.append(chunk)
    return b"".join(parts).decode("utf-8", "replace")


async def _lines(stream: asyncio.StreamReader, on_line: Callable[[str], None]) -> tuple[str, ...]:
    last: deque[str] = deque(maxlen=KEPT_LINES)
    while True:
        with contextlib.suppress(ValueError):  # skip an overlong line
            line = await stream.readline()
            if not line:
                return tuple(last)
            text = line.decode("utf-8", "replace").rstrip()
            last.append(text)
            on_line(text)


@dataclass(frozen=True)
class InstallProgress:
    """Progress of an installation; `total` is 0 if unknown. Stage and detail make a sentence."""

    stage: Stage
    detail: str
    done: int = 0
    total: int = 0


Progress = Callable[[InstallProgress], None]
"""Must not block."""


def no_progress(step: InstallProgress) -> None:
    """Ignores the report."""


BROKEN = "Only its author can repair this; an earlier version may work: NAME@VERSION or NAME==VERSION."
"""The hint for a package whose own dependencies cannot be had."""


@dataclass(frozen=True, kw_only=True)
class InstallContext:
    """Settings and services for one installation."""

    runtimes: Path
    """The folder of downloaded Node versions."""
    cache: Path
    place: Path
    """The folder of the version being planned or installed."""
    runner: CommandRunner = field(default_factory=CommandRunner)
    progress: Progress = no_progress
    offline: bool = False
    fetch_runtimes: bool = True
    """Whether a missing Node may be downloaded now; a plan that is only shown must not download it."""
    remarks: list[str] = field(default_factory=list)
    """Warnings about the installed files, which the plan could not know."""

    def new_plan(self, request: InstallRequest, *, entry: dict[str, Any], **fields: Any) -> Plan:
        """A plan for the request; its arguments and variables are added to those of the entry."""
        args = [*entry.get("args", ()), *request.args]
        fields.setdefault("options", request.options)
        return Plan(
            name=request.name,
            reference=request.reference,
            place=str(self.place),
            entry={**entry, "args": args, "env": {**entry.get("env", {}), **request.env}},
            **fields,
        )

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """A temporary folder, removed on exit."""
        make_private(self.cache)
        folder = Path(tempfile.mkdtemp(prefix="plan-", dir=self.cache))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


class Installer(Protocol):
    """A module of `servers/installers`."""

    def recognises(self, reference: str) -> bool:
        """Whether this installer handles the reference; uses no network."""

    async def plan(self, request: InstallRequest, context: InstallContext) -> Plan:
        """What would be installed. May query the package index; runs no code of the package."""

    async def apply(self, plan: Plan, folder: Path, context: InstallContext) -> LaunchCommand:
        """Install into `folder` and nowhere else; returns how to start the server."""

    async def newest(self, record: Record, context: InstallContext) -> str | None:
        """The newest available version; None if unknown (a file or folder)."""
