"""`toolcrib settings`: list and change the settings of the host; the notes after a change of the database."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from toolcrib.cli import completion
from toolcrib.cli.declare import CliCommand, declare
from toolcrib.cli.group import command_of
from toolcrib.cli.output import label, note, say, show_table
from toolcrib.cli.questions import given_key, key_file, with_key
from toolcrib.cli.surface import Surface


@declare()
@click.option("--all", "everything", is_flag=True, help="Include settings that have their default.")
async def list_(surface: Surface, everything: bool = False) -> None:
    """List the settings that are set in the config file."""
    async with surface.reach() as client:
        found = await client.settings_show()
    if surface.answer(found):
        return
    known = _flat(found["settings"])
    given = set(found["given"])
    rows = [[key, _text(value)] for key, value in known.items() if everything or key in given]
    if rows:
        show_table(["SETTING", "VALUE"], rows)
    else:
        note("All settings have their defaults. To list them: toolcrib settings list --all")
    note(f"In {found['file']}")


class SetCommand(CliCommand):
    """Accepts a value that begins with a dash, such as -5."""

    ignore_unknown_options = True


@declare(cls=SetCommand)
@click.argument("key", shell_complete=completion.settings)
@click.argument("value")
@key_file
async def set_(surface: Surface, key: str, value: str, database_key_file: Path | None) -> None:
    """Set KEY, such as retrieval.k, to VALUE: JSON or plain text. It takes effect at once.

    A database that other machines use already needs its key: from a hidden prompt, the variable
    TOOLCRIB_DATABASE_KEY, or a file.
    """
    given = given_key(database_key_file) if key == "database" else None
    await with_key(given, lambda database_key: _save(surface, key, _read(value), database_key))


@declare()
@click.argument("key", shell_complete=completion.settings)
async def unset(surface: Surface, key: str) -> None:
    """Reset KEY to its default."""
    await _save(surface, key, None)


async def _save(surface: Surface, key: str, value: Any, database_key: str | None = None) -> None:
    async with surface.reach() as client:
        saved = await client.settings_set(key=key, value=value, database_key=database_key)
    if not surface.answer(saved):
        say(f"{saved['key']} is {saved['text']}; it was {saved['before_text']}.")
        if key == "database":
            _warn_of_tls(str(saved["value"] or ""))
            if saved["untrusted"]:
                names = " ".join(saved["untrusted"])
                lost = "Your trust in these servers is only in the earlier database, so they will not start"
                label("warning:", "yellow", f"{lost}: {names}")
                label("hint:", "cyan", f"After the restart, trust them again: toolcrib trust {names}")
            note("Restart the host to use it. No data was moved; see: toolcrib database move --help")
            if value:
                note("Other machines need the key of the database; show it with: toolcrib database key")


def _warn_of_tls(url: str) -> None:
    from toolcrib.config.database_url import tls_warning
    from toolcrib.serverkit.extras import is_installed

    if url and is_installed("postgres") and (weak := tls_warning(url)):
        label("warning:", "yellow", weak)


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _flat(section: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in section.items():
        inner = isinstance(value, Mapping) and value
        found |= _flat(value, f"{before}{key}.") if inner else {f"{before}{key}": value}
    return found


def _text(value: Any) -> str:
    """As it can be set again."""
    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)


command = command_of("settings", "Housekeeping", "List and change the settings.", list_, set_, unset)
