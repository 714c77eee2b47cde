"""Decides which tests `make acceptance` runs: those that need a program that does not come with Python."""

from __future__ import annotations

from functools import cache
from types import CodeType, FunctionType

import pytest

FIXTURES = frozenset({"_chromium", "_needs_bubblewrap", "browser", "dovecot", "postgres", "shared_display"})
"""Fixtures that need a browser, a sandbox, a mail server, a database or a display."""
FUNCTIONS = frozenset(
    {
        "HeadlessDisplay",
        "find_browser",
        "find_node",
        "git",
        "google_emulator",
        "install_tree",
        "npm_package",
        "npm_tarball",
        "on_small_disk",
        "probing",
        "running_dovecot",
        "running_postgres",
        "tracked_texts",
    }
)
"""Functions that start a program or use npm; a test or fixture that names one of them needs it too."""
PARAMETERS = frozenset({"bubblewrap", "npm", "postgres"})
"""Values of parameters that stand for a program."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if isinstance(item, pytest.Function) and needs_a_program(item):
            item.add_marker("acceptance")


def needs_a_program(item: pytest.Function) -> bool:
    if item.get_closest_marker("as_root") or not FIXTURES.isdisjoint(item.fixturenames):
        return True
    parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
    if any(isinstance(value, str) and value in PARAMETERS for value in parameters):
        return True
    fixtures = item._fixtureinfo.name2fixturedefs.values()
    functions = (item.function, *(definitions[-1].func for definitions in fixtures))
    return any(
        _uses_a_program(function.__code__) for function in functions if isinstance(function, FunctionType)
    )


@cache
def _uses_a_program(code: CodeType) -> bool:
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return not FUNCTIONS.isdisjoint(code.co_names) or any(map(_uses_a_program, inner))
