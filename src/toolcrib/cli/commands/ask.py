"""`toolcrib ask`: one question, one answer."""

from __future__ import annotations

import select
import stat
import sys
from contextlib import nullcontext
from os import fstat
from pathlib import Path
from typing import Any

import click

from toolcrib.cli import completion
from toolcrib.cli.declare import Seconds, declare
from toolcrib.cli.output import note
from toolcrib.cli.questions import can_ask
from toolcrib.cli.surface import Surface
from toolcrib.errors import UsageError

LARGEST_INPUT = 4 * 1024 * 1024
NO_WHOLE_ANSWER = 5
"""The exit code where the model did not answer, or not to the end."""
PATIENCE = 3.0
"""Seconds for something to come through a pipe when there is a question already."""


@declare("Models")
@click.argument("question", nargs=-1)
@click.option(
    "--model",
    "-m",
    metavar="VENDOR:MODEL",
    shell_complete=completion.models,
    help="Who answers; demo needs no account.",
)
@click.option("--chat", metavar="ID", help="Go on with this chat; `last` for the latest.")
@click.option(
    "--image",
    "images",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A picture that belongs to the question.",
)
@click.option("--max-rounds", type=click.IntRange(1, 1000), help="Requests to the model at most.")
@click.option(
    "--mode",
    type=click.Choice(["always", "on_miss", "on_rule", "plan", "off"]),
    help="When you are asked before a call; plan only reads.",
)
@click.option("--wait", type=Seconds(0, 3600), help="Wait so many seconds for servers to start.")
async def command(
    surface: Surface,
    question: tuple[str, ...],
    model: str | None,
    chat: str | None,
    images: tuple[Path, ...],
    max_rounds: int | None,
    mode: str | None,
    wait: float | None,
) -> int:
    """Ask QUESTION and print the answer; tools are called as the model wants them.

    What comes through a pipe is added to the question, or is the question; `-` waits for it. Without a
    terminal nobody can be asked: calls that need a yes are denied.
    """
    from toolcrib.cli.keyboard import Keyboard
    from toolcrib.cli.one_question import ask_crib
    from toolcrib.cli.turn_view import turn_view

    params: dict[str, Any] = {
        "text": _whole_question(question),
        "model": model,
        "chat": chat,
        "images": [_picture(image) for image in images],
        "max_rounds": max_rounds,
        "mode": mode,
    }
    async with surface.reach() as crib:
        params["wait"] = wait if wait is not None else (2.0 if crib.running else 20.0)
        with Keyboard() if can_ask() and not surface.json else nullcontext() as keys:
            result = await ask_crib(surface, crib, params, turn_view(quiet=surface.json), keys)
        surface.answer(result)
    return NO_WHOLE_ANSWER if result["ending"] in ("cut", "refused", "filtered") else 0


def _whole_question(words: tuple[str, ...]) -> str:
    asked = " ".join(word for word in words if word != "-").strip()
    piped = _piped(wait="-" in words or not asked)
    text = f"{asked}\n\n{piped}" if asked and piped else asked or piped
    if not text.strip():
        raise UsageError("There is no question.", hint='Write one: toolcrib ask "What is 17 plus 25?"')
    return text


def _piped(*, wait: bool) -> str:
    """What comes through stdin, where it is a pipe or a file; one that stays silent is not waited for."""
    if sys.stdin is None or sys.stdin.isatty():
        return ""
    mode = fstat(sys.stdin.fileno()).st_mode
    if stat.S_ISCHR(mode) and not wait:
        return ""
    if stat.S_ISFIFO(mode) and not wait and not select.select([sys.stdin], [], [], PATIENCE)[0]:
        note("Nothing came through the pipe, and it is not waited for; add - to the question to do so.")
        return ""
    text = sys.stdin.read(LARGEST_INPUT + 1)
    if len(text) > LARGEST_INPUT:
        raise UsageError(f"More than {LARGEST_INPUT:,} characters came through the pipe.")
    return text.strip("\n")


def _picture(path: Path) -> dict[str, str]:
    from toolcrib.agent.pictures import read_picture

    try:
        picture = read_picture(path.read_bytes())
    except UsageError as error:
        raise UsageError(f"{path}: {error.message}", hint=error.hint) from None
    return {"data": picture.data, "mime": picture.mime}
