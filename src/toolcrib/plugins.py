"""Finds extensions: the modules of one of our folders, and other packages' entry points.

`find("toolcrib.servers.transports", "http")` imports only that module. An installed package may add one under
the entry-point group of the same name; it cannot replace a built-in.
"""

from __future__ import annotations

import importlib
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

from toolcrib.errors import NotFound

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints


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
    for entry in _offered(folder).select(name=name):
        module = entry.load()
        if isinstance(module, ModuleType):
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


def _offered(folder: str) -> EntryPoints:
    found: EntryPoints = _entry_points().select(group=folder)
    return found


@cache
def _entry_points() -> Any:
    """Those of all installed packages: reading them takes 10 ms and more, for one group as for all."""
    from importlib.metadata import entry_points  # Slow to import, and not needed for our own modules.

    return entry_points()
