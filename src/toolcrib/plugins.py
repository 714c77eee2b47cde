"""Finds extensions: the modules of one of our folders, and other packages' entry points. Has the error for an
unknown name.

`find("toolcrib.servers.transports", "http")` imports only that module. An installed package may add one under
the entry-point group of the same name; it cannot replace a built-in.
"""

from __future__ import annotations

import importlib
import os
import sys
from functools import cache
from importlib.machinery import PathFinder
from types import ModuleType
from typing import TYPE_CHECKING, Any

from toolcrib.errors import NotFound

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_METADATA = (".dist-info", ".egg-info", ".egg")


@cache
def names(folder: str) -> tuple[str, ...]:
    """The names of all extensions of this kind, sorted; nothing is imported but the folder's package."""
    return tuple(sorted({*_ours(folder), *names_elsewhere(folder)}))


@cache
def names_elsewhere(folder: str) -> tuple[str, ...]:
    """The names that only other packages offer."""
    return tuple(sorted({entry.name for entry in _offered(folder)} - _ours(folder)))


@cache
def find(folder: str, name: str) -> ModuleType:
    """The extension module called `name`; raises `NotFound` with the known names."""
    if name in _ours(folder):
        return importlib.import_module(f"{folder}.{name}")
    for entry in _offered(folder):
        if entry.name == name and isinstance(module := entry.load(), ModuleType):
            return module
    kind = folder.rpartition(".")[2]
    raise NotFound(f"There is no {name!r} in {kind}.", hint=f"Known: {', '.join(names(folder))}.")


def _ours(folder: str) -> set[str]:
    """The modules of the folder, except private ones (`_name`) and `engine`, which the others share."""
    import pkgutil  # most commands look for nothing

    try:
        package = importlib.import_module(folder)
    except ModuleNotFoundError as error:
        if error.name and folder.startswith(error.name):
            return set()  # It belongs to a feature that is not installed.
        raise
    found = (module.name for module in pkgutil.iter_modules(package.__path__))
    return {name for name in found if not name.startswith("_") and name != "engine"}


def _offered(folder: str) -> tuple[EntryPoint, ...]:
    installed = _entry_points()
    return tuple(installed.select(group=folder)) if installed else ()


@cache
def _entry_points() -> Any:
    """Those of all installed packages; None if there is none for us: `importlib.metadata` costs 30 ms."""
    if not any(_may_find(finder) for finder in sys.meta_path):
        return None
    from importlib.metadata import entry_points

    return entry_points()


def _may_find(finder: object) -> bool:
    if finder is not PathFinder:
        return hasattr(finder, "find_distributions")
    return any(_may_offer(folder or os.curdir) for folder in sys.path)


def _may_offer(folder: str) -> bool:
    """Whether a package installed in a folder of `sys.path` has entry points in one of our groups."""
    try:
        with os.scandir(folder) as entries:
            installed = [entry.path for entry in entries if entry.name.endswith(_METADATA)]
    except NotADirectoryError:
        return True  # an archive: `importlib.metadata` reads it
    except OSError:
        return False
    return any(path.endswith(".egg") or _has_group(f"{path}/entry_points.txt") for path in installed)


def _has_group(entry_points: str) -> bool:
    try:
        with open(entry_points, "rb") as file:  # noqa: PTH123 - half the time of a Path, in every command
            return b"[toolcrib." in file.read()
    except OSError:
        return False
