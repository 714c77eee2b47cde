"""Starts a server in its sandbox, and provides its proxy and limits while it runs: folders that it sees,
limits for disk, processor and processes, and hints for what the sandbox made fail.

In the sandbox, the system's programs are readable, and so are the runtimes of languages. Everything else is
hidden: the user's home, other top-level folders, Toolcrib's own files. Added to that are the entry's folders,
those that its arguments name, and a private home.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import platform
import re
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from toolcrib.config.paths import server_folder
from toolcrib.errors import SpawnFailed
from toolcrib.schema.servers import OTHER_MACHINES, SandboxPolicy
from toolcrib.serverkit.own_places import is_home, is_own_name, own_holding
from toolcrib.serverkit.sandbox.bubblewrap import (
    find_bubblewrap,
    is_weaker_for_root,
    mounted,
    namespaces,
    readable,
)
from toolcrib.serverkit.sandbox.disk import DiskMeter
from toolcrib.serverkit.sandbox.layout import Layout, State, guard, resolved
from toolcrib.serverkit.sandbox.socket_filter import connect_filter, socket_filter
from toolcrib.servers.processes.child import StartCommand, environment_of, find_program, spawn
from toolcrib.servers.processes.orphans import descendants, signal_group, stats_of_group
from toolcrib.servers.sandbox.proxy import HostList, serve
from toolcrib.servers.transport import LinkContext
from toolcrib.tasks import in_background

_SYSTEM = frozenset(
    {"bin", "sbin", "lib", "lib32", "lib64", "libx32", "usr", "etc", "opt", "nix", "gnu", "snap", "var"}
    | {"dev", "proc", "sys"}
)
"""Top-level folders that hold the system's programs; no others are shown."""
_PRIVATE = ("/var/run", "/var/mail", "/var/spool", "/var/backups", "/var/log", "/var/cache")
_NEEDED_AT_RUN = ("/etc/resolv.conf", "/etc/localtime", "/run/current-system", "/run/booted-system")
"""Often links to places that are hidden otherwise."""
_TEMPORARY = ("/tmp", "/var/tmp")  # noqa: S108
_RUNTIMES = (
    *("~/.pyenv", "~/.nvm", "~/.volta", "~/.asdf", "~/.fnm", "~/.nodenv", "~/.rbenv", "~/.rustup", "~/.bun"),
    *("~/.deno/bin", "~/.cargo/bin", "~/.local/bin", "~/.local/share/uv/python", "~/.local/share/uv/tools"),
    *("~/.local/share/mise/installs", "~/.local/share/fnm", "~/.local/pipx", "~/.local/share/pipx"),
)
"""Programs that users install in their home."""
_PROGRAM_FOLDERS = frozenset({"bin", "sbin", "Scripts"})
_SCRIPTS = frozenset({".js", ".mjs", ".cjs", ".ts", ".mts", ".py", ".pyz", ".rb", ".sh", ".jar", ".php"})
_MANIFESTS = ("node_modules", "package.json", "pyproject.toml", "requirements.txt", "setup.py", ".venv")

NAMES_FILE = "/etc/resolv.conf"
LONGEST_NAMES_FILE = 4096
_SECCOMP = {"x86_64": 317, "aarch64": 277, "riscv64": 277}
"""The number of the call by which a program sets a filter."""
ENTRANCE = Path(__file__).with_name("entrance.py")
MEGABYTE = 1024 * 1024

_CONTROLLER = "pids"
_PREFIX = "toolcrib-"
_JOIN = 'echo $$ > "$1"; shift; exec "$@"'
"""Before the sandbox starts, so that every process of it belongs to the group."""

PERIOD = 0.5
LONGEST_PAUSE = 2.0
_TICKS = os.sysconf("SC_CLK_TCK")

