"""`toolcrib call`: call one tool and print its result. Progress, names of saved files, and the exit code if
the tool failed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from toolcrib.cli import completion
from toolcrib.cli.call_arguments import read_arguments, read_words
from toolcrib.cli.declare import CliCommand, Seconds, declare
from toolcrib.cli.output import as_json, note, say
from toolcrib.cli.surface import Surface
from toolcrib.errors import ToolChanged, UnknownTool, UsageError

if TYPE_CHECKING:
    from toolcrib.operations.results.call_result import CallProgress, CallResult

TOOL_FAILED = 6
"""The exit code if the tool reports an error."""
Save = Callable[[bytes, str], Path]
"""Saves content of a MIME type."""
_SUFFIXES = {"image/jpeg": ".jpg", "audio/wav": ".wav", "text/plain": ".txt", "application/json": ".json"}
"""For types that `mimetypes` gives an unusual suffix or none."""


class CallCommand(CliCommand):
    """Explains how arguments are written."""

    def advise(self, option: str, args: list[str]) -> str:
        """An unknown option is most likely an argument of the tool."""
        return f"Write arguments of the tool as {option.lstrip('-') or 'key'}=VALUE, without dashes."


@declare("Tools", cls=CallCommand)
@click.argument("tool", shell_complete=completion.tools)
@click.argument("words", nargs=-1, metavar="[KEY=VALUE]...", shell_complete=completion.arguments)
@click.option("--args", "document", metavar="JSON", help="The arguments as a JSON object; - reads stdin.")
@click.option("--timeout", type=Seconds(0.001, 86_400), help="Timeout of the call in seconds.")
@click.option(
    "--save",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Save images, audio and files of the result in this folder.",
)
async def command(
    surface: Surface,
    tool: str,
    words: tuple[str, ...],
    document: str | None,
    timeout: float | None,
    save: Path | None,
) -> int:
    """Call TOOL and print its result.

    Values get the types of the tool's schema: numbers, true and false, arrays and objects as JSON; a string
    stays a string. KEY=@FILE passes the text of a file, KEY:=JSON passes JSON unchanged, and a repeated KEY
    makes a list.
    """
    pairs, arguments = read_words(words), read_arguments(document)
    try:
        async with surface.reach() as client:
            result = await client.call(
                tool=tool, words=pairs, arguments=arguments, timeout=timeout, on_event=_show_progress
            )
            if not surface.answer(result):
                _show_result(result, tool, save)
    except UnknownTool as error:
        known = client.running or isinstance(error, ToolChanged)
        raise error if known else _unknown(surface, tool, error) from None
    return TOOL_FAILED if result.get("isError") else 0


def _unknown(surface: Surface, tool: str, error: UnknownTool) -> UnknownTool:
    """Without a host, only servers that the name fits were started: suggest from the stored tool lists.

    They are complete once the host of this command has closed.
    """
    from toolcrib.suggestions import did_you_mean

    known = completion.tool_names(surface.home)
    same = [name for name in known if name.endswith(f"__{tool}")]
    if same:
        return UnknownTool(error.message, hint=f"Did you mean {' or '.join(same[:3])}?")
    return UnknownTool(error.message, hint=did_you_mean(tool, known, otherwise="List them: toolcrib tools"))


def _show_progress(event: CallProgress) -> None:
    if not sys.stderr.isatty():
        return
    total = f" of {event['total']:g}" if event["total"] else ""
    note(f"… {event['progress']:g}{total} {event['message'] or ''}".rstrip())


def _show_result(result: CallResult, tool: str, folder: Path | None) -> None:
    """Print text unchanged and the other parts in a line each; they are saved if a folder is given."""
    save = _saver(tool, folder) if folder is not None else None
    parts = [part for part in result.get("content") or () if isinstance(part, dict)]
    if not parts and "structuredContent" in result:
        say(as_json(result["structuredContent"], indent=2))
    for part in parts:
        say(_shown(part, save))
    if result.get("isError"):
        note("The tool reported an error.")


def _shown(part: Mapping[str, Any], save: Save | None) -> str:
    kind = part.get("type")
    if kind == "text":
        return str(part.get("text", ""))
    if kind in ("image", "audio"):
        return _binary(part.get("data"), str(part.get("mimeType") or kind), save)
    if kind == "resource" and isinstance(part.get("resource"), dict):
        return _resource(part["resource"], save)
    if kind == "resource_link":
        return f"[{part.get('name') or 'link'} {part.get('uri', '')}]"
    return as_json(part)


def _resource(resource: Mapping[str, Any], save: Save | None) -> str:
    if "text" in resource:
        return str(resource["text"])
    shown = _binary(resource.get("blob"), str(resource.get("mimeType") or "application/octet-stream"), save)
    return f"{shown} {resource.get('uri', '')}".rstrip()


def _binary(data: object, mime: str, save: Save | None) -> str:
    from base64 import b64decode
    from binascii import Error

    from toolcrib.cli.times import size

    try:
        content = b64decode(data if isinstance(data, str) else "", validate=True)
    except (Error, ValueError):
        return f"[{mime}, damaged]"
    if save is None:
        return f"[{mime} {size(len(content))}]"
    return f"saved: {save(content, mime)}"


def _saver(tool: str, folder: Path) -> Save:
    """Files are named after the tool, never by the server; existing files are not overwritten."""
    name = "".join(
        letter if (letter.isascii() and letter.isalnum()) or letter in "_-" else "_" for letter in tool
    )

    def save(content: bytes, mime: str) -> Path:
        import mimetypes

        suffix = _SUFFIXES.get(mime) or mimetypes.guess_extension(mime) or ".bin"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            return _write_new(folder, name[:64], suffix, content)
        except OSError as error:
            raise UsageError(f"Nothing can be saved in {folder}: {error.strerror}.") from None

    return save


def _write_new(folder: Path, name: str, suffix: str, content: bytes) -> Path:
    number = 1
    while True:
        path = folder / f"{name}-{number}{suffix}"
        try:
            with path.open("xb") as file:
                file.write(content)
        except FileExistsError:
            number += 1
            continue
        return path
