"""What a feature brings, declared by its `feature.py`: nothing else of it is imported before it is used. Has
the error for a feature that is not installed.

A feature is a folder of `toolcrib/features`, or a module of another package under the entry-point group
`toolcrib.features`. The rest of the program knows features only by this declaration.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from toolcrib import plugins
from toolcrib.errors import FeatureMissing, NotFound

FEATURES = "toolcrib.features"
"""The folder, and the entry-point group of other packages."""
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """Modules are named relative to `package`; a function of one is written `module:function`."""

    name: str
    title: str
    package: str
    docs: str
    """The page in `docs/` that describes it, without `.md`."""
    operations: tuple[str, ...] = ()
    """Modules with functions that are operations."""
    results: tuple[str, ...] = ()
    """Modules whose named literals and unions become types of the page."""
    commands: Mapping[str, str] = field(default_factory=dict)
    """The module of each command, which offers `command`."""
    service: str = ""
    """`(host) -> service`, opened on first use as `host.NAME`; its `close()` is awaited with the host."""
    open: str = ""
    """`(host)`, an async context manager that is entered when a host opens."""
    background: str = ""
    """`(host)`, an async context manager that is entered by hosts that keep running."""
    checks: tuple[str, ...] = ()
    """Modules with a check of the doctor."""
    waiting: str = ""
    """`async (host)`, lists what waits for the user; called once its service is open."""
    tables: str = ""
    """The module of its database tables, which offers `TABLES` (`store/tables.py`)."""
    settings: str = ""
    """The `Section` of its settings, under its name in the config file."""
    routes: str = ""
    """The module of its addresses beside the page's own (`web/feature_routes.py`)."""
    backup: str = ""
    """The module of what backups save of it.

    It offers `PARTS` (`config/backup_parts.py`); `clean(key, connection)`, called with each unpacked database
    before it is restored; and `distrust(folder, paths)` for a backup of another home."""

    def module(self, name: str) -> Any:
        """Import one of its modules."""
        return importlib.import_module(f"{self.package}.{name}")

    def function(self, name: str) -> Any:
        """Import `module:function`."""
        module, _, function = name.partition(":")
        return getattr(importlib.import_module(f"{self.package}.{module}"), function)


@cache
def features() -> tuple[Feature, ...]:
    """All installed features by name; one of another package that cannot be imported is left out."""
    found = (_declared(name) for name in plugins.names(FEATURES))
    return tuple(feature for feature in found if feature is not None)


def find_feature(name: str) -> Feature:
    """Raises `FeatureMissing`."""
    for feature in features():
        if feature.name == name:
            return feature
    raise missing(name)


def missing(name: str) -> FeatureMissing:
    """The error that surfaces show when something of a feature is used that is not installed."""
    return FeatureMissing(
        f"The feature {name} is not installed.",
        hint="This copy of Toolcrib was made without it; install the complete package.",
    )


def _declared(name: str) -> Feature | None:
    if name not in plugins.names_elsewhere(FEATURES):
        feature: Feature = importlib.import_module(f"{FEATURES}.{name}.feature").FEATURE
        return feature
    try:
        declared = plugins.find(FEATURES, name).FEATURE
    except (ImportError, AttributeError, NotFound):
        logger.exception("feature of another package cannot be imported", extra={"feature": name})
        return None
    return declared if isinstance(declared, Feature) else None