MOST_HINTS = 100
LONGEST_LINE = 16 * 1024
_SIGNS = re.compile(
    rb"EACCES|EROFS|ENOENT|EPERM|ermission denied|ead-only file system|o such file|ot permitted|ot found"
    rb"|emoryError|ut of memory|annot allocate memory|bad_alloc|esource temporarily unavailable|EAGAIN"
    rb"|EFBIG|ile too large"
)
_PATH = re.compile(r"(?<![\w./~-])/(?:[^\s'\"`:;,()<>\\\[\]{}]+)")
_NO_MEMORY = re.compile(r"MemoryError|[Oo]ut of memory|annot allocate memory|bad_alloc")
_TOO_LARGE = re.compile(r"EFBIG|[Ff]ile too large")
_NO_PROCESS = re.compile(r"(fork|spawn|clone|thread)\S* .{0,80}(EAGAIN|esource temporarily unavailable)")

FOLDER = "sandboxes"
"""Beside the folder of installed servers."""
DISK_PERIOD = 0.5
CLEAN_UP_TRIES, CLEAN_UP_PAUSE = 150, 0.04


def layout_of(launch: SandboxedCommand) -> Layout:
    """The table of a server's sandbox; its own folders are created."""
    for folder in (launch.home, launch.temporary):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    home = Path.home().resolve()
    layout = Layout(home=home)
    _hide_the_rest(layout, home)
    for place in _TEMPORARY:
        layout.replace(Path(place), launch.temporary)
    for path in _programs(launch, home):
        layout.states.setdefault(path, State.READ)
    _grant(layout, launch)
    guard(layout, [path for path in layout.roots if path.is_dir()], nested=True)
    if launch.installed is not None:
        layout.states.setdefault(launch.installed.resolve(), State.READ)
    layout.states[launch.home.resolve()] = State.WRITE
    layout.pin()
    return layout


def _hide_the_rest(layout: Layout, home: Path) -> None:
    session = os.environ.get("XDG_RUNTIME_DIR")
    others = [Path(entry.path) for entry in os.scandir("/") if _is_private(entry)]
    for path in (*others, home, *map(resolved, (*_PRIVATE, *([session] if session else [])))):
        if path != Path("/") and path.is_dir() and layout.is_real(path):
            layout.states[path] = State.HIDDEN


def _is_private(entry: os.DirEntry[str]) -> bool:
    return entry.name not in _SYSTEM and entry.is_dir(follow_symlinks=False)


def _programs(launch: SandboxedCommand, home: Path) -> Iterator[Path]:
    """The program with the tree that it is installed in, our own Python, and the runtimes of the user."""
    named = Path(launch.program)
    ours = (sys.prefix, sys.base_prefix, str(Path(__file__).resolve().parents[2]))
    trees = (*map(_prefix, (named, named.resolve())), *_code(launch, home))
    for path in (*trees, *map(Path, ours), *map(resolved, _RUNTIMES)):
        found = path.resolve()
        if found.exists() and not home.is_relative_to(found):
            yield found
    for needed in map(resolved, _NEEDED_AT_RUN):
        if needed.exists():
            yield needed


def _code(launch: SandboxedCommand, home: Path) -> list[Path]:
    script = script_of(launch)
    return [] if script is None else [script, tree_of(script, home)]


def _prefix(program: Path) -> Path:
    """`/opt/node` for `/opt/node/bin/node`; the folder of a program that is not in such a tree."""
    return program.parent.parent if program.parent.name in _PROGRAM_FOLDERS else program.parent


def _grant(layout: Layout, launch: SandboxedCommand) -> None:
    policy = launch.policy
    for path in (_at(text, launch.folder) for text in policy.readable):
        if path.exists() and not _is_own(path, launch):
            layout.states[path] = State.READ
    written = [_at(text, launch.folder) for text in policy.writable]
    written += [launch.folder] if launch.cwd else []
    written += named_in_arguments(launch) if policy.arguments else []
    for path in sorted(dict.fromkeys(written), key=lambda place: len(place.parts)):
        if path.exists() and path != Path("/") and not _is_own(path, launch):
            layout.allow(path)


def _is_own(path: Path, launch: SandboxedCommand) -> bool:
    """Whether it is one of Toolcrib's own files, which no setting shows, and not made for this server."""
    place = own_holding(path, Path("/"))
    if place is None or path.is_relative_to(launch.own.resolve()) or _is_installed(path, launch):
        return False
    return path == place or not is_home(place) or is_own_name(path.relative_to(place).parts[0])


