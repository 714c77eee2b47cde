from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from toolcrib.tools.names import (
    MAX_DIGEST_LENGTH,
    PREFIX,
    is_native_name,
    other_spelling,
    public_name,
)

VALID_EVERYWHERE = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")

awkward = st.one_of(
    st.text(max_size=20),
    st.text(max_size=400),
    st.text(alphabet="ab_-0", max_size=8),
    st.text(alphabet="_", max_size=5),
    st.sampled_from(
        ["", "a", "a_", "_a", "a__b", "mcp", "mcp__a", "_x", "b__x", "x" * 300, "été", "数学", "a b"]
    ),
    st.from_regex(r"[ab]_[0-9a-f]{10}", fullmatch=True),
)
prefixes = st.sampled_from(["", PREFIX])


@given(server=awkward, tool=awkward, prefix=prefixes)
def test_every_name_is_valid_for_every_vendor(server: str, tool: str, prefix: str) -> None:
    name = public_name(server, tool, prefix=prefix)

    assert VALID_EVERYWHERE.fullmatch(name)
    assert name.startswith(prefix)
    assert "__" in name.removeprefix(prefix)


@given(one=st.tuples(awkward, awkward), other=st.tuples(awkward, awkward), prefix=prefixes)
@example(one=("a__b", "c"), other=("a", "b__c"), prefix="")
@example(one=("a", "_x"), other=("a_", "x"), prefix="")
@example(one=("a", "__x"), other=("a__", "x"), prefix="")
@example(one=("a b", "x"), other=("a_b", "x"), prefix="")
@example(one=("ab", "c"), other=("a", "bc"), prefix="")
@example(one=("", ""), other=("server", "tool"), prefix="")
@example(one=("s", "t" * 300), other=("s", "t" * 299 + "u"), prefix=PREFIX)
def test_two_tools_never_share_a_name(one: tuple[str, str], other: tuple[str, str], prefix: str) -> None:
    assume(one != other)

    assert public_name(*one, prefix=prefix) != public_name(*other, prefix=prefix)


@given(server=awkward, tool=awkward, other=awkward)
def test_a_clean_name_cannot_be_built_to_look_like_a_cut_one(server: str, tool: str, other: str) -> None:
    cut = public_name(server, tool)
    owner, _, rest = cut.partition("__")
    assume((owner, rest) != (server, tool))

    assert public_name(owner, rest) != cut
    assert public_name(other, cut) != cut


@given(server=awkward, tool=awkward)
def test_a_longer_digest_still_makes_a_valid_name(server: str, tool: str) -> None:
    name = public_name(server, tool, prefix=PREFIX, digest_length=MAX_DIGEST_LENGTH)

    assert VALID_EVERYWHERE.fullmatch(name)
    assert "__" in name.removeprefix(PREFIX)


@given(server=awkward, tool=awkward, prefix=prefixes)
def test_no_server_tool_has_a_name_that_a_native_one_may_have(server: str, tool: str, prefix: str) -> None:
    assert not is_native_name(public_name(server, tool, prefix=prefix))


def test_all_short_names_of_letters_and_underscores_are_told_apart() -> None:
    words = ["".join(letters) for size in range(6) for letters in itertools.product("a_", repeat=size)]
    pairs = list(itertools.product(words, words))

    assert len({public_name(server, tool) for server, tool in pairs}) == len(pairs)


@pytest.mark.parametrize(
    ("server", "tool", "name"),
    [
        ("demo", "add", "demo__add"),
        ("git-hub", "create_issue", "git-hub__create_issue"),
        ("a_b", "_x", "a_b___x"),
        ("s", "t" * 61, "s__" + "t" * 61),
    ],
)
def test_an_ordinary_name_is_both_names_joined(server: str, tool: str, name: str) -> None:
    assert public_name(server, tool) == name


def test_an_extraordinary_name_stays_readable_and_fixed() -> None:
    name = public_name("my server", "schöne.Grüße")

    assert name == public_name("my server", "schöne.Grüße")
    assert re.fullmatch(r"my_server__sch_ne_Gr_e_[0-9a-f]{10}", name)


def test_a_prefix_takes_its_room_from_the_name() -> None:
    server, tool = "s", "t" * 61

    prefixed = public_name(server, tool, prefix=PREFIX)

    assert len(prefixed) <= 64
    assert prefixed != PREFIX + public_name(server, tool)


def test_the_other_spelling_adds_or_removes_the_prefix() -> None:
    assert other_spelling("demo__add") == "mcp__demo__add"
    assert other_spelling("mcp__demo__add") == "demo__add"


def test_a_server_called_mcp_does_not_take_over_prefixed_names() -> None:
    assert public_name("mcp", "demo__add") != "mcp__demo__add"


@pytest.mark.parametrize("name", ["read_file", "grep", "a-b", "x"])
def test_plain_words_are_native_names(name: str) -> None:
    assert is_native_name(name)


@pytest.mark.parametrize("name", ["", "demo__add", "_x", "1x", "a b", "x" * 65, "mcp__x", "é"])
def test_what_could_be_mistaken_or_refused_is_no_native_name(name: str) -> None:
    assert not is_native_name(name)
