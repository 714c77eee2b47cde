"""`toolcrib new`: a server of one's own, to begin with."""

from __future__ import annotations

from pathlib import Path

import click

from toolcrib.cli.declare import declare
from toolcrib.cli.output import note, say
from toolcrib.cli.surface import Surface


@declare("Servers")
@click.argument("name")
@click.option("--folder", type=click.Path(path_type=Path), help="Where to put it; ./NAME unless told.")
def command(surface: Surface, name: str, folder: Path | None) -> None:
    """Create a small server in a folder of its own, with a test.

    \b
    toolcrib new notes
    toolcrib add ./notes
    """
    from toolcrib.serverkit.starter import lay_down

    place = (folder or Path(name)).absolute()
    files = lay_down(place, name)
    answer = {"name": name, "folder": str(place), "files": [file.name for file in files]}
    if surface.answer(answer):
        return
    say(f"{place}: {', '.join(file.name for file in files)}")
    shown = f"./{place.name}" if place.parent == Path.cwd() else str(place)
    note(f"Take it in with: toolcrib add {shown}")
    note(f"Then ask what a model would find unclear: toolcrib test {name}")