def named_in_arguments(launch: SandboxedCommand) -> list[Path]:
    """The files and folders that arguments and variables name, except for the server's own program."""
    code = script_of(launch)
    values = [text.partition("=")[2] if text.startswith("-") else text for text in launch.args]
    values += [text for text in launch.variables.values() if text.startswith(("/", "~/"))]
    found: list[Path] = []
    for path in (_at(value, launch.folder) for value in values if "/" in value and "://" not in value):
        if path != code and not _is_installed(path, launch):
            found += [path] if path.is_dir() else _with_folder(path)
    return found


def _is_installed(path: Path, launch: SandboxedCommand) -> bool:
    return launch.installed is not None and path.is_relative_to(launch.installed.resolve())


def script_of(launch: SandboxedCommand) -> Path | None:
    """The script that an interpreter runs, such as `index.js` in `node index.js`."""
    for text in launch.args:
        path = _at(text, launch.folder)
        if not text.startswith("-"):
            return path if path.is_file() and path.suffix in _SCRIPTS else None
    return None


def tree_of(script: Path, home: Path) -> Path:
    """The folder of a script with the packages that it imports."""
    outermost = [path.parent for path in script.parents if path.name == "node_modules"]
    nearest = [path for path in script.parents if any((path / name).exists() for name in _MANIFESTS)]
    found = [*outermost[-1:], *nearest[:1], script.parent]
    return next((path for path in found if not home.is_relative_to(path)), script)


def _with_folder(path: Path) -> list[Path]:
    """Databases and editors write files next to the named one; the home and what is above it stay hidden."""
    folder = path.parent
    if not folder.is_dir() or Path.home().resolve().is_relative_to(folder) or folder == Path("/"):
        return [path] if path.exists() else []
    return [folder]


def _at(text: str, folder: Path) -> Path:
    return (folder / Path(text).expanduser()).resolve()


@dataclass(frozen=True, kw_only=True)
class SandboxedCommand:
    """A command to run in a sandbox."""

    server: str
    program: str
    """Its absolute path."""
    args: tuple[str, ...]
    cwd: str | None
    environment: Mapping[str, str]
    variables: Mapping[str, str] = field(default_factory=dict)
    """Those of the entry itself."""
    policy: SandboxPolicy
    own: Path
    """The server's folder for its private home and temporary files."""
    installed: Path | None = None
    """Where the server is installed, if Toolcrib installed it."""

    @property
    def home(self) -> Path:
        return self.own / "home"

    @property
    def temporary(self) -> Path:
        return self.own / "tmp"

    @property
    def folder(self) -> Path:
        """The working folder; the private home by default."""
        return Path(self.cwd).expanduser().resolve() if self.cwd else self.home


@dataclass(frozen=True, kw_only=True)
class Confined:
    """What to start instead of the server's own command."""

    argv: list[str]
    environment: dict[str, str]
    descriptors: tuple[int, ...]
    """Inherited by the process; closed when the block is left."""
    channel: socket.socket | None
    """Receives the listening socket of the proxy, if the server has a network of its own."""


@contextmanager
def confine(launch: SandboxedCommand, layout: Layout) -> Iterator[Confined]:
    """The command and descriptors to start with; raises `SpawnFailed` if no sandbox is possible here."""
    _require()
    policy = launch.policy
    separate = policy.network and not policy.shares_network
    inherited: list[int] = []
    ours, theirs = socket.socketpair() if separate else (None, None)
    try:
        relayed = separate and policy.reaches_others and can_relay()
        words = [*namespaces(network=policy.shares_network), *mounted(layout)]
        refused = socket_filter(unix_sockets=policy.unix_sockets, network=True)
        if refused:
            inherited.append(readable(refused))
            words += ["--seccomp", str(inherited[-1])]
        if relayed and resolved(NAMES_FILE).is_file():
            inherited.append(readable(_nameserver_inside()))
            words += ["--ro-bind-data", str(inherited[-1]), str(resolved(NAMES_FILE))]
        if theirs is not None:
            inherited.append(theirs.fileno())
        words += ["--chdir", str(launch.folder), "--", sys.executable, "-I", "-S", str(ENTRANCE)]
        words += [_orders(launch, theirs), launch.program, *launch.args]
        yield Confined(
            argv=words, environment=_environment(launch), descriptors=tuple(inherited), channel=ours
        )
    finally:
        for descriptor in inherited if theirs is None else inherited[:-1]:
            os.close(descriptor)
        if theirs is not None:
            theirs.close()


