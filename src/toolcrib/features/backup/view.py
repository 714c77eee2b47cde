"""Prints a backup and the preview before a restore (computed in `plan.py`), shows progress in the terminal,
and asks for passphrases.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from toolcrib.cli.output import counted, label, note
from toolcrib.cli.questions import ask_unseen, can_ask
from toolcrib.cli.safe_text import cut, revealed
from toolcrib.config.backup_parts import MIB
from toolcrib.errors import UsageError

if TYPE_CHECKING:
    from toolcrib.features.backup.manifest import Manifest
    from toolcrib.features.backup.plan import RestorePlan

LONGEST = 4096
STDIN = "-"


def progress() -> Callable[[str, int, int], None]:
    """Shows how far it is: on a terminal in one line that is overwritten, else nothing."""
    last = ""

    def show(what: str, done: int, total: int) -> None:
        nonlocal last
        text = f"{what} {100 * done // total} %" if total else what
        if text != last and sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{cut(text, 70)}")
            sys.stderr.flush()
        last = text

    return show


def read_passphrase(file: str | None, question: str, *, repeat: bool = False) -> str:
    """From a file, from stdin (`-`), or from the terminal, where it is not shown.

    Never an argument or a variable: other users and child processes could read it.
    """
    if file is not None:
        return _from_file(file)
    if not can_ask():
        raise UsageError(
            "A passphrase is needed, and there is no terminal to ask on.", hint="Use --passphrase-file FILE."
        )
    passphrase = ask_unseen(question)
    if repeat and ask_unseen("Repeat it") != passphrase:
        raise UsageError("The two passphrases differ.", hint="Nothing was written. Try again.")
    return passphrase


def _from_file(file: str) -> str:
    try:
        with nullcontext(sys.stdin.buffer) if file == STDIN else Path(file).open("rb") as stream:
            content = stream.read(LONGEST + 1)
        text = content.decode()
    except (OSError, UnicodeError) as error:
        raise UsageError(f"The passphrase cannot be read from {file}: {error}.") from None
    if len(content) > LONGEST:
        raise UsageError(f"{file} is too long for a passphrase.")
    return text.removesuffix("\n").removesuffix("\r")


def show_contents(manifest: Manifest) -> None:
    """What a backup contains, to stderr."""
    note(f"Backup of {revealed(manifest.home)} on {revealed(manifest.machine)}")
    _line("made", f"{manifest.created}, Toolcrib {manifest.version}")
    _line("size", f"{manifest.size / MIB:.1f} MiB in {counted(len(manifest.files), 'file')}")
    if manifest.rows:
        rows = (f"{count} {table.replace('_', ' ')}" for table, count in manifest.rows.items() if count)
        _line("database", ", ".join(rows) or "empty")
    if manifest.database_url:
        _line("", f"copied from the shared database {revealed(manifest.database_url)}")
    _line("secrets", f"{manifest.secrets}, encrypted" if manifest.secrets else "none")
    _line("left out", ", ".join(manifest.left_out))


def show_plan(plan: RestorePlan) -> None:
    """What a restore would do, to stderr, where questions are asked."""
    from toolcrib.features.backup.plan import command_text

    show_contents(plan.manifest)
    for name, launch in plan.launches.items():
        _line("server", f"{name}: {command_text(launch)}")
    for key, value in plan.settings.items():
        _line("setting", f"{key}: {value}")
    for need in plan.installs:
        done = {"present": "installed already", "install": "will be installed again"}
        text = done.get(need.need, f"cannot be installed again. {need.advice}")
        _line("install", f"{need.install.name}: {need.install.package} {need.install.version}: {text}")
    for name in plan.secrets_kept:
        _line("secret", f"{name} is stored here already and stays as it is")
    for name in plan.secrets_missing:
        _line("secret", f"{name} is missing. Store it with: toolcrib secret set {name}")
    if not plan.own:
        label("warning:", "yellow", "This backup was made by another home, or was changed since.")
    note("Triggers of workflows will be off, and unfinished runs cancelled: nothing starts by itself.")


def _line(key: str, text: str) -> None:
    note(f"  {key:<9} {revealed(text)}")
