"""What a command may touch: bubblewrap where it works, else the kernel's Landlock, else no limit. Decides
which folders can be written to, which devices, temporary folders and sockets it sees, and the line that
describes the sandbox.

Reading is free except for places where secrets are kept, writing is for the given folders, Unix sockets are
out of reach, and the network may be shut. `kind` says which of the three it is, so that nothing relies on
protection that is missing.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from toolcrib.bundled.terminal.kernel_rules import landlock_version
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.sandbox.bubblewrap import find_bubblewrap, is_weaker_for_root, mounted, namespaces
from toolcrib.serverkit.sandbox.layout import HIDDEN, Layout, State, grants, guard, resolved
from toolcrib.serverkit.sandbox.socket_filter import socket_filter

SCRATCH_NAMES = ("tmp", "var-tmp")


class Scratch:
    """Made when a command first needs one; all are removed by `close`, or with the process."""

    @cached_property
    def folder(self) -> Path:
        """The one that holds them, which no other user can enter."""
        made = tempfile.mkdtemp(prefix="toolcrib-commands-")
        weakref.finalize(self, shutil.rmtree, made, ignore_errors=True)
        return Path(made).resolve()

    def of(self, working_folder: str) -> Path:
        """The folder for the commands of a working folder: what one leaves there, the next one finds."""
        found = self.folder / sha256(os.fsencode(working_folder)).hexdigest()[:16]
        for name in SCRATCH_NAMES:
            if not (made := found / name).is_dir():
                made.mkdir(parents=True)
                made.chmod(0o1777)  # as programs expect it
        return found

    def close(self) -> None:
        """Remove them; commands that still run lose their files."""
        if "folder" in self.__dict__:
            shutil.rmtree(self.folder, ignore_errors=True)
            del self.__dict__["folder"]


__all__ = ["HIDDEN", "Kind", "Sandbox", "Wanted", "missing"]

Kind = Literal["bubblewrap", "landlock", "none"]
Wanted = Literal["auto", "bubblewrap", "landlock", "none"]

_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/shm")  # noqa: S108
_RANDOM = ("/dev/random", "/dev/urandom")
"""Without these, Landlock would leave disks, cameras and the terminals of others readable."""
_CACHES = ("~/.cache", "~/.npm")
TEMPORARY = ("/tmp", "/var/tmp")  # noqa: S108
"""A command sees folders of its own there."""
RUNTIME = ("/run", "/var/run")
"""Sockets of the system and of the user's session: empty, but for a few files that are no sockets."""
_NEEDED_AT_RUN = ("/etc/resolv.conf", "/run/current-system", "/run/booted-system", "/run/wrappers")