def _require() -> None:
    why = find_bubblewrap()[1] if sys.platform.startswith("linux") else "it exists only on Linux"
    if why:
        raise SpawnFailed(
            f"A sandbox for servers needs bubblewrap, which does not work here: {why}.",
            hint="Install bubblewrap (on Debian: apt install bubblewrap), or set `sandbox` to false.",
        )


def _orders(launch: SandboxedCommand, channel: socket.socket | None) -> str:
    policy = launch.policy
    return json.dumps(
        {
            "channel": None if channel is None else channel.fileno(),
            "local": any(map(_is_local, policy.hosts)),
            "filter": connect_filter().hex() if policy.reaches_others and can_relay() else "",
            "seccomp": _SECCOMP.get(platform.machine(), 0),
            "data": policy.memory * MEGABYTE,
            "processes": policy.processes,
            "file": policy.disk * MEGABYTE,
        }
    )


def can_relay() -> bool:
    """Whether this is a machine that we know, with Linux 5.6; musl wants answers from port 53 itself."""
    version = tuple(int(part) for part in re.findall(r"\d+", platform.release())[:2])
    return version >= (5, 6) and platform.machine() in _SECCOMP and platform.libc_ver()[0] == "glibc"


def _nameserver_inside() -> bytes:
    """The file that names the machine's nameservers, with the one of the sandbox instead."""
    lines = resolved(NAMES_FILE).read_text("utf-8", "replace").splitlines()
    kept = [line for line in lines if line.startswith(("search", "domain", "options"))]
    return "\n".join(["nameserver 127.0.0.1", *kept, ""]).encode()[:LONGEST_NAMES_FILE]


def _is_local(host: str) -> bool:
    """Whether it is a port of this machine, which programs would otherwise not ask the proxy for."""
    name = host.rpartition(":")[0].strip("[]")
    return name in ("localhost", "::1") or name.startswith("127.")


def _environment(launch: SandboxedCommand) -> dict[str, str]:
    """The server's own, with its private home; nothing leads to the user's session."""
    kept = {name: value for name, value in launch.environment.items() if not name.startswith("XDG_")}
    return {**kept, "HOME": str(launch.home), "TMPDIR": "/tmp"}  # noqa: S108 - private in the sandbox


def needs_group() -> bool:
    """Whether the system ignores the usual limit for this user."""
    return os.getuid() == 0


def make_group(processes: int) -> Path | None:
    """A control group that allows so many processes; None if none can be made here."""
    for parent in _parents():
        _remove_abandoned(parent)
        group = parent / f"{_PREFIX}{os.getpid()}-{secrets.token_hex(8)}"
        try:
            group.mkdir()
            (group / "pids.max").write_text(str(processes))
            return group
        except OSError:
            remove_group(group)
    return None


def joining(group: Path, argv: list[str]) -> list[str]:
    """The same command, run in the group."""
    return ["/bin/sh", "-c", _JOIN, "sh", str(group / "cgroup.procs"), *argv]


def remove_group(group: Path) -> bool:
    """Remove it; false if it still has processes. A group that stays is removed by a later host."""
    with contextlib.suppress(OSError):
        group.rmdir()
    return not group.exists()


def _remove_abandoned(parent: Path) -> None:
    """Remove the groups of hosts that were killed."""
    for group in parent.glob(f"{_PREFIX}*-*"):
        if not Path("/proc", group.name.split("-")[1]).exists():
            remove_group(group)


def _parents() -> Iterator[Path]:
    """Folders in which a group with this controller may be possible, the nearest first."""
    own = _own_groups()
    for root, controllers in _hierarchies():
        if _CONTROLLER in controllers and _CONTROLLER in own:
            yield root / own[_CONTROLLER].lstrip("/")
        elif not controllers and "" in own:
            nearest = root / own[""].lstrip("/")
            yield from (path for path in (nearest, *nearest.parents) if _passes_on(path, root))


