"""`toolcrib status`, which `toolcrib` alone runs too: whether a host is running, its page, its servers, how
many decisions it waits for, and the next commands to try."""

from __future__ import annotations

import contextlib
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from toolcrib.cli.declare import declare
from toolcrib.cli.output import counted, say
from toolcrib.cli.surface import Surface
from toolcrib.cli.times import local

if TYPE_CHECKING:
    from toolcrib.config.paths import Paths
    from toolcrib.operations.results.overview import HostInfo

_WIDTH = 10
"""Of the labels, with the space behind them."""


@declare("Host")
async def command(surface: Surface) -> None:
    """Show whether a host is running, what needs you, and what to do next."""
    from toolcrib.cli.host_connection import reach_running

    async with reach_running(surface.home) as client:
        found = None if client is None else await client.host_info()
    if found is None:
        _show_stopped(surface)
    elif not surface.answer({"running": True, **found}):
        _show_running(found)


def _show_stopped(surface: Surface) -> None:
    paths = surface.paths
    names = _configured(paths)
    if surface.answer({"running": False, "config": str(paths.config_file), "servers": names}):
        return
    say("Toolcrib is not running.")
    _line("Config", str(paths.config_file) if names else f"{paths.config_file} (made by the first start)")
    if names:
        _line("Servers", ", ".join(names))
    _show_next(
        ("up", "start it, and open its page"),
        ('ask --model demo "What is 6 × 7?"', "try a question without an account"),
    )


def _configured(paths: Paths) -> list[str]:
    """The servers in the config file; raises `ConfigError` if it is broken."""
    from toolcrib.config.document import parse_document

    try:
        data = parse_document(paths.config_file.read_bytes()).data
    except FileNotFoundError:
        return []
    return [str(name) for name in data.get("mcpServers") or ()]


def _show_running(found: HostInfo) -> None:
    counts = found["counts"]
    since = local(found["started"])
    say(f"Toolcrib {found['version']} is running as process {found['pid']} since {since}.")
    _line("Page", found["address"] or "not served")
    _line("Servers", _servers(found))
    _line("Tools", f"{counts['tools']:,}")
    _line("Model", found["model"] or "none chosen")
    if counts["needs_you"]:
        _line("Needs you", f"{counted(counts['needs_you'], 'decision')}, listed on the page")
    _show_next(
        ("open", "open the page, signed in"),
        *([] if found["model"] else [("models", "choose a model")]),
        ("chat" if found["model"] else "chat --model demo", "chat in this terminal"),
        ("call demo__add a=1 b=2", "call a tool"),
    )


def _servers(found: HostInfo) -> str:
    counts = found["counts"]
    if not found["switched_on"]:
        return "all switched off; to turn them on: toolcrib on"
    parts = [f"{counts['up']} of {counts['servers']} up"]
    if counts["trouble"]:
        parts.append(f"{counts['trouble']} in trouble (see: toolcrib servers)")
    if counts["off"]:
        parts.append(f"{counts['off']} off")
    return ", ".join(parts)


def _line(label: str, text: str) -> None:
    say(f"{label:<{_WIDTH}}{text}")


def _show_next(*commands: tuple[str, str]) -> None:
    program = program_name()
    rows = [(f"{program} {words}", why) for words, why in (*commands, ("--help", "list all commands"))]
    width = max(len(words) for words, _ in rows)
    say()
    for words, why in rows:
        say(f"  {words:<{width}}  {why}")


def program_name() -> str:
    """The words by which this program can be run from here."""
    called = Path(sys.argv[0])
    if called.name != "toolcrib" or shutil.which("toolcrib") == str(called.absolute()):
        return "toolcrib"
    with contextlib.suppress(ValueError):
        return str(called.absolute().relative_to(Path.cwd()))
    return str(called)
