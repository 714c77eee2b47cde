"""Whatever the package imports directly is declared in `pyproject.toml`, and pinned in the lock."""

from __future__ import annotations

import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[2]
NAME = re.compile(r"[A-Za-z0-9._-]+")


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def declared() -> set[str]:
    """The dependencies and extras of the package."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = (project["dependencies"], *project["optional-dependencies"].values())
    return {normal(NAME.match(one)[0]) for group in groups for one in group}  # type: ignore[index]


def third_party() -> dict[str, str]:
    """The top-level name of every import, also a late one, with a module that imports it."""
    graph = grimp.build_graph("toolcrib", include_external_packages=True, cache_dir=None)
    ours = {*sys.stdlib_module_names, "toolcrib"}
    others = {module for module in graph.modules if module.partition(".")[0] not in ours}
    return {
        module.partition(".")[0]: min(graph.find_modules_that_directly_import(module)) for module in others
    }


def test_every_third_party_import_is_declared() -> None:
    distributions = packages_distributions()
    allowed = declared()

    missing = {
        name: module
        for name, module in third_party().items()
        if not {normal(one) for one in distributions.get(name, [name])} & allowed
    }

    assert missing == {}


def test_every_dependency_is_pinned_in_the_lock() -> None:
    lock = (ROOT / "requirements" / "runtime.txt").read_text(encoding="utf-8")
    pinned = {normal(line.partition("==")[0]) for line in lock.splitlines() if "==" in line}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert {normal(NAME.match(one)[0]) for one in project["dependencies"]} <= pinned  # type: ignore[index]
