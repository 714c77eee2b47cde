"""`toolcrib settings`: what holds for the whole host, one setting at a time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import click

from toolcrib.cli import completion
from toolcrib.cli.declare import Command, declare
from toolcrib.cli.group import command_of
from toolcrib.cli.output import note, say
from toolcrib.cli.surface import Surface
from toolcrib.cli.tables import show_table


@declare()
@click.option("--all", "everything", is_flag=True, help="Those that are as they come, too.")
async def list_(surface: Surface, everything: bool = False) -> None:
    """Show the settings that the config file says something about."""
    async with surface.reach() as crib:
        found = await crib.run("settings_show")
    if surface.answer(found):
        return
    known = _flat(found["settings"])
    given = set(found["given"])
    rows = [[key, _word(value)] for key, value in known.items() if everything or key in given]
    if rows:
        show_table(["SETTING", "VALUE"], rows)
    else:
        note("All settings are as they come. See them with: toolcrib settings list --all")
    note(f"In {found['file']}")


class SetCommand(Command):
    """Takes a value that begins with a dash, such as -5."""

    ignore_unknown_options = True


@declare(cls=SetCommand)
@click.argument("key", shell_complete=completion.settings)
@click.argument("value")
async def set_(surface: Surface, key: str, value: str) -> None:
    """Set KEY, such as retrieval.k, to VALUE: JSON, or else plain text. It holds at once."""
    await _save(surface, key, _read(value))


@declare()
@click.argument("key", shell_complete=completion.settings)
async def unset(surface: Surface, key: str) -> None:
    """Let KEY be as it comes again."""
    await _save(surface, key, None)


async def _save(surface: Surface, key: str, value: Any) -> None:
    async with surface.reach() as crib:
        saved = await crib.run("settings_set", {"key": key, "value": value})
    if not surface.answer(saved):
        say(f"{saved['key']} is {_word(saved['value'])}; it was {_word(saved['before'])}.")


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


def _word(value: Any) -> str:
    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)


command = command_of(
    "settings", "Housekeeping", "Show and change what holds for the host.", list_, set_, unset
)
