"""What `toolcrib` offers is listed, sorted, resolves, and is described."""

from __future__ import annotations

import inspect

import pytest

import toolcrib


def test_public_names_are_sorted_and_shown_by_dir() -> None:
    assert toolcrib.__all__ == sorted(toolcrib.__all__)
    assert set(dir(toolcrib)) >= set(toolcrib.__all__)


@pytest.mark.parametrize("name", [name for name in toolcrib.__all__ if not name.startswith("__")])
def test_a_public_name_resolves_and_says_what_it_is(name: str) -> None:
    assert inspect.getdoc(getattr(toolcrib, name))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        toolcrib.no_such_name  # noqa: B018
