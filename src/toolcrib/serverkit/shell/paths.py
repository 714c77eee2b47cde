"""Where the paths in a command lead, as far as that is known before it runs, and whether that is private.

Relative paths begin in the project, whose own path may not be known. Links are not followed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from toolcrib.serverkit.open_places import is_home, is_open_at_home, is_open_in_root
from toolcrib.serverkit.secret_places import Part, Wild, could_match, holds_secret, is_secret, part
from toolcrib.serverkit.shell.words import NotUnderstood, Sign, StartFolder, Word, plain

Anchor = Literal["/", "~", ".", "?"]
MOST_FOLDERS = 32
LONGEST_PATH = 4096
_UP = part("..")
_OPEN_TREES = (part("usr"),)
"""Folders of the root that a search may go through: nothing private is kept there."""


@dataclass(frozen=True, slots=True)
class ShellPath:
    """A path from the root, the home folder, the project, or from a folder that is not known (`?`)."""

    anchor: Anchor = "."
    parts: tuple[Part, ...] = ()
    project: tuple[Part, ...] = ()
    """The path of the project itself; empty when it is not known."""

    @property
    def secret(self) -> bool:
        """It could lead to private data. That the user works in a private folder does not count."""
        if self.anchor == ".":
            return is_secret((*self.project, *self.parts), root="none", below=len(self.project))
        return is_secret(self.parts, root="any" if self.anchor == "?" else "first")

    @property
    def content_secret(self) -> bool:
        """What is in the file could be private: it is, or it is not known to be open."""
        return self.secret or not self._is_open()

    def _is_open(self) -> bool:
        if self.anchor == "~":
            return is_open_at_home(self.parts)
        if self.anchor == "/":
            return is_open_in_root(self.parts, self.project)
        if self.anchor == "?":
            return not any(segment[:1] == (".",) for segment in self.parts)
        return not is_home(self.project) or is_open_at_home(self.parts)

    @property
    def tree_secret(self) -> bool:
        """Private data could lie in it or below, where a search from above would not leave it out."""
        if holds_secret((*self.project, *self.parts) if self.anchor == "." else self.parts):
            return True
        if self.anchor == "/":
            return self.secret or not self.parts or self.parts[0] not in _OPEN_TREES
        if self.anchor == "." and is_home(self.project) and not self.parts:
            return True
        return self.anchor != "." or self.content_secret

    @property
    def path(self) -> str:
        """As text: absolute, from the home folder (`~/…`), or from the project; empty when not known."""
        if self.anchor == "?" or any(isinstance(sign, Wild) for segment in self.parts for sign in segment):
            return ""
        inner = "/".join("".join(map(str, segment)) for segment in self.parts)
        return {"/": "/", "~": "~/", ".": "./"}[self.anchor] + inner


PROJECT = ShellPath()


def place_of(folder: str, project: str = "") -> ShellPath | None:
    """The place of a folder that is given as text, such as the `cwd` of a call; empty is the project."""
    start = ShellPath(project=tuple(_parts(project)))
    if folder == "~" or folder.startswith("~/"):
        return resolve(Word((StartFolder.HOME, *folder[1:])), start)
    return None if folder.startswith("~") else resolve(plain(folder), start)


def resolve(word: Word, folder: ShellPath) -> ShellPath | None:
    """The place that a path leads to; None when that cannot be known."""
    signs = word.signs
    if len(signs) > LONGEST_PATH or StartFolder.OTHER in signs:
        return None
    if signs[:1] == (StartFolder.HOME,):
        folder = ShellPath("~", project=folder.project)
    if signs[:1] == ("/",):
        folder = ShellPath("/", project=folder.project)
    if signs and isinstance(signs[0], StartFolder):
        signs = signs[1:]
        if signs and signs[0] != "/":
            return None
    if any(isinstance(sign, StartFolder) for sign in signs):
        return None
    return _below(folder, _parts(signs))


def route(word: Word, folder: ShellPath) -> str:
    """The path as the system goes along it: `..` after a link leads elsewhere than it looks.

    Wildcards are kept as `*` and `?`, and those characters themselves are in brackets. Empty when not known.
    """
    text = "".join(_pattern(sign) for sign in word.signs if not isinstance(sign, StartFolder))
    if word.signs[:1] == (StartFolder.HOME,):
        return f"~{text}"
    if text.startswith("/") and word.signs[0] == "/":
        return text
    return "".join(map(_pattern, f"{folder.path}/")) + text if folder.path else ""


def _pattern(sign: Sign) -> str:
    if isinstance(sign, Wild):
        return sign.value
    return f"[{sign}]" if isinstance(sign, str) and sign in "*?[" else str(sign)


def _parts(signs: Iterable[Sign]) -> list[Part]:
    return [
        tuple(sign for sign in run if not isinstance(sign, StartFolder))
        for is_slash, run in groupby(signs, lambda sign: sign == "/")
        if not is_slash
    ]


def _below(folder: ShellPath, parts: Iterable[Part]) -> ShellPath | None:
    anchor, found, project = folder.anchor, list(folder.parts), folder.project
    for segment in parts:
        if segment == (".",):
            continue
        if segment != _UP:
            found.append(segment)
            if any(isinstance(sign, Wild) for sign in segment) and could_match(segment, _UP):
                anchor = "?"
        elif found and any(isinstance(sign, Wild) for sign in found[-1]):
            return None
        elif found:
            found.pop()
        elif anchor == "." and project:
            anchor, found = "/", list(project[:-1])
        elif anchor != "/":
            anchor = "?"
    if anchor == "/" and project and tuple(found[: len(project)]) == project:
        anchor, found = ".", found[len(project) :]
    return ShellPath(anchor, tuple(found), project)


def entered(folders: Iterable[ShellPath], word: Word) -> frozenset[ShellPath]:
    """The folders that a command may be in after a `cd`, which may have failed; raises `NotUnderstood`."""
    before = frozenset(folders)
    after = {resolve(word, folder) for folder in before}
    if word.glob or None in after:
        raise NotUnderstood(f"the folder {word.text}")
    found = before | {place for place in after if place is not None}
    if len(found) > MOST_FOLDERS:
        raise NotUnderstood("too many changes of the folder")
    return found
