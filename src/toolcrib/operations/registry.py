"""Finds operations by name and runs them. Only the module of the requested operation is imported."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import cache
from typing import Any

from toolcrib import plugins
from toolcrib.errors import NotFound
from toolcrib.feature import FEATURES, features, missing
from toolcrib.operations.index import SUBJECTS
from toolcrib.operations.operation import Invocation, Operation

OPERATIONS = "toolcrib.operations"
"""The folder, and the entry-point group of modules in other packages."""


@cache
def find_operation(name: str) -> Operation[..., Any]:
    """Raises `NotFound`, or `FeatureMissing` if it belongs to a feature that is not installed."""
    subject = SUBJECTS.get(name)
    feature = feature_of(subject) if subject else ""
    if feature and feature not in plugins.names(FEATURES):
        raise missing(feature)
    for module in [importlib.import_module(subject)] if subject else _other_modules():
        found = getattr(module, name, None)
        if isinstance(found, Operation):
            return found
    raise NotFound(f"There is no operation {name[:80]!r}.")


def operations() -> Iterator[Operation[..., Any]]:
    """All installed operations, sorted by name; imports every module."""
    installed = ("", *plugins.names(FEATURES))
    ours = {name for name, module in SUBJECTS.items() if feature_of(module) in installed}
    theirs = {name for module in _other_modules() for name in operations_of(module)}
    return (find_operation(name) for name in sorted({*ours, *theirs}))


def operations_of(module: Any) -> list[str]:
    """The operations that a module declares."""
    declared = vars(module).items()
    return [
        name
        for name, value in declared
        if isinstance(value, Operation) and value.function.__module__ == module.__name__
    ]


async def perform(host: Any, name: str, params: object, invocation: Invocation[Any]) -> Any:
    operation = find_operation(name)
    return await operation.run(host, operation.read(params), invocation)


def feature_of(module: str) -> str:
    """The feature of ours that a module belongs to; empty for a module of the kernel."""
    return module.removeprefix(f"{FEATURES}.").partition(".")[0] if module.startswith(f"{FEATURES}.") else ""


def _other_modules() -> list[Any]:
    found = [plugins.find(OPERATIONS, name) for name in plugins.names_elsewhere(OPERATIONS)]
    elsewhere = plugins.names_elsewhere(FEATURES)
    theirs = [feature for feature in features() if feature.name in elsewhere] if elsewhere else []
    return [*found, *(feature.module(name) for feature in theirs for name in feature.operations)]
