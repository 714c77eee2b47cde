"""The list that ships with the package is complete, consistent, and answers to the words people use."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from toolcrib import plugins
from toolcrib.catalog.listing import CatalogEntry, by_name, search, servers
from toolcrib.config.entries import check_name
from toolcrib.config.paste.parser import understand
from toolcrib.config.paste.pasted import Install

REFERENCE = {"everything", "filesystem", "memory", "sequential-thinking", "fetch", "git", "time"}


def test_the_reference_servers_are_there() -> None:
    assert {one.name for one in servers() if one.origin == "official"} == REFERENCE


@pytest.mark.parametrize("one", servers(), ids=lambda one: one.name)
def test_a_listed_server_says_what_it_is_for_and_how_to_have_it(one: CatalogEntry) -> None:
    check_name(one.name)
    assert one.about.endswith(".")
    assert one.words
    if one.origin == "bundled":
        assert one.setting or find_spec(one.module) is not None
        assert set(one.accounts) <= set(plugins.names("toolcrib.features.accounts.providers"))
        return
    assert one.origin in ("official", "well-known")
    assert one.reference or one.url.startswith("https://")
    if one.reference:
        found = understand([one.reference], Path("/nowhere"))
        assert isinstance(found, Install)
        assert found.reference == one.reference


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("git", "git"),
        ("read files in a folder", "filesystem"),
        ("web search", "brave-search"),
        ("browser", "playwright"),
        ("SQL database postgres", "postgres"),
        ("jira tickets", "atlassian"),
        ("remember", "memory"),
        ("time zones", "time"),
    ],
)
def test_the_words_people_use_find_it(question: str, expected: str) -> None:
    assert expected in [one.name for one in search(question)[:3]]


def test_a_question_that_fits_nothing_finds_nothing() -> None:
    assert search("xylophone") == []
    assert len(search("")) == len(servers())


def test_a_server_goes_by_its_name_and_by_its_package() -> None:
    assert by_name("time") is by_name("mcp-server-time") is not None
    assert by_name("left-pad") is None
