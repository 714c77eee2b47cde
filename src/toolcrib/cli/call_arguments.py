"""Parses the arguments of a call: `key=value`, `key=@file`, `key:=json`, or one JSON object. Their error
messages, and the size limit of files."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from toolcrib.errors import UsageError

_WORD = re.compile(r"(.*?[^:=]|[^:=])(:=|=)(.*)", re.DOTALL)
_MAX_FILE = 32 * 1024 * 1024


def read_words(words: Iterable[str]) -> list[dict[str, Any]]:
    """The parsed `KEY=VALUE` pairs; texts get their types later, from the schema. Raises `UsageError`."""
    return [_read(word) for word in words]


def read_arguments(document: str | None) -> dict[str, Any]:
    """The object given with `--args`; `-` reads stdin."""
    if document is None:
        return {}
    text = sys.stdin.read() if document == "-" else document
    value = _json("--args", text)
    if not isinstance(value, dict):
        raise UsageError("--args takes a JSON object.", hint="For example --args '{\"a\": 1}'.")
    return value


def _read(word: str) -> dict[str, Any]:
    found = _WORD.fullmatch(word)
    if found is None:
        raise UsageError(f"{word!r} is not KEY=VALUE.", hint="For example a=1 b=2; or --args JSON.")
    key, sign, text = found.groups()
    if sign == ":=":
        return {"key": key, "value": _json(key, text)}
    if text.startswith("@"):
        return {"key": key, "text": _file(key, text[1:])}
    return {"key": key, "text": text}


def _json(key: str, text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise UsageError(f"{key}: this JSON is nested too deeply.") from None
    except ValueError as error:
        raise UsageError(f"{key}: this is not JSON: {error}.", hint="Text needs quotes: '\"…\"'.") from None


def _file(key: str, name: str) -> str:
    from toolcrib.serverkit.bounded_read import read_bounded_text  # most calls have no file

    try:
        if name == "-":
            text = sys.stdin.read(_MAX_FILE + 1)
            if len(text) > _MAX_FILE:
                raise UsageError(f"{key}: the input is larger than {_MAX_FILE // 2**20} MB.")
            return text
        return read_bounded_text(Path(name).expanduser(), _MAX_FILE, pipes=True)
    except OSError as error:
        hint = "For a text that begins with @, write KEY:='\"@…\"'."
        raise UsageError(f"{key}: {name} cannot be read: {error.strerror}.", hint=hint) from None
    except UnicodeDecodeError:
        raise UsageError(f"{key}: {name} is not UTF-8 text.", hint="Pass binary files as base64.") from None
