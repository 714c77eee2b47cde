"""`toolcrib trust`: look at what waits for a word of yours, and give it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

import click

from toolcrib.cli import completion
from toolcrib.cli.commands.servers import describe as describe_server
from toolcrib.cli.declare import declare
from toolcrib.cli.output import label, note, say
from toolcrib.cli.safe_text import revealed
from toolcrib.cli.surface import Surface

_MAX_SHOWN = 1500


@declare("Servers", asks=True)
@click.argument("names", nargs=-1, shell_complete=completion.servers)
async def command(surface: Surface, names: tuple[str, ...]) -> None:
    """Agree to what a server runs, or to tools that changed.

    A server that was imported, or whose entry somebody edited, waits until you have seen its exact command
    here. So does a tool whose definition is not the one you approved: the difference is shown. Without NAMES
    it is about everything that waits. What you did not agree to never runs.
    """
    async with surface.reach() as crib:
        waiting = (await crib.run("trust", {"names": list(names)}))["servers"]
        if not waiting and not surface.json:
            note("Nothing waits for your word.")
        agreed = {}
        for one in waiting:
            if _is_settled(one):
                if not surface.json:
                    note(f"{one['name']} is trusted as it is.")
                continue
            if not surface.json:
                _show(one)
            if surface.json and not surface.yes:
                continue  # programs look first
            surface.ask(f"Agree to {one['name']}?", refused=f"{one['name']} stays as it was.")
            agreed[one["name"]] = one["mark"]
        if agreed:
            params = {"names": list(names) or list(agreed), "agree": agreed}
            waiting = (await crib.run("trust", params))["servers"]
    if surface.answer({"servers": waiting}):
        return
    for one in waiting:
        if one["server"] is not None:
            say(describe_server(one["server"]))


def _is_settled(one: dict[str, Any]) -> bool:
    return bool(one["trusted"]) and not one["tools"]


def _show(one: dict[str, Any]) -> None:
    say(f"{one['name']}")
    if not one["trusted"]:
        for line in _launch_lines(one["launch"]):
            note(f"  {line}")
        for part, change in one["changed"].items():
            label("changed:", "yellow", f"{part} was {_plain(change['before'])}")
        for remark in one["remarks"]:
            label("careful:", "yellow", remark)
    for tool in one["tools"]:
        note(f"  {tool['tool']} is held: {tool['reason']}")
        for part, change in tool["changed"].items():
            note(f"    {part}")
            note(f"      - {_plain(change['before'])}")
            note(f"      + {_plain(change['now'])}")
        for finding in tool["findings"]:
            label("careful:", "yellow", finding)


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
        yield f"{'sees':<8} {revealed(', '.join(launch['envAllow']))}"


def _plain(value: Any) -> str:
    if value is None:
        return "(nothing)"
    shown = revealed(value if isinstance(value, str) else _json(value))
    return shown if len(shown) <= _MAX_SHOWN else f"{shown[:_MAX_SHOWN]}… ({len(shown)} characters)"


def _json(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)