def _passes_on(group: Path, root: Path) -> bool:
    if not group.is_relative_to(root):
        return False
    try:
        return _CONTROLLER in (group / "cgroup.subtree_control").read_text().split()
    except OSError:
        return False


def _own_groups() -> dict[str, str]:
    """The group of this process for each controller; that of version 2 has no controller's name."""
    found: dict[str, str] = {}
    for line in _lines("/proc/self/cgroup"):
        _, names, path = line.split(":", 2)
        found |= dict.fromkeys(names.split(","), path)
    return found


def _hierarchies() -> Iterator[tuple[Path, frozenset[str]]]:
    """Where groups are mounted, each with its controllers; none are named for version 2."""
    for line in _lines("/proc/self/mounts"):
        _, place, kind, options, *_ = line.split()
        if kind in ("cgroup", "cgroup2"):
            yield Path(place), frozenset(options.split(",") if kind == "cgroup" else ())


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []


@asynccontextmanager
async def throttled(group: int, percent: int, report: Callable[[str], None]) -> AsyncIterator[None]:
    """Hold a process group to this share while the block runs; 0 for no limit."""
    if not percent:
        yield
        return
    try:
        async with in_background(_hold(group, percent / 100, report), f"limit of processor use {group}"):
            yield
    finally:
        signal_group(group, signal.SIGCONT)


async def _hold(group: int, share: float, report: Callable[[str], None]) -> None:
    loop = asyncio.get_running_loop()
    before, since = await asyncio.to_thread(cpu_seconds, group), loop.time()
    reported = False
    while True:
        await asyncio.sleep(PERIOD)
        used, now = await asyncio.to_thread(cpu_seconds, group), loop.time()
        excess = (used - before) / share - (now - since)
        before, since = used, now
        if excess <= 0:
            continue
        if not reported:
            report(
                f"[sandbox] It uses more than {share:.0%} of a processor and is slowed down. "
                "To allow more, raise sandbox.cpu of the server's entry."
            )
            reported = True
        signal_group(group, signal.SIGSTOP)
        await asyncio.sleep(min(excess, LONGEST_PAUSE))
        signal_group(group, signal.SIGCONT)
        since = loop.time()


def cpu_seconds(group: int) -> float:
    """The processor time that the living processes of a group have used."""
    return sum(int(fields[11]) + int(fields[12]) for fields in stats_of_group(group)) / _TICKS


class SandboxHints:
    """Finds each cause once."""

    def __init__(self, layout: Layout, *, memory: int, processes: int, disk: int = 0) -> None:
        self._layout = layout
        self._memory = memory
        self._processes = processes
        self._disk = disk
        self._given: set[str] = set()

    def of(self, output: bytes) -> list[str]:
        """What to write to the log after this output."""
        if len(self._given) >= MOST_HINTS or not _SIGNS.search(output):
            return []
        text = output[:LONGEST_LINE].decode("utf-8", "replace")
        found = [hint for hint in self._causes(text) if hint not in self._given]
        self._given.update(found)
        return found

    def _causes(self, text: str) -> Iterator[str]:
        for path in dict.fromkeys(_PATH.findall(text)):
            if hint := self._about(Path(path.rstrip("."))):
                yield hint
        if self._memory and _NO_MEMORY.search(text):
            yield _hint(f"A process may use {self._memory} MB", "To allow more, raise sandbox.memory")
        if self._disk and _TOO_LARGE.search(text):
            yield _hint(f"A file may have {self._disk} MB", "To allow more, raise sandbox.disk")
        if _NO_PROCESS.search(text):
            limit = f"It may have {self._processes} processes"
            yield _hint(limit, "To allow more, raise sandbox.processes")

    def _about(self, path: Path) -> str:
        if not os.path.lexists(path) or self._is_replaced(path):
            return ""
        if not self._layout.is_real(path):
            return _hint(f"{path} is hidden", "To allow it, add it to sandbox.readable or sandbox.writable")
        if self._layout.state(path) == State.READ and os.access(path, os.W_OK):
            return _hint(f"{path} is read-only", "To allow changes, add it to sandbox.writable")
        return ""

    def _is_replaced(self, path: Path) -> bool:
        """Whether it is a temporary file of the sandbox, with the same name as one outside."""
        return any(
            path.is_relative_to(folder) and os.path.lexists(outside / path.relative_to(folder))
            for folder, outside in self._layout.private.items()
        )


