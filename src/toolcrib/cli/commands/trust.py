"""`toolcrib trust`: review and approve new servers and changed tools; how a change is printed, and where long
texts are cut."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from toolcrib.cli import completion
from toolcrib.cli.commands.servers import describe as describe_server
from toolcrib.cli.declare import declare
from toolcrib.cli.output import label, note, say
from toolcrib.cli.safe_text import revealed
from toolcrib.cli.surface import Surface

if TYPE_CHECKING:
    from toolcrib.operations.client import TrustShown

_MAX_SHOWN = 1500


@declare("Servers", asks=True)
@click.argument("names", nargs=-1, shell_complete=completion.servers)
async def command(surface: Surface, names: tuple[str, ...]) -> None:
    """Review and approve the command of a server, or its changed tools.

    A server that was imported, or whose entry was edited elsewhere, does not run until you have approved its
    exact command here. A tool whose definition changed is held until you have seen the difference. Without
    NAMES, everything that waits for approval is shown.
    """
    async with surface.reach() as client:
        waiting = (await client.trust(names=list(names)))["servers"]
        if not waiting and not surface.json:
            note("Nothing is waiting for your approval.")
        approved: dict[str, str] = {}
        for server in waiting:
            name = server["name"]
            if server["trusted"] and not server["tools"]:
                if not surface.json:
                    note(f"{name} is already trusted.")
                continue
            if not surface.json:
                _show(server)
            if surface.json and not surface.yes:
                continue  # A program only looks, unless it says --yes.
            surface.ask(f"Trust {name}?", refused=f"{name} was not approved.")
            approved[name] = server["mark"]
        if approved:
            answer = await client.trust(names=list(names) or list(approved), agree=approved)
            waiting = answer["servers"]
    if surface.answer({"servers": waiting}):
        return
    for server in waiting:
        if server["server"] is not None:
            say(describe_server(server["server"]))


def _show(server: TrustShown) -> None:
    say(server["name"])
    if not server["trusted"]:
        for line in _launch_lines(server["launch"]):
            note(f"  {line}")
        for part, change in server["changed"].items():
            label("changed:", "yellow", f"{part} was {_plain(change['before'])}")
        for remark in server["remarks"]:
            label("warning:", "yellow", remark)
    for tool in server["tools"]:
        note(f"  {tool['tool']} is held back: {tool['reason']}")
        for part, change in tool["changed"].items():
            note(f"    {part}")
            note(f"      - {_plain(change['before'])}")
            note(f"      + {_plain(change['now'])}")
        for finding in tool["findings"]:
            label("warning:", "yellow", finding)


def _launch_lines(launch: Mapping[str, Any]) -> Iterator[str]:
    arguments = [str(word) for word in launch.get("args", ())]
    for key in ("url", "package", "module", "command", "sourcePath", "tarballPath"):
        if key in launch:
            words = [str(launch[key])] if key == "url" else [str(launch[key]), *arguments]
            yield f"{key:<8} {revealed(words[0] if key == 'url' else shlex.join(words))}"
            arguments = []
    for key in ("version", "cwd"):
        if key in launch:
            yield f"{key:<8} {revealed(str(launch[key]))}"
    for key in ("env", "headers"):
        for name, value in launch.get(key, {}).items():
            yield f"{key:<8} {revealed(name)}" + (f" = {revealed(str(value))}" if value is not None else "")
    if "envAllow" in launch:
        yield f"{'receives':<8} {revealed(', '.join(launch['envAllow']))}"


def _plain(value: Any) -> str:
    if value is None:
        return "(nothing)"
    shown = revealed(value if isinstance(value, str) else _json(value))
    return shown if len(shown) <= _MAX_SHOWN else f"{shown[:_MAX_SHOWN]}… ({len(shown)} characters)"


def _json(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)
