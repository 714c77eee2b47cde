"""What a sandboxed command finds at each path: hidden places (keys, browser profiles, histories), read-only
ones (autostart, git hooks) and writable folders. A table that bubblewrap mounts and Landlock grants.

A path has the state of its nearest entry in the table. Nothing that is read-only or hidden can be moved away
by renaming a folder above it: those folders are entries of their own, which bubblewrap makes mount points
and Landlock does not grant.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path

from toolcrib.serverkit.confined.protected import AGENT_CONFIG
from toolcrib.serverkit.own_places import DATABASE, LENT, is_home, is_own_name, is_store, own_places

HIDDEN = (
    *("~/.ssh", "~/.gnupg", "~/.aws", "~/.azure", "~/.kube", "~/.netrc", "~/.git-credentials", "~/.pypirc"),
    *("~/.config/gcloud", "~/.config/gh", "~/.docker", "~/.local/share/keyrings", "~/.mozilla"),
    *("~/.config/google-chrome", "~/.config/chromium", "~/.password-store", "~/.vault-token"),
    *("~/.claude/.credentials.json", "~/.codex/auth.json", "~/.gemini/oauth_creds.json", "~/.oci", "~/.boto"),
    *("~/.config/op", "~/.config/rclone", "~/.config/doctl", "~/.config/heroku", "~/.config/stripe"),
    *("~/.config/hub", "~/.config/glab-cli", "~/.config/github-copilot", "~/.config/sops", "~/.config/age"),
    *("~/.config/BraveSoftware", "~/.config/microsoft-edge", "~/.config/vivaldi", "~/.config/opera"),
    *("~/.local/share/kwalletd", "~/.thunderbird", "~/.pgpass", "~/.my.cnf", "~/.mylogin.cnf", "~/.s3cfg"),
    *("~/.cargo/credentials", "~/.cargo/credentials.toml", "~/.gem/credentials", "~/.kaggle", "~/.snowflake"),
    *("~/.databrickscfg", "~/.terraform.d/credentials.tfrc.json", "~/.cache/huggingface/token"),
    *("~/.bash_history", "~/.zsh_history", "~/.python_history", "~/.psql_history", "~/.mysql_history"),
    *("/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/sudoers.d", "/etc/ssl/private"),
)
"""Keys, passwords and signed-in sessions."""
STARTED = (
    *("~/.config/autostart", "~/.config/systemd", "~/.config/environment.d", "~/.config/fish"),
    *("~/.config/git", "~/.config/plasma-workspace", "~/.local/bin", "~/.local/share/applications"),
    *("~/.local/share/systemd", "~/.local/share/dbus-1", "~/.config/mcp", "~/.config/Code/User"),
)
"""Run or read by other programs by themselves, where a folder of the home folder is writable.

