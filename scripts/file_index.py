"""Writes `docs/files.md`: what each source file is for, in its own first paragraph."""

from __future__ import annotations

import ast
import re
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/files.md"
SOURCES = {
    "src/toolcrib": ("**/*.py", "**/*.toml"),
    "frontend/src": ("**/*.ts", "**/*.tsx", "**/*.css"),
    "tests": ("*.py",),
    "scripts": ("*.py", "*.sh"),
}
LEFT_OUT = re.compile(r"\.test\.|/test_|__pycache__|/static/|/catalog/servers/")
_HASHES = re.compile(r"(?:#!.*\n)?((?:#.*\n)*)")
_STARS = re.compile(r"\s*/\*\*?(.*?)\*/", re.DOTALL)
HEAD = """# Files

What each file is for, as its first lines say; files whose names say it have no sentence. Search this page for
what you want to change; [Architecture](architecture.md) says how the folders fit together. Limits are
constants at the top of the file that applies them. Made from the sources by `make generated`.
"""


def page() -> str:
    sections = [
        section(folder, list(files))
        for source, patterns in SOURCES.items()
        for folder, files in groupby(listed(ROOT / source, patterns), key=lambda file: file.parent)
    ]
    return "\n".join([HEAD, *sections])


def listed(source: Path, patterns: tuple[str, ...]) -> list[Path]:
    found = {file for pattern in patterns for file in source.glob(pattern)}
    kept = [file for file in found if not LEFT_OUT.search(file.relative_to(ROOT).as_posix())]
    return sorted(kept, key=lambda file: (file.parent.parts, file.name))


def section(folder: Path, files: list[Path]) -> str:
    said = {file.name: first_paragraph(file) for file in files}
    own = said.pop("__init__.py", "")
    lines = [f"* `{name}`: {text}" for name, text in said.items() if text]
    if names := [f"`{name}`" for name, text in said.items() if not text]:
        lines.append(f"* {', '.join(names)}")
    return "\n".join([f"## {folder.relative_to(ROOT)}/", "", *([own, ""] if own else []), *lines, ""])


def first_paragraph(file: Path) -> str:
    """What a file says of itself at its top, in one line; empty if it says nothing."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".py":
        said = ast.get_docstring(ast.parse(text)) or ""
    else:
        comment = (_HASHES if file.suffix in (".toml", ".sh") else _STARS).match(text)
        said = re.sub(r"^[ #*]+", "", comment[1], flags=re.MULTILINE) if comment else ""
    return " ".join(said.strip().partition("\n\n")[0].split())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
