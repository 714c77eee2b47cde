"""Finds extensions: the modules of a folder of ours, and what other packages offer as entry points.

A folder is the list: `find("toolcrib.servers.transports", "http")` imports only that one module, and an
installed package may add one under the entry-point group of the same name. Ours win, so that no package can
take the place of a built-in.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING

from toolcrib.errors import NotFound

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints


@cache
def names(folder: str) -> tuple[str, ...]:
    """The names of all extensions of this kind, sorted; nothing is imported but the folder's package."""
    theirs = {entry.name for entry in _offered(folder)}
    return tuple(sorted(_ours(folder) | theirs))


def find(folder: str, name: str) -> ModuleType:
    """The extension module called `name`; raises `NotFound` with the known names."""
    if name in _ours(folder):
        return importlib.import_module(f"{folder}.{name}")
    for entry in _offered(folder).select(name=name):
        module = entry.load()
        if isinstance(module, ModuleType):
            return module
    kind = folder.rpartition(".")[2]
    raise NotFound(f"There is no {name!r} among {kind}.", hint=f"Known: {', '.join(names(folder))}.")


def _ours(folder: str) -> set[str]:
    """The modules of the folder; those that begin with an underscore are parts of others."""
    package = importlib.import_module(folder)
    return {
        module.name for module in pkgutil.iter_modules(package.__path__) if not module.name.startswith("_")
    }


def _offered(folder: str) -> EntryPoints:
    # Ours are found without it, and it takes a while to load.
    from importlib.metadata import entry_points

    return entry_points(group=folder)