In the home folder itself no hidden entry is writable, and none can be created.
"""
IN_REPOSITORY = ("hooks", "config", "config.worktree")
"""Make git run programs."""
IN_PROJECT = frozenset({*AGENT_CONFIG, ".envrc", ".idea"})
"""Make editors, agents and shells run programs when the project is opened."""
MOST_FOLDERS = 400
DEEPEST = 3
_SKIPPED = frozenset({"node_modules", "__pycache__", ".venv", "venv", ".tox", "target", "dist", "build"})

CACHES = "~/.cache/"
"""Commands may write to it, so what is missing there can be made; what exists is hidden all the same."""


def is_guarded(names: Sequence[str]) -> bool:
    """Whether a path below a writable folder is unchangeable; not if `.git` itself was named as writable."""
    return any(name.casefold() == ".git" or name.casefold() in IN_PROJECT for name in names)


@dataclass
class FolderScan:
    """What a look into a writable folder found."""

    unchangeable: list[Path] = field(default_factory=list)
    homes: list[Path] = field(default_factory=list)
    """Of Toolcrib, whether or not of the host that looks."""


def look_into(folder: Path) -> FolderScan:
    """Find such places in the first few levels of a folder; bounded, because it is done for each command."""
    found = FolderScan()
    left = [(os.fspath(folder), 0)]
    looked_at = 0
    while left and looked_at < MOST_FOLDERS:
        place, depth = left.pop(0)
        looked_at += 1
        entries = _scan(place)
        if _may_be_own(entries) and (is_home(Path(place)) or is_store(Path(place))):
            found.homes.append(Path(place))
            continue
        for entry in entries:
            name = entry.name.casefold()
            if name == ".git":
                found.unchangeable += _of_repository(Path(entry.path))
            elif name in IN_PROJECT:
                found.unchangeable.append(Path(entry.path))
            elif depth < DEEPEST and name not in _SKIPPED and entry.is_dir(follow_symlinks=False):
                left.append((entry.path, depth + 1))
    return found


def _may_be_own(entries: Sequence[os.DirEntry[str]]) -> bool:
    """Most folders are none of ours, and need no further look."""
    return any(entry.name in ("mcp.json", DATABASE, "run") for entry in entries)


def _of_repository(git: Path) -> Iterator[Path]:
    if not git.is_dir():
        yield git  # it names the folder of the repository
        return
    for folder in (git, *git.glob("modules/*"), *git.glob("modules/*/modules/*")):
        with contextlib.suppress(OSError):
            (folder / "hooks").mkdir(exist_ok=True)  # so that a command cannot make it
        yield from (path for name in IN_REPOSITORY if (path := folder / name).exists())


def _scan(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return [entry for entry in entries if not entry.is_symlink()]
    except OSError:
        return []


class State(IntEnum):
    """What may be done at a path; more is larger."""

    HIDDEN = 0
    """An empty folder or file stands in its place."""
    READ = 1
    WRITE = 2


@dataclass
class Layout:
    """The table; `home` is the user's home folder."""

    home: Path
    states: dict[Path, State] = field(default_factory=lambda: {Path("/"): State.READ})
    private: dict[Path, Path] = field(default_factory=dict)
    """Folders that are another folder inside the sandbox: the temporary ones."""
    roots: list[Path] = field(default_factory=list)
    """The folders that were named as writable."""

    def state(self, path: Path) -> State:
        """What may be done there."""
        return next(self.states[place] for place in (path, *path.parents) if place in self.states)

    def below_root(self, path: Path) -> Sequence[str]:
        """The names that lead to a path from the nearest folder that was named as writable."""
        return min(
            (path.relative_to(root).parts for root in self.roots if path.is_relative_to(root)), key=len
        )

    def is_real(self, path: Path) -> bool:
        """Whether the sandbox shows what the path really holds, and nothing instead."""
        for place in (path, *path.parents):
            if place in self.private:
                return False
            if place in self.states:
                return self.states[place] != State.HIDDEN
        return True

    def replace(self, folder: Path, source: Path) -> None:
        """Show another folder, writable, in the place of this one."""
        self.private[folder] = source

    def allow(self, folder: Path) -> None:
        """Make a folder writable; in a home folder, only what no program runs or reads by itself."""
        self.roots.append(folder)
        self.private.pop(folder, None)
        self.states[folder] = State.WRITE
        if not self.home.is_relative_to(folder):
            return
        self._freeze(self.home)
        for child in _children(self.home):
            if child.name.startswith(".") or child.name == "bin":
                self.states[child] = State.READ

    def show(self, path: Path) -> None:
        """Have a path readable that would otherwise be replaced."""
        if path.exists() and not self.is_real(path):
            self.states[path] = State.READ

    def hide(self, path: Path) -> None:
        """Let nothing be read or written there; a folder above it that was named as writable stays so."""
        if path.exists() and self.is_real(path):
            self.states[path] = State.HIDDEN

    def hide_own(self, place: Path) -> None:
        """Hide a home folder of Toolcrib: what it lends and what users keep there stays as it was."""
        if not place.is_dir() or not self.is_real(place):
            return
        before = self.state(place)
        self.states[place] = State.HIDDEN
        for child in _children(place):
            if child.name == LENT or not is_own_name(child.name):
                self.states.setdefault(child, before)

    def protect(self, path: Path) -> None:
        """Let nothing be changed there, except in a folder inside that was itself named as writable."""
        if any(root.is_relative_to(path) for root in self.roots) or not self.is_real(path):
            return
        if path.exists() and self.state(path) == State.WRITE:
            self.states[path] = State.READ

    def keep_missing(self, path: Path) -> None:
        """Let nothing be created at a path that does not exist: the folder above it gets no new entries."""
        if path.exists() or any(root.is_relative_to(path) for root in self.roots):
            return
        holder = next(folder for folder in path.parents if folder.is_dir())
        if self.is_real(holder) and self.state(holder) == State.WRITE:
            self._freeze(holder)

    def pin(self) -> None:
        """Name every folder between a writable one and an entry inside it, so that none can be moved."""
        for path in list(self.states):
            for root in self.roots:
                if path != root and path.is_relative_to(root):
                    self._pin(path, root)

    def _pin(self, path: Path, root: Path) -> None:
        for folder in path.parents:
            if folder == root:
                return
            self.states.setdefault(folder, self.state(folder))

    def _freeze(self, folder: Path) -> None:
        """Make a writable folder read-only and what it holds writable: it gets no new entries."""
        for child in _children(folder):
            self.states.setdefault(child, State.WRITE)
        self.states[folder] = State.READ