@dataclass(frozen=True, kw_only=True)
class Sandbox:
    """The settings; `folders` may be written to besides the working folder."""

    wanted: Wanted = "auto"
    folders: Sequence[str] = ()
    hidden: Sequence[str] = HIDDEN
    readable: Sequence[str] | None = None
    """Only these places can be read, besides the working folder and the interpreter; None for all others that
    are not hidden."""
    network: bool = True
    unix_sockets: bool = False
    """Programs may make Unix sockets; those of others are then out of reach only where they are hidden."""
    caches: bool = True
    """The caches of package managers may be written to."""
    scratch: Scratch = field(default_factory=Scratch)

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
            return f"none{f' ({why})' if why else ''}: commands can access everything that this user can"
        network = "network access" if self.network else "no network"
        weaker = os.getuid() == 0 and (self.kind == "landlock" or is_weaker_for_root())
        root = "; as root, commands can change the modes of system files" if weaker else ""
        return f"{self.kind}: only the working folder and a few others can be written to; {network}{root}"

    def temporary(self, folder: str) -> str | None:
        """What commands of this working folder get as `TMPDIR`; None where there is no sandbox."""
        if self.kind == "none":
            return None
        return TEMPORARY[0] if self.kind == "bubblewrap" else str(self.scratch.of(folder) / "tmp")

    def confine(self, argv: Sequence[str], folder: str, cwd: str = "") -> Mapping[str, Any]:
        """The parts of a keeper's order that hold a command: what to run, and what to give up before.

        `folder` may be written to; the command starts in `cwd`, in `folder` by default.
        """
        kind = self.kind
        if kind == "none":
            return {"argv": list(argv)}
        refused = socket_filter(unix_sockets=self.unix_sockets, network=self.network)
        held = {"argv": list(argv), "filter": refused.hex()}
        if kind == "bubblewrap":
            return {
                **held,
                "within": self._bubblewrapped(folder, cwd or folder),
                "abstract": self.unix_sockets,
            }
        reading, writing = grants(self._layout(folder, replaced=False))
        granted = {
            "names": ["/"],
            "read": [*reading, *_RANDOM],
            "write": [*writing, *_DEVICES],
            "tcp": self.network,
        }
        return {**held, "landlock": granted}

    def _layout(self, folder: str, *, replaced: bool) -> Layout:
        """What is found where; `replaced` when folders can be others inside, as with mounts."""
        layout = Layout(home=Path.home().resolve())
        if self.readable is not None:
            self._hide_all(layout, self.readable, replaced=replaced)
        self._replace(layout, folder, replaced=replaced)
        for path in self._writable([folder, *self.folders, *(_CACHES if self.caches else ())]):
            layout.allow(path)
        guard(layout, self._writable([folder, *self.folders]), hidden=self.hidden, nested=replaced)
        layout.pin()
        return layout

    def _hide_all(self, layout: Layout, readable: Sequence[str], *, replaced: bool) -> None:
        """Hide everything but these places; mounts have devices and processes of their own."""
        kept = ("dev", "proc") if replaced else ()
        for path in Path("/").iterdir():
            if path.name not in kept and not path.is_symlink():
                layout.hide(path)
        for path in map(resolved, readable):
            layout.show(path)

    def _replace(self, layout: Layout, folder: str, *, replaced: bool) -> None:
        """The folders for temporary files, and those of sockets."""
        scratch = self.scratch.of(folder)
        session = os.environ.get("XDG_RUNTIME_DIR")
        hidden = [*RUNTIME, *([session] if session else []), *([] if replaced else [*TEMPORARY, "/dev"])]
        for name, place in zip(SCRATCH_NAMES, TEMPORARY, strict=True) if replaced else ():
            layout.replace(Path(place), scratch / name)
        for path in map(resolved, hidden):
            if path != Path("/"):
                layout.hide(path)
        for needed in map(resolved, (*_NEEDED_AT_RUN, sys.prefix, sys.base_prefix, str(_PACKAGE))):
            layout.show(needed)
        if not replaced:
            layout.states[self.scratch.folder] = State.HIDDEN
            layout.states[scratch / "tmp"] = State.WRITE

    def _writable(self, folders: Sequence[str]) -> list[Path]:
        """Those that exist, the broader ones first: what is said of a folder inside one holds."""
        found = dict.fromkeys(map(resolved, folders))
        return sorted((path for path in found if path.is_dir()), key=lambda path: len(path.parts))

    def _bubblewrapped(self, folder: str, cwd: str) -> list[str]:
        layout = self._layout(folder, replaced=True)
        if Path(cwd) not in layout.private and not layout.is_real(Path(cwd)):
            raise ToolFailure(
                f"{cwd!r} is not available in the sandbox.", "Add it to the setting terminal.folders."
            )
        return [*namespaces(network=self.network), *mounted(layout), "--chdir", cwd]


_PACKAGE = Path(__file__).resolve().parents[2]


def missing(kind: Kind) -> str:
    """Why this kind of sandbox cannot be had here; empty when it can."""
    if kind == "bubblewrap":
        return find_bubblewrap()[1]
    return "" if kind == "none" or _landlock() else "this kernel does not offer it"


@cache
def _landlock() -> bool:
    return landlock_version() >= 1
