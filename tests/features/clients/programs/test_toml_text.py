"""TOML is changed in place, and in the entry alone."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.errors import ConfigError
from toolcrib.features.clients.files import toml_text

TABLE = ("mcp_servers",)
ENTRY = {"command": "c", "args": ["a", 'b"\\'], "http_headers": {"Authorization": "Bearer x"}}


def test_an_entry_goes_to_the_end_and_reads_as_given() -> None:
    after = toml_text.set_entries('model = "m"', TABLE, {"n": ENTRY})

    assert after.startswith('model = "m"\n\n[mcp_servers.n]\n')
    assert tomllib.loads(after) == {"model": "m", "mcp_servers": {"n": ENTRY}}


def test_comments_and_keys_of_the_person_survive_a_change() -> None:
    before = """[mcp_servers.n] # the crib
# how it starts
command = "old"
args = [
  "a", # first
  "z",
]
enabled_tools = ["x"] # few

[mcp_servers.n.tools.x]
approval_mode = "approve"

# others
[mcp_servers.z]
command = "z"
"""
    old = tomllib.loads(before)["mcp_servers"]["n"]
    after = toml_text.set_entries(before, TABLE, {"n": {**old, "command": "c", "args": ["b"]}})

    assert tomllib.loads(after)["mcp_servers"]["n"] == {**old, "command": "c", "args": ["b"]}
    for kept in ("# the crib", "# how it starts", 'enabled_tools = ["x"] # few', "[mcp_servers.n.tools.x]"):
        assert kept in after
    assert after.endswith('# others\n[mcp_servers.z]\ncommand = "z"\n')


def test_a_removal_takes_the_tables_below_and_leaves_the_next_comment() -> None:
    before = 'a = 1\n\n[mcp_servers."n"]\ncommand = "c"\n[mcp_servers.n.env]\nK = "v"\n\n# next\n[z]\nb = 2\n'

    assert toml_text.remove_entry(before, TABLE, "n") == "a = 1\n\n# next\n[z]\nb = 2\n"


def test_a_header_kept_in_a_table_of_its_own_goes_when_it_is_no_longer_wanted() -> None:
    before = '[mcp_servers.n]\nurl = "u"\n[mcp_servers.n.http_headers]\nAuthorization = "Bearer old"\n'

    after = toml_text.set_entries(before, TABLE, {"n": {"command": "c", "args": []}})

    assert tomllib.loads(after) == {"mcp_servers": {"n": {"command": "c", "args": []}}}
    assert "old" not in after


@pytest.mark.parametrize(
    "text",
    [
        "a = ",
        "mcp_servers.n.command = 'old'\n",
        "[mcp_servers]\nn = { command = 'old' }\n",
        "mcp_servers = 3\n",
    ],
)
def test_what_is_not_a_table_of_its_own_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        toml_text.set_entries(text, TABLE, {"n": {"command": "c"}})


ODD = """# top
model   =   'm'   # aligned
list = [ 1,2,   # two
  3 ]
when = 2024-01-01T00:00:00Z
text = \"\"\"
[mcp_servers.n]
command = "not a table"
\"\"\"

[mcp_servers.first]
  command = 'f'   # indented

# before n
[ mcp_servers . "n" ]   # ours
# about the command
command   =   'old'   # mine
args = [
  "a", # first
]
cwd = '/x'

[mcp_servers.n.env]
K = 'v'

# before other
[other]
a.b.c   = 1

[[list_of]]
x = 1

[mcp_servers.n.tools.x]
mode = "approve"

