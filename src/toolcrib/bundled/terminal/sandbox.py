"""What a command may touch: bubblewrap where it works, else the kernel's Landlock, else nothing is held.

Reading is free except for places where secrets are kept, writing is for the given folders, and the network
may be shut. `kind` says which of the three it is, so that nobody believes in walls that are not there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

from toolcrib.bundled.terminal.keeper import landlock_version
from toolcrib.serverkit.confined.protected import own_folders

Kind = Literal["bubblewrap", "landlock", "none"]
Wanted = Literal["auto", "bubblewrap", "landlock", "none"]

HIDDEN = (
    *("~/.ssh", "~/.gnupg", "~/.aws", "~/.azure", "~/.kube", "~/.netrc", "~/.git-credentials", "~/.pypirc"),
    *("~/.config/gcloud", "~/.config/gh", "~/.docker/config.json", "~/.local/share/keyrings", "~/.mozilla"),
    *("~/.config/google-chrome", "~/.config/chromium", "/etc/shadow", "/etc/gshadow"),
)
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/shm")  # noqa: S108
_CACHES = ("~/.cache", "~/.npm")


@dataclass(frozen=True, kw_only=True)
class Sandbox:
    """The settings; `folders` may be written to besides the working folder."""

    wanted: Wanted = "auto"
    folders: Sequence[str] = ()
    hidden: Sequence[str] = HIDDEN
    network: bool = True
    temporary: bool = True
    """The system's folder for temporary files and the caches of package managers may be written to."""
    protect_home: bool = field(default=True)
    """Toolcrib's own folders are hidden."""

    @property
    def kind(self) -> Kind:
        """What holds here."""
        return next((kind for kind in self._tried() if not missing(kind)), "none")

    def _tried(self) -> tuple[Kind, ...]:
        if self.wanted == "none":
            return ()
        return ("bubblewrap", "landlock") if self.wanted == "auto" else (self.wanted,)

    def describe(self) -> str:
        """One line for people and models; where nothing holds, it says why."""
        if self.kind == "none":
            why = "; ".join(f"{kind}: {missing(kind)}" for kind in self._tried())
            return f"none{f' ({why})' if why else ''}: commands may touch whatever this user may"
        network = "the network is open" if self.network else "no network"
        return f"{self.kind}: only the working folder and a few others can be written to; {network}"

    def confine(self, argv: Sequence[str], folder: str, cwd: str = "") -> Mapping[str, Any]:
        """The parts of a keeper's order that hold a command: what to run, and what to give up before.

        `folder` may be written to; the command starts in `cwd`, in `folder` unless told.
        """
        kind = self.kind
        if kind == "bubblewrap":
            return {"argv": list(argv), "within": self._bubblewrapped(folder, cwd or folder)}
        if kind == "landlock":
            grants = {
                "names": ["/"],
                "read": list(_around(self._hidden())),
                "write": [*self._writable(folder), *_DEVICES],
                "tcp": self.network,
            }
            return {"argv": list(argv), "landlock": grants}
        return {"argv": list(argv)}

    def _writable(self, folder: str) -> list[str]:
        more = (tempfile.gettempdir(), *_CACHES) if self.temporary else ()
        found = dict.fromkeys(_resolved(path) for path in (folder, *self.folders, *more))
        return [str(path) for path in found if path.is_dir()]

    def _hidden(self) -> list[Path]:
        named = [_resolved(path) for path in self.hidden]
        if self.protect_home:
            named += own_folders()
        return [path for path in named if path.exists()]

    def _bubblewrapped(self, folder: str, cwd: str) -> list[str]:
        """Without capabilities even for root, which bubblewrap would otherwise leave as they are."""
        words = [_bubblewrap()[0], "--die-with-parent", "--unshare-user", "--unshare-pid", "--unshare-ipc"]
        words += ["--cap-drop", "ALL", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
        words += ["--uid", "1000", "--gid", "1000"] if os.getuid() == 0 else []
        words += [] if self.network else ["--unshare-net"]
        for path in self._writable(folder):
            words += ["--bind", path, path]
        for hidden in self._hidden():
            words += ["--tmpfs", str(hidden)] if hidden.is_dir() else ["--ro-bind", os.devnull, str(hidden)]
        return [*words, "--chdir", cwd, "--"]


def _resolved(path: str) -> Path:
    return Path(path).expanduser().resolve()


def _around(hidden: Sequence[Path]) -> Iterator[str]:
    """Everything but the hidden places: rules can only add, so that what lies beside them is named."""
    left = [Path("/")]
    while left:
        folder = left.pop()
        if not any(place.is_relative_to(folder) for place in hidden):
            yield str(folder)
            continue
        if folder in hidden:
            continue
        try:
            entries = list(os.scandir(folder))
        except OSError:
            continue
        # A link is left out: it would open the place that it leads to, whatever that is.
        left += [Path(entry.path) for entry in entries if not entry.is_symlink()]


def missing(kind: Kind) -> str:
    """Why this kind of sandbox cannot be had here; empty when it can."""
    if kind == "bubblewrap":
        return _bubblewrap()[1]
    return "" if kind == "none" or _landlock() else "this kernel does not offer it"


@cache
def _bubblewrap() -> tuple[str, str]:
    """Where it is, and why it does not work here: containers and some systems forbid what it needs."""
    found = shutil.which("bwrap")
    if found is None:
        return "", "it is not installed"
    words = [
        found,
        "--unshare-user",
        "--unshare-pid",
        "--ro-bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "--proc",
        "/proc",
    ]
    try:
        done = subprocess.run([*words, "true"], capture_output=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return found, f"it cannot be run ({type(error).__name__})"
    if done.returncode == 0:
        return found, ""
    told = done.stderr.decode("utf-8", "replace").strip().removeprefix("bwrap: ")
    return found, told or "it failed without a word"


@cache
def _landlock() -> bool:
    return landlock_version() >= 1