def mounts(layout: Layout) -> Iterator[tuple[str, Path, Path]]:
    """The table as bubblewrap takes it: how, from where, to where; folders before what is in them."""
    entries = [*layout.private, *layout.states]
    for path in sorted(dict.fromkeys(entries), key=lambda entry: len(entry.parts)):
        if path in layout.private:
            yield "--bind", layout.private[path], path
        elif layout.states[path] != State.HIDDEN:
            if path.is_dir() or path.is_file():  # nothing else can be bound, and a socket should not be
                yield _WAYS[layout.states[path]], path, path
        elif path.is_dir():
            yield "--tmpfs", path, path
        else:
            yield "--ro-bind", Path(os.devnull), path


_WAYS = {State.READ: "--ro-bind-try", State.WRITE: "--bind-try"}
"""What was removed since is left out."""


def grants(layout: Layout) -> tuple[list[str], list[str]]:
    """The table as Landlock takes it: what to read and what to write, each with all that is below.

    Rules only add: a folder that holds an entry with fewer rights is not granted, but everything else in it.
    """
    table = {os.fspath(path): state for path, state in layout.states.items()}
    granted: dict[State, list[str]] = {state: [] for state in State}
    left = [("/", layout.states[Path("/")])]
    while left:
        path, state = left.pop()
        below = _below(path, table)
        if all(table[place] >= state for place in below):
            granted[state].append(path)
            left += [(place, table[place]) for place in below if table[place] > state]
            continue
        if all(table[place] >= State.READ for place in below):
            granted[State.READ].append(path)  # it can be read as a whole, itself too
        left += [(child, table.get(child, state)) for child in map(os.fspath, _children(Path(path)))]
    return granted[State.READ], granted[State.WRITE]


def _below(path: str, table: Mapping[str, State]) -> list[str]:
    prefix = path.rstrip("/") + "/"
    return [place for place in table if place.startswith(prefix) and place != path]


def _children(folder: Path) -> Sequence[Path]:
    """What lies in a folder, without links: they would open the places that they lead to."""
    try:
        with os.scandir(folder) as entries:
            return [Path(entry.path) for entry in entries if not entry.is_symlink()]
    except OSError:
        return []


def guard(layout: Layout, folders: Iterable[Path], *, hidden: Sequence[str] = HIDDEN, nested: bool) -> None:
    """Protect such places after all folders were allowed; `folders` are searched for further ones.

    Without `nested`, files inside a project stay changeable: Landlock could only grant the rest of the folder
    piece by piece, and no new file in it.
    """
    looked = [look_into(path) for path in folders]
    for path in map(resolved, STARTED):
        layout.protect(path)
    for path in map(resolved, (*(place for place in HIDDEN if not place.startswith(CACHES)), *STARTED)):
        layout.keep_missing(path)
    for path in (path for found in looked for path in found.unchangeable) if nested else ():
        if is_guarded(layout.below_root(path)):
            layout.protect(path)
    for place in (*own_places(), *(home for found in looked for home in found.homes)):
        layout.hide_own(place)
    for path in map(resolved, hidden):
        layout.hide(path)


def resolved(path: str) -> Path:
    return Path(path).expanduser().resolve()
