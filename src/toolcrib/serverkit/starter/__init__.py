"""Creates the files of a new server from templates (`toolcrib new`): which names are allowed, and errors if
the folder exists."""

from __future__ import annotations

import re
from pathlib import Path
from string import Template

from toolcrib.errors import UsageError

FILES = Path(__file__).parent / "files"
SUFFIX = ".template"
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,49}")


def lay_down(folder: Path, name: str) -> list[Path]:
    """Make the folder with its files and return them; raises `UsageError` and never writes over anything."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name[:60]!r} cannot be the name of a new server.",
            hint="Start with a lowercase letter; use lowercase letters, digits, - and _.",
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} already exists.", hint="Choose another name, or another folder.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return [_write(template, folder, name) for template in sorted(FILES.glob(f"*{SUFFIX}"))]
    except OSError as error:
        raise UsageError(f"{folder} cannot be made: {error.strerror}.") from error


def _write(template: Path, folder: Path, name: str) -> Path:
    file = folder / template.name.removesuffix(SUFFIX)
    text = Template(template.read_text(encoding="utf-8"))
    file.write_text(text.substitute(name=name), encoding="utf-8")
    return file