def _hint(what: str, how: str) -> str:
    return f"[sandbox] {what}. {how} of the server's entry."


@dataclass(frozen=True, kw_only=True)
class Started:
    process: subprocess.Popen[bytes]
    policy: SandboxPolicy
    hints: SandboxHints
    channel: socket.socket | None
    group: Path | None
    """The control group of its processes, if it needs one."""
    own: Path
    """Holds its private home and temporary files."""

    async def clean_up(self) -> None:
        """Remove its control group; the last processes may take a moment to end."""
        for _ in range(CLEAN_UP_TRIES):
            if self.group is None or remove_group(self.group):
                return
            await asyncio.sleep(CLEAN_UP_PAUSE)


def start_sandboxed(spec: StartCommand, context: LinkContext) -> Started:
    """Start a server in its sandbox; raises `SpawnFailed`."""
    launch = _launch(spec, context)
    layout = layout_of(launch)
    policy = launch.policy
    group = make_group(policy.processes) if policy.processes and needs_group() else None
    try:
        with confine(launch, layout) as confined:
            argv = confined.argv if group is None else joining(group, confined.argv)
            process = spawn(spec, argv, confined.environment, cwd="/", descriptors=confined.descriptors)
    except BaseException:
        if group is not None:
            remove_group(group)
        raise
    hints = SandboxHints(layout, memory=policy.memory, processes=policy.processes, disk=policy.disk)
    return Started(
        process=process, policy=policy, hints=hints, channel=confined.channel, group=group, own=launch.own
    )


@asynccontextmanager
async def watch(started: Started, report: Callable[[str], None]) -> AsyncIterator[None]:
    """Provide the proxy and the limits of processor use and disk space while the block runs."""
    if started.policy.processes and needs_group() and started.group is None:
        report("[sandbox] sandbox.processes has no effect: root needs a control group, which cannot be made.")
    if is_weaker_for_root():
        report("[sandbox] Toolcrib runs as root here, and the server could change the modes of devices.")
    async with AsyncExitStack() as stack:
        if started.channel is not None:
            hosts = HostList(started.policy.hosts or (OTHER_MACHINES,))
            await stack.enter_async_context(
                serve(started.channel, hosts, lambda line: report(f"[sandbox] {line}"))
            )
        if started.policy.disk:
            limit = _limit_disk(started, report)
            await stack.enter_async_context(
                in_background(limit, f"limit of disk space {started.process.pid}")
            )
        await stack.enter_async_context(throttled(started.process.pid, started.policy.cpu, report))
        yield


async def _limit_disk(started: Started, report: Callable[[str], None]) -> None:
    """Stop the server if its own files take too much space."""
    most = started.policy.disk
    meter = DiskMeter([str(started.own)], most * MEGABYTE, lambda: descendants(started.process.pid))
    while not await asyncio.to_thread(meter.exceeded):  # noqa: ASYNC110 - a file system says nothing by itself
        await asyncio.sleep(DISK_PERIOD)
    report(
        f"[sandbox] It was stopped: its private home and /tmp take more than {most} MB. Remove files in "
        f"{started.own}, or raise sandbox.disk of the server's entry."
    )
    started.process.kill()


def _launch(spec: StartCommand, context: LinkContext) -> SandboxedCommand:
    if context.sandbox is None or context.installs is None:
        raise SpawnFailed(f"{context.server} has no folder for a sandbox.")
    environment = environment_of(spec, context)
    installed = server_folder(context.installs, context.server)
    return SandboxedCommand(
        server=context.server,
        program=str(Path(find_program(spec.command, environment, spec.cwd)).absolute()),
        args=spec.args,
        cwd=spec.cwd,
        environment=environment,
        variables=spec.env,
        policy=context.sandbox,
        own=server_folder(context.installs.parent / FOLDER, context.server),
        installed=installed if installed.is_dir() else None,
    )
