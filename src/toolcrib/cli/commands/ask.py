"""`toolcrib ask`: ask a model one question. Limits of piped input, pictures and files, how long a silent pipe
is waited for, and the exit code of an incomplete answer."""

from __future__ import annotations

import select
import stat
import sys
from contextlib import nullcontext
from functools import partial
from os import fstat
from pathlib import Path
from typing import TYPE_CHECKING

import click

from toolcrib.cli.declare import declare, effort_option, model_option, repeatable, wait_option
from toolcrib.cli.output import note
from toolcrib.cli.questions import can_ask
from toolcrib.cli.surface import Surface
from toolcrib.errors import UsageError
from toolcrib.serverkit.bounded_read import read_bounded, read_bounded_text

if TYPE_CHECKING:
    from toolcrib.config.settings import Effort
    from toolcrib.schema.approvals import Mode

LARGEST_INPUT = 4 * 1024 * 1024
LARGEST_PICTURE = 64 * 1024 * 1024
"""Bytes of a file; the picture itself may have fewer."""
INCOMPLETE = 5
"""The exit code if the model did not answer completely."""
PIPE_TIMEOUT = 3.0
"""Seconds to wait for data from a pipe if there already is a question."""


@declare("Models")
@click.argument("question", nargs=-1)
@model_option
@click.option("--chat", metavar="ID", help="Continue this chat; `last` for the latest.")
@repeatable(
    "--image",
    "images",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Add this picture to the question; repeatable.",
)
@repeatable(
    "--file",
    "files",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Attach this text file to the question; repeatable.",
)
@effort_option
@click.option("--max-rounds", type=click.IntRange(1, 1000), help="Maximum number of requests to the model.")
@click.option(
    "--mode",
    type=click.Choice(["always", "on_miss", "on_rule", "plan", "off"]),
    help="When calls need your approval; plan only reads.",
)
@wait_option
async def command(
    surface: Surface,
    question: tuple[str, ...],
    model: str | None,
    chat: str | None,
    images: tuple[Path, ...],
    files: tuple[Path, ...],
    effort: Effort | None,
    max_rounds: int | None,
    mode: Mode | None,
    wait: float | None,
) -> int:
    """Ask QUESTION and print the answer; the model may call tools.

    Piped input is added to the question, or is the question; `-` waits for it. Without a terminal, calls that
    need your approval are denied.
    """
    from toolcrib.cli.keyboard import TerminalKeyboard
    from toolcrib.cli.turn import run_turn, turn_view

    text, pictures = _whole_question(question), [_picture(image) for image in images]
    attached = [_text_file(file) for file in files]
    async with surface.reach() as client:
        request = partial(
            client.ask,
            text=text,
            model=model,
            chat=chat,
            images=pictures,
            files=attached,
            effort=effort,
            max_rounds=max_rounds,
            mode=mode,
            wait=surface.start_wait(wait, client),
        )
        with TerminalKeyboard() if can_ask() and not surface.json else nullcontext() as keys:
            result = await run_turn(surface, client, request, turn_view(quiet=surface.json), keys)
        surface.answer(result)
    return INCOMPLETE if result["ending"] in ("cut", "refused", "filtered", "unknown") else 0


def _whole_question(words: tuple[str, ...]) -> str:
    asked = " ".join(word for word in words if word != "-").strip()
    piped = _piped(wait="-" in words or not asked)
    text = f"{asked}\n\n{piped}" if asked and piped else asked or piped
    if not text.strip():
        raise UsageError("The question is missing.", hint='For example: toolcrib ask "What is 17 plus 25?"')
    return text


def _piped(*, wait: bool) -> str:
    """The text of stdin if it is a pipe or a file; a silent pipe is waited for only with `wait`."""
    if sys.stdin is None or sys.stdin.isatty():
        return ""
    mode = fstat(sys.stdin.fileno()).st_mode
    if stat.S_ISCHR(mode) and not wait:
        return ""
    if stat.S_ISFIFO(mode) and not wait and not select.select([sys.stdin], [], [], PIPE_TIMEOUT)[0]:
        note("No data came through the pipe. Add - to the question to wait for it.")
        return ""
    text = sys.stdin.read(LARGEST_INPUT + 1)
    if len(text) > LARGEST_INPUT:
        raise UsageError(f"The piped input is longer than {LARGEST_INPUT:,} characters.")
    return text.strip("\n")


def _picture(path: Path) -> dict[str, str]:
    from toolcrib.llm.pictures import read_picture

    try:
        picture = read_picture(read_bounded(path, LARGEST_PICTURE, pipes=True))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from None
    except UsageError as error:
        raise UsageError(f"{path}: {error.message}", hint=error.hint) from None
    return {"data": picture.data, "mime": picture.mime}


def _text_file(path: Path) -> dict[str, str]:
    from toolcrib.agent.attached_files import LONGEST_FILE

    try:
        text = read_bounded_text(path, LARGEST_INPUT, encoding="utf-8-sig", pipes=True)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        hint = "Only text in UTF-8 can be attached, and pictures with --image."
        raise UsageError(f"{path} is not a text file.", hint=hint) from None
    if len(text) > LONGEST_FILE:
        hint = "Put it into the folder that you work in, and ask for it: the model can search it there."
        raise UsageError(f"{path} is longer than {LONGEST_FILE:,} characters.", hint=hint)
    return {"name": path.name, "text": text}
