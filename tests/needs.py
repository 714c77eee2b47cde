"""Decides which tests `make acceptance` runs: those that need a program beside Python, or a quiet machine."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import cache
from types import CodeType, FunctionType

import pytest

FIXTURES = frozenset({"_chromium", "_needs_bubblewrap", "browser", "dovecot", "postgres", "shared_display"})
"""Fixtures that need a browser, a sandbox, a mail server, a database or a display."""
FUNCTIONS = frozenset(
    {
        "HeadlessDisplay",
        "check_bundle",
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
QUIET = frozenset({"LoopMeter"})
"""What measures the processor time of this process, in which nothing else may happen."""
PARAMETERS = frozenset({"bubblewrap", "npm", "postgres"})
"""Values of parameters that stand for a program."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if not isinstance(item, pytest.Function) or item.get_closest_marker("soak"):
            continue
        if needs_a_program(item):
            item.add_marker("acceptance")
        if item.get_closest_marker("quiet") or _uses(item.function, QUIET):
            item.add_marker("acceptance")
            item.add_marker("quiet")


def needs_a_program(item: pytest.Function) -> bool:
    if item.get_closest_marker("as_root") or not FIXTURES.isdisjoint(item.fixturenames):
        return True
    parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
    if any(isinstance(value, str) and value in PARAMETERS for value in parameters):
        return True
    fixtures = item._fixtureinfo.name2fixturedefs.values()
    functions = (item.function, *(definitions[-1].func for definitions in fixtures))
    return any(_uses(used, FUNCTIONS) for used in functions)


@cache
def _uses(function: object, names: frozenset[str]) -> bool:
    """Whether a function has one of these names, in itself or in a function of the tests that it calls."""
    seen: set[object] = set()
    left = [function]
    while left:
        found = left.pop()
        found = inspect.unwrap(found) if callable(found) else found
        if not isinstance(found, FunctionType) or found in seen or not found.__module__.startswith("test"):
            continue
        seen.add(found)
        used = set(_names(found.__code__))
        if not names.isdisjoint(used):
            return True
        left.extend(found.__globals__[name] for name in used if name in found.__globals__)
    return False


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _names(part)
