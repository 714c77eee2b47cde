"""Whatever the package imports directly is declared in `pyproject.toml`, and pinned in the lock."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAME = re.compile(r"[A-Za-z0-9._-]+")


def imported() -> Iterator[tuple[str, Path]]:
    """The top-level name of every absolute import, with the file it is in."""
    for file in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                yield from ((alias.name.partition(".")[0], file) for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield node.module.partition(".")[0], file


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def declared() -> set[str]:
    """The dependencies and extras of the package."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = (project["dependencies"], *project["optional-dependencies"].values())
    return {normal(NAME.match(one)[0]) for group in groups for one in group}  # type: ignore[index]


def third_party() -> dict[str, Path]:
    ours = {*sys.stdlib_module_names, "toolcrib"}
    return {name: file for name, file in imported() if name not in ours}


def test_every_third_party_import_is_declared() -> None:
    distributions = packages_distributions()
    allowed = declared()

    missing = {
        name: str(file.relative_to(ROOT))
        for name, file in third_party().items()
        if not {normal(one) for one in distributions.get(name, [name])} & allowed
    }

    assert missing == {}


def test_every_dependency_is_pinned_in_the_lock() -> None:
    lock = (ROOT / "requirements" / "runtime.txt").read_text(encoding="utf-8")
    pinned = {normal(line.partition("==")[0]) for line in lock.splitlines() if "==" in line}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert {normal(NAME.match(one)[0]) for one in project["dependencies"]} <= pinned  # type: ignore[index]
