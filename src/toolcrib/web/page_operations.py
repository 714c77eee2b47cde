"""Which operations a page may use: only those whose module declares `FOR_PAGES = True`."""

from __future__ import annotations

from toolcrib import plugins
from toolcrib.control.dispatch import OPERATIONS, find_operation
from toolcrib.control.needs import Operation


def is_offered(operation: Operation) -> bool:
    """True when its module opts in; a new operation is not reachable from a page by default."""
    return getattr(operation, "FOR_PAGES", False) is True


def offered_operations() -> dict[str, Operation]:
    """The operations that pages may use, by name."""
    found = {name: find_operation(name) for name in plugins.names(OPERATIONS)}
    return {name: operation for name, operation in found.items() if is_offered(operation)}
