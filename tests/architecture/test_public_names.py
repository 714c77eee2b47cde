"""What `toolcrib` and `toolcrib.serverkit` offer is listed, sorted, resolves, and is described."""

from __future__ import annotations

import inspect
from types import ModuleType

import pytest

import toolcrib
import toolcrib.serverkit

PACKAGES = [toolcrib, toolcrib.serverkit]
NAMES = [(package, name) for package in PACKAGES for name in package.__all__ if not name.startswith("__")]


@pytest.mark.parametrize("package", PACKAGES)
def test_public_names_are_sorted_and_shown_by_dir(package: ModuleType) -> None:
    assert package.__all__ == sorted(package.__all__)
    assert set(dir(package)) >= set(package.__all__)


@pytest.mark.parametrize(("package", "name"), NAMES)
def test_a_public_name_resolves_and_says_what_it_is(package: ModuleType, name: str) -> None:
    assert inspect.getdoc(getattr(package, name))


@pytest.mark.parametrize("package", PACKAGES)
def test_an_unknown_name_is_an_attribute_error(package: ModuleType) -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        package.no_such_name  # noqa: B018
