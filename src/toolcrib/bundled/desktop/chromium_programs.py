"""Programs built on Chromium, such as browsers and Electron applications: the list of their names, the switch
with which they are started so that their elements can be found, and the message for those started without it.

They offer the elements of their windows only if a switch says so when they start; without it, accessibility
shows an empty frame. They are recognised by their names, by the files beside them, and through the scripts
that start them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

SWITCH = "--force-renderer-accessibility"
NO_ELEMENTS = (
    f"It was started without {SWITCH}, so it offers no elements: close all its windows and open it "
    "again with open_application and this argument, or use take_screenshot."
)
BARE = frozenset({"application", "frame", "panel", "window"})
"""Roles of the elements that such a program offers without the switch: its windows, however many."""
# fmt: off
NAMES = frozenset({
    "brave", "brave-browser", "chrome", "chromium", "chromium-browser", "code", "code-insiders", "codium",
    "cursor", "discord", "electron", "element-desktop", "google-chrome", "google-chrome-beta",
    "google-chrome-stable", "google-chrome-unstable", "microsoft-edge", "microsoft-edge-stable", "msedge",
    "obsidian", "opera", "postman", "signal-desktop", "slack", "spotify", "teams-for-linux",
    "ungoogled-chromium", "vivaldi", "vivaldi-stable", "vscodium", "windsurf",
})
# fmt: on
MARKS = (
    "chrome_100_percent.pak",
    "chrome_200_percent.pak",
    "resources/app.asar",
    "resources/app/package.json",
)
_PATH = re.compile(rb"/[\w./+@-]+")
_FOLDER_NAMES = ("bin", "usr", "opt", "lib", "share", "local", "")
MAX_SCRIPT = 16_384
MAX_PATHS = 50
WRAPPERS = 6
"""Words of a command in which the program is looked for, as in `env A=1 chromium` and `flatpak run ID`."""


def with_accessibility(command: Sequence[str], path: str | None = None) -> list[str]:
    """The command with the switch after the program's name, if it is such a program."""
    from shutil import which

    words = list(command)
    if SWITCH in words:
        return words
    for place, word in enumerate(words[:WRAPPERS]):
        found = word if "/" in word else which(word, path=path)
        if _is_known(word) or (found is not None and is_chromium(Path(found))):
            return [*words[: place + 1], SWITCH, *words[place + 1 :]]
    return words


def is_chromium(program: Path) -> bool:
    """Whether a program, or the one that a script starts, is built on Chromium; reads the disk."""
    try:
        real = program.resolve(strict=True)
        if _is_known(program.name) or _is_known(real.name) or _has_marks(real.parent):
            return True
        with real.open("rb") as file:
            start = file.read(MAX_SCRIPT)
    except OSError:
        return False
    if not start.startswith(b"#!"):
        return False
    mentioned = dict.fromkeys(Path(path.decode("utf-8", "replace")) for path in _PATH.findall(start))
    return any(_has_marks(path.parent) or _has_marks(path) for path in list(mentioned)[:MAX_PATHS])


def lacks_switch(process: int) -> bool:
    """Whether a running program is built on Chromium and was started without the switch."""
    folder = Path(f"/proc/{process}")
    try:
        words = (folder / "cmdline").read_bytes().split(b"\0")
        program = (folder / "exe").readlink()
    except OSError:
        return False
    return not any(SWITCH.encode() in word for word in words) and is_chromium(program)


def _is_known(name: str) -> bool:
    """By a program's name, or the last part of an application's id such as `com.google.Chrome`."""
    return "/" not in name and name.casefold().removesuffix(".desktop").rpartition(".")[2] in NAMES


def _has_marks(folder: Path) -> bool:
    if folder.name == "bin":
        folder = folder.parent
    return folder.name not in _FOLDER_NAMES and any((folder / mark).is_file() for mark in MARKS)
