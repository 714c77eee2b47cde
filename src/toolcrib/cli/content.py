"""Shows a tool's result: text as it is, the rest in a line each, or saved as files."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from toolcrib.cli.output import as_json, note, say
from toolcrib.cli.times import size
from toolcrib.errors import UsageError

_ENDINGS = {"image/jpeg": ".jpg", "audio/wav": ".wav", "text/plain": ".txt", "application/json": ".json"}
"""Where the table of the system has an odd favourite, or none."""


def show_result(result: dict[str, Any], tool: str, folder: Path | None = None) -> None:
    """Print every part of a result; `folder` is where binary parts are saved."""
    save = _saver(tool, folder) if folder is not None else None
    parts = [part for part in result.get("content") or () if isinstance(part, dict)]
    if not parts and "structuredContent" in result:
        say(as_json(result["structuredContent"], indent=2))
    for part in parts:
        say(_shown(part, save))
    if result.get("isError"):
        note("The tool reported an error.")


Save = Callable[[bytes, str], Path]


def _shown(part: dict[str, Any], save: Save | None) -> str:
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


def _resource(resource: dict[str, Any], save: Save | None) -> str:
    if "text" in resource:
        return str(resource["text"])
    shown = _binary(resource.get("blob"), str(resource.get("mimeType") or "application/octet-stream"), save)
    return f"{shown} {resource.get('uri', '')}".rstrip()


def _binary(data: object, mime: str, save: Save | None) -> str:
    try:
        content = base64.b64decode(data if isinstance(data, str) else "", validate=True)
    except (binascii.Error, ValueError):
        return f"[{mime}, damaged]"
    if save is None:
        return f"[{mime} {size(len(content))}]"
    return f"saved: {save(content, mime)}"


def _saver(tool: str, folder: Path) -> Save:
    """Names are ours, never the server's; a file that is there already is never touched."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", tool)[:64]

    def save(content: bytes, mime: str) -> Path:
        import mimetypes

        ending = _ENDINGS.get(mime) or mimetypes.guess_extension(mime) or ".bin"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            return _write_new(folder, plain, ending, content)
        except OSError as error:
            raise UsageError(f"Nothing can be saved in {folder}: {error.strerror}.") from None

    return save


def _write_new(folder: Path, name: str, ending: str, content: bytes) -> Path:
    number = 1
    while True:
        path = folder / f"{name}-{number}{ending}"
        try:
            with path.open("xb") as file:
                file.write(content)
        except FileExistsError:
            number += 1
            continue
        return path
