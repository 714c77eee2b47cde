"""Saves what others sent as new files in an allowed folder: longest name, removed characters, reserved names,
and `a (2).pdf` if a name is taken."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from toolcrib.serverkit.confined.protected import protected_part
from toolcrib.serverkit.confined.roots import ConfinedEntry, Roots
from toolcrib.serverkit.context import ToolFailure

MAX_NAME = 120
MAX_ATTEMPTS = 1000
_UNSAFE = re.compile(r'[\x00-\x1f\x7f-\x9f/\\:*?"<>|\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]+')
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def save_new(roots: Roots, name: str, data: bytes) -> Path:
    """Write a file that did not exist into the first allowed folder; another name is used if it is taken."""
    with new_file(roots, name) as (place, file):
        with os.fdopen(os.dup(file), "wb") as output:
            output.write(data)
        return place.path


@contextmanager
def new_file(roots: Roots, name: str) -> Iterator[tuple[ConfinedEntry, int]]:
    """An open file that did not exist, in the first allowed folder, and where it is."""
    for candidate in _candidates(safe_name(name)):
        with roots.explained(candidate, new=True), roots.folder(".", candidate) as place:
            roots.check_changeable(place)
            try:
                file = os.open(place.name, _NEW, 0o600, dir_fd=place.folder)
            except FileExistsError:
                continue
            try:
                yield place, file
            finally:
                os.close(file)
            return
    raise ToolFailure(f"There are too many files called {name[:60]!r}.", "The user should tidy the folder.")


def safe_name(name: str) -> str:
    """A name for a new file: one part, without control characters, of limited length."""
    last = unicodedata.normalize("NFC", name).replace("\\", "/").rstrip("/").rpartition("/")[2]
    cleaned = _UNSAFE.sub("_", last).strip(" .")
    stem, ending = _split(cleaned)
    room = MAX_NAME - len(ending[:20].encode())
    shortened = stem.encode()[:room].decode("utf-8", "ignore").rstrip(" .") + ending[:20]
    if not shortened or _RESERVED.match(shortened) or protected_part([shortened]):
        return f"file-{shortened}".rstrip("-")
    return shortened


def _candidates(name: str) -> Iterator[str]:
    """`a.pdf`, `a (2).pdf`, `a (3).pdf` …"""
    yield name
    stem, ending = _split(name)
    for number in range(2, MAX_ATTEMPTS):
        yield f"{stem} ({number}){ending}"


def _split(name: str) -> tuple[str, str]:
    stem, dot, ending = name.rpartition(".")
    return (stem, dot + ending) if stem else (name, "")
