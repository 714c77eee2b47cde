"""`toolcrib new`: create a starter project for a server."""

from __future__ import annotations

from pathlib import Path

import click

from toolcrib.cli.declare import declare
from toolcrib.cli.output import note, say
from toolcrib.cli.surface import Surface


@declare("Servers")
@click.argument("name")
@click.option("--folder", type=click.Path(path_type=Path), help="The folder to create; default ./NAME.")
def command(surface: Surface, name: str, folder: Path | None) -> None:
    """Create a small server with a test, in a new folder.

    \b
    toolcrib new notes
    toolcrib add ./notes
    """
    from toolcrib.serverkit.starter import lay_down

    place = (folder or Path(name)).absolute()
    files = lay_down(place, name)
    if surface.answer({"name": name, "folder": str(place), "files": [file.name for file in files]}):
        return
    say(f"{place}: {', '.join(file.name for file in files)}")
    shown = f"./{place.name}" if place.parent == Path.cwd() else str(place)
    note(f"Add it with: toolcrib add {shown}")
    note(f"Then test and review it: toolcrib test {name}")
