"""Protects what lies in a writable folder but must not be changed or read from inside a sandbox."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from toolcrib.serverkit.own_places import own_places
from toolcrib.serverkit.sandbox.layout import HIDDEN, STARTED, Layout, is_guarded, look_into

CACHES = "~/.cache/"
"""Commands may write to it, so what is missing there can be made; what exists is hidden all the same."""


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
