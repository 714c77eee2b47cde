"""`toolcrib version`: print the version and the paths in use (config, data, logs, socket)."""

from __future__ import annotations

import platform

from toolcrib.cli.declare import declare
from toolcrib.cli.output import say
from toolcrib.cli.surface import Surface
from toolcrib.version import __version__


@declare("Housekeeping")
def command(surface: Surface) -> None:
    """Print the version, and the paths of config, data and logs."""
    paths = surface.paths
    facts = {
        "version": __version__,
        "python": platform.python_version(),
        "config": str(paths.config_file),
        "data": str(paths.data),
        "logs": str(paths.logs),
        "socket": str(paths.socket),
    }
    if surface.answer(facts):
        return
    say(f"toolcrib {__version__}")
    for name, value in list(facts.items())[1:]:
        say(f"  {name:<7} {value}")
