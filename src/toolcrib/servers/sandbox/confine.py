"""Turns a start command into one that runs in a sandbox.

The system's programs are readable, and so are the runtimes of languages. Everything else is hidden: the
user's home, other top-level folders, Toolcrib's own files. Added to that are the entry's folders, those that
its arguments name, and a private home.
"""

from __future__ import annotations

import json
import os
import platform
import re
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from toolcrib.errors import SpawnFailed
from toolcrib.schema.servers import SandboxPolicy
from toolcrib.serverkit.own_places import is_home, is_own_name, own_holding
from toolcrib.serverkit.sandbox.bubblewrap import find_bubblewrap, mounted, namespaces, readable
from toolcrib.serverkit.sandbox.layout import Layout, State, guard, resolved
from toolcrib.serverkit.sandbox.socket_filter import connect_filter, socket_filter

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
