"""What `toolcrib workflow` is given: a file or a name, and inputs as `key=value`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from toolcrib.cli import completion
from toolcrib.cli.call_arguments import read_words
from toolcrib.errors import UsageError
from toolcrib.serverkit.bounded_read import read_bounded_text

LARGEST = 16_000_000
workflow_argument = click.argument("name", shell_complete=completion.workflows)
input_option = click.option(
    "--input", "-i", "words", multiple=True, metavar="KEY=VALUE", help="An input; KEY:=JSON, KEY=@FILE."
)


def is_file(source: str) -> bool:
    """Whether it is a path: it ends in `.json`, has a separator, or is there."""
    return source.endswith(".json") or "/" in source or Path(source).is_file()


def read_source(source: str) -> str:
    """The text of a file; raises `UsageError`."""
    try:
        return read_bounded_text(Path(source).expanduser(), LARGEST, pipes=True)
    except OSError as error:
        hint = "Give the path of a workflow file, or the name of a stored workflow."
        raise UsageError(f"{source} cannot be read: {error.strerror}.", hint=hint) from None
    except UnicodeDecodeError:
        raise UsageError(f"{source} is not UTF-8 text.") from None


def run_target(source: str) -> dict[str, Any]:
    """The parameters of an operation for this file or name."""
    return {"text": read_source(source)} if is_file(source) else {"name": source}


def read_inputs(words: Sequence[str]) -> dict[str, Any]:
    """The parameters `inputs` (JSON values) and `texts` (which get their types later)."""
    inputs: dict[str, Any] = {}
    texts: dict[str, str] = {}
    for word in read_words(words):
        if "text" in word:
            texts[word["key"]] = word["text"]
        else:
            inputs[word["key"]] = word["value"]
    return {"inputs": inputs, "texts": texts}


def read_data(text: str | None) -> Any:
    """JSON, or plain text as it is."""
    if text is None:
        return None
    try:
        return json.loads(text)
    except ValueError:
        return text


def write_file(file: Path, text: str) -> None:
    """Raises `UsageError`."""
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}.") from None
