"""Finds operations by name and runs them. Only the module of the requested operation is imported."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolcrib import plugins
from toolcrib.errors import NotFound
from toolcrib.operations.index import SUBJECTS
from toolcrib.operations.operation import Invocation, Operation

OPERATIONS = "toolcrib.operations"
"""The folder, and the entry-point group of modules in other packages."""


def find_operation(name: str) -> Operation[..., Any]:
    """Raises `NotFound`."""
    subject = SUBJECTS.get(name)
    modules = [plugins.find(OPERATIONS, subject)] if subject else _other_modules()
    for module in modules:
        found = getattr(module, name, None)
        if isinstance(found, Operation):
            return found
    raise NotFound(f"There is no operation {name[:80]!r}.")


def operations() -> Iterator[Operation[..., Any]]:
    """All operations, sorted by name; imports every module."""
    theirs = {name for module in _other_modules() for name in operations_of(module)}
    return (find_operation(name) for name in sorted({*SUBJECTS, *theirs}))


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


def _other_modules() -> list[Any]:
    return [plugins.find(OPERATIONS, name) for name in plugins.names_elsewhere(OPERATIONS)]
