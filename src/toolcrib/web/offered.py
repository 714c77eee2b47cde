"""Which operations a page may use: all but those whose module says why not, in `NOT_FOR_PAGES`."""

from __future__ import annotations

from toolcrib import plugins
from toolcrib.control.dispatch import OPERATIONS, find_operation
from toolcrib.control.needs import Operation


def is_offered(operation: Operation) -> bool:
    """True unless its module says otherwise."""
    return not getattr(operation, "NOT_FOR_PAGES", "")


def offered_operations() -> dict[str, Operation]:
    """All that are, by name."""
    found = {name: find_operation(name) for name in plugins.names(OPERATIONS)}
    return {name: operation for name, operation in found.items() if is_offered(operation)}
