"""The words after `toolcrib add`: which is the name, and what the rest means."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from toolcrib.cli.install_view import ARCHIVES, is_reference

if TYPE_CHECKING:
    from toolcrib.config.paste.pasted import Pasted

DOCUMENTS = (".json", ".jsonc", ".toml", ".yaml", ".yml", *ARCHIVES, ".gz", ".zip")
_DASHES = "toolcrib.words_after_dashes"


def find_dashes(command: click.Command, args: list[str]) -> list[str]:
    """The words with `--` before a pasted command line: its options are not ours, whatever they look like."""
    from toolcrib.config.paste.understanding import begins_command

    if "--" in args:
        return args
    place, words = 0, 0
    options = {name: one for one in command.params if isinstance(one, click.Option) for name in one.opts}
    while place < len(args) and words < 2:
        word = args[place]
        if word.startswith("-") and len(word) > 1:
            option = options.get(word)
            if option is None and "=" not in word:
                return args
            place += 2 if option is not None and not option.is_flag else 1
            continue
        if place + 1 < len(args) and begins_command(word, args[place + 1]):
            return [*args[:place], "--", *args[place:]]
        place, words = place + 1, words + 1
    return args


def note_dashes(context: click.Context, args: list[str]) -> None:
    """Remember how many words stand after the dashes."""
    if "--" in args:
        context.meta[_DASHES] = len(args) - args.index("--") - 1


def parted(first: str, rest: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """The name, or '', and what is to be added."""
    from toolcrib.config.paste.understanding import is_beginning

    after = click.get_current_context().meta.get(_DASHES)
    words = (first, *rest)
    if after is not None:
        # `npm:PACKAGE -- --flag`: no server is called like a package or an archive.
        return ("", words) if after >= len(words) or is_reference(first) else (first, tuple(rest))
    if not rest or is_beginning(first):
        return "", words
    return first, tuple(rest)


def understood(name: str, what: Sequence[str], *, as_is: bool = False) -> Pasted | None:
    """What was pasted; None for a plain command, whose words are taken as they are."""
    from toolcrib.config.paste.pasted import Entries, Install
    from toolcrib.config.paste.understanding import as_command, understand

    here = Path.cwd()
    if name and len(what) == 1 and _is_program(what[0], here, as_is=as_is):
        return None
    found = understand(what, here)
    if as_is and isinstance(found, Install):
        found = as_command(what, here)
    plain = isinstance(found, Entries) and len(what) > 1 and name and not found.notes
    return None if plain and _is_verbatim(found, what) else found


def _is_program(word: str, here: Path, *, as_is: bool) -> bool:
    """Whether one word after a name is a command, rather than a file, a package or an address."""
    from toolcrib.config.paste.understanding import is_beginning

    path = here / Path(word).expanduser()
    if path.is_dir():
        return False
    if path.is_file():
        return os.access(path, os.X_OK) and path.suffix not in DOCUMENTS
    begins_path = word.startswith(("/", "./", "../", "~"))
    if is_beginning(word) and not begins_path:
        return False
    # A missing file or an unknown word is refused later, with a reason.
    return as_is or not (begins_path or "/" in word or "." in word)


def _is_verbatim(found: Any, what: Sequence[str]) -> bool:
    ((_, entry),) = found.servers.items()
    return (entry["command"], *entry.get("args", ())) == tuple(what) and not entry.get("env")


def entry_of(found: dict[str, Any], words: Sequence[str]) -> dict[str, Any]:
    """An entry, tied to this folder when a word of it names a file here."""
    from toolcrib.config.paste.entry_forms import needed_folder

    folder = found.get("cwd") or needed_folder(words)
    return {**found, "cwd": folder} if folder else found
