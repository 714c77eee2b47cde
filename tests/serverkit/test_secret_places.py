"""Which paths lead to private data, with wildcards and without."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.serverkit.secret_places import BEGINNINGS, NAMES, PLACES, could_match, is_secret, part
from toolcrib.serverkit.secret_places import is_secret_path as private

_EXAMPLES = [pattern.replace("*", "x").replace("?", "y") for pattern in NAMES]


def secret(path: str, *, hidden: bool = False) -> bool:
    return is_secret([part(name) for name in path.split("/")], root="none", hidden=hidden)


@pytest.mark.parametrize("name", [*_EXAMPLES, *BEGINNINGS, *(f"{name}_old" for name in BEGINNINGS)])
def test_every_name_on_the_list_is_found_anywhere_and_in_any_case(name: str) -> None:
    assert secret(name)
    assert secret(f"a/{name.upper()}/b")


@pytest.mark.parametrize("place", [place.replace("*", "1").replace("?", " ") for place in PLACES])
def test_every_place_on_the_list_is_found_with_all_that_is_in_it(place: str) -> None:
    assert secret(place)
    assert secret(f"x/{place}/y")
    assert private(f"/home/ada/{place}/y")


@pytest.mark.parametrize(
    "path",
    [
        *("README.md", "src/*.py", "*.md", "*.txt", "*.tar.gz", ".gitignore", ".github/*.py", ".env.example"),
        *("environment.py", "src/environ", "keys.py", "id.txt", "*/package.json", "proc/notes", "config/gh"),
    ],
)
def test_ordinary_files_are_not_private(path: str) -> None:
    assert not secret(path)


def test_a_wildcard_at_the_beginning_stands_for_a_dot_only_outside_of_a_shell() -> None:
    assert not secret("*env.x")
    assert secret("*env.x", hidden=True)


def test_the_folder_that_the_user_works_in_is_not_held_against_it() -> None:
    assert private("/home/ada/.claude/work/notes.md")
    assert not private("/home/ada/.claude/work/notes.md", below=4)
    assert private("/home/ada/.config/gh/hosts.yml", below=3), "only a part of the place is above"


@given(
    pattern=st.text(alphabet="*?.envsihdra_pmk", min_size=1, max_size=8),
    name=st.sampled_from([*_EXAMPLES, *BEGINNINGS]),
)
def test_no_pattern_that_matches_a_private_name_is_missed(pattern: str, name: str) -> None:
    if fnmatchcase(name, pattern):
        assert could_match(part(pattern), part(name), hidden=True)
        assert secret(pattern, hidden=True)
