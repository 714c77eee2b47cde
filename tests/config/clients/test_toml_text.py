"""TOML is changed in place, statement by statement."""

from __future__ import annotations

import tomllib

import pytest

from toolcrib.config.connecting import toml_text
from toolcrib.errors import ConfigError

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