# before last
[mcp_servers.last]
command = "l"
# end
"""


def test_an_odd_file_changes_in_the_values_that_differ_alone() -> None:
    old = toml_text.read(ODD)["mcp_servers"]["n"]

    after = toml_text.set_entries(ODD, TABLE, {"n": {**old, "command": "c", "args": ["b"], "url": "u"}})

    expected = ODD.replace("command   =   'old'", 'command   =   "c"').replace(
        '[\n  "a", # first\n]', '["b"]'
    )
    assert after == expected.replace("cwd = '/x'\n", "cwd = '/x'\nurl = \"u\"\n")


def test_a_table_below_an_entry_becomes_a_value_and_the_next_comment_stays() -> None:
    old = toml_text.read(ODD)["mcp_servers"]["n"]

    after = toml_text.set_entries(ODD, TABLE, {"n": {**old, "env": {"K": "w"}}})

    expected = ODD.replace("cwd = '/x'\n", "cwd = '/x'\nenv = {K = \"w\"}\n")
    assert after == expected.replace("\n[mcp_servers.n.env]\nK = 'v'\n", "")


def test_every_part_of_an_entry_is_removed_and_nothing_else() -> None:
    start, end = ODD.index("[ mcp_servers"), ODD.index("\n# before other")
    expected = (ODD[:start] + ODD[end:]).replace('\n[mcp_servers.n.tools.x]\nmode = "approve"\n', "")

    assert toml_text.remove_entry(ODD, TABLE, "n") == expected


def test_an_entry_comes_into_an_odd_file_and_goes_again() -> None:
    after = toml_text.set_entries(ODD, TABLE, {"new": ENTRY})

    assert tomllib.loads(after)["mcp_servers"]["new"] == ENTRY
    assert toml_text.remove_entry(after, TABLE, "new") == ODD


@pytest.mark.parametrize(
    "before",
    [
        "[mcp_servers.n]\nenv.K = 'v'\ncommand = 'x'\nenv.L = 2\n\n# z\n[z]\n",
        "[mcp_servers.n]\nenv = { K = 'v' } # env\n\n# z\n[z]\n",
        "[mcp_servers.n.env]\nK = 'v'\n\n[mcp_servers.n]\n\n# z\n[z]\n",
        "[mcp_servers.n]\n[[mcp_servers.n.env]]\nK = 'v'\n\n# z\n[z]\n",
    ],
)
def test_a_table_within_an_entry_is_replaced_however_it_is_written(before: str) -> None:
    entry = {"command": "c", "env": {"K": "w"}}

    after = toml_text.set_entries(before, TABLE, {"n": entry})

    assert tomllib.loads(after) == {"mcp_servers": {"n": entry}, "z": {}}
    assert after.count("# env") == before.count("# env")
    assert after.endswith("\n\n# z\n[z]\n")


def test_tables_around_a_removed_one_get_no_empty_lines() -> None:
    before = (
        "[a]\n[mcp_servers.n]\nx = 1\n[b]\n[mcp_servers.m]\n[[mcp_servers.n.y]]\nz = 1\n[mcp_servers.o]\n"
    )

    after = toml_text.remove_entry(before, TABLE, "n")

    assert after == "[a]\n[b]\n[mcp_servers.m]\n[mcp_servers.o]\n"


def test_a_value_that_toml_does_not_have_is_refused() -> None:
    with pytest.raises(ConfigError):
        toml_text.set_entries("", TABLE, {"n": {"command": None}})


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(ConfigError):
        toml_text.read(f"a = {'[' * 5000}")


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES = st.recursive(
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
)
ENTRIES = st.dictionaries(TEXTS, VALUES, max_size=4)


@given(first=ENTRIES, second=ENTRIES, name=TEXTS.filter(lambda name: name != "x"))
def test_whatever_the_entry_it_is_read_as_written(first: Any, second: Any, name: str) -> None:
    before = "a = 1 # one\n\n[mcp_servers.x]\nb = 'c'\n\n# end\n[z]\n"
    written = toml_text.set_entries(before, TABLE, {name: first})
    changed = toml_text.set_entries(written, TABLE, {name: second})

    assert tomllib.loads(written)["mcp_servers"] == {"x": {"b": "c"}, name: first}
    assert tomllib.loads(changed)["mcp_servers"] == {"x": {"b": "c"}, name: second}
    assert toml_text.remove_entry(changed, TABLE, name) == before
