"""JSON is changed in place, whatever it looks like."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.errors import ConfigError
from toolcrib.features.clients.files import jsonc
from toolcrib.features.clients.files.client import without_entry

TABLE = ("mcpServers",)
ENTRY = {"command": "c", "args": ["a"]}
SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"mcpServers":{}}', '{"mcpServers":{"n": {"command": "c", "args": ["a"]}}}'),
        ('{"mcpServers":{"x":1,}}', '{"mcpServers":{"x":1, "n": {"command": "c", "args": ["a"]},}}'),
        ('{"x":1}', '{"x":1, "mcpServers": {"n": {"command": "c", "args": ["a"]}}}'),
    ],
)
def test_a_line_stays_a_line(before: str, after: str) -> None:
    assert jsonc.set_entries(before, TABLE, {"n": ENTRY}) == after
    assert without_entry(jsonc.read(before), (*TABLE, "n")) == without_entry(jsonc.read(after), (*TABLE, "n"))


def test_a_new_member_follows_the_indentation_of_the_others() -> None:
    before = '{\n\t"mcpServers": {\n\t\t"x": {\n\t\t\t"command": "x"\n\t\t}\n\t}\n}\n'

    after = jsonc.set_entries(before, TABLE, {"n": ENTRY})

    assert after == before.replace(
        "\n\t\t}\n",
        '\n\t\t},\n\t\t"n": {\n\t\t\t"command": "c",\n\t\t\t"args": [\n\t\t\t\t"a"\n\t\t\t]\n\t\t}\n',
    )
    assert jsonc.remove_entry(after, TABLE, "n") == before


def test_comments_stay_with_what_they_speak_of() -> None:
    before = '{\n  "mcpServers": {\n    "x": {} // of x\n    // the end\n  }\n}'

    after = jsonc.set_entries(before, TABLE, {"n": ENTRY})

    assert '"x": {}, // of x\n    // the end\n    "n": {' in after
    assert jsonc.remove_entry(after, TABLE, "n") == before


def test_a_file_of_comments_alone_gets_an_object() -> None:
    after = jsonc.set_entries("// settings\n", TABLE, {"n": ENTRY})

    assert after.startswith("// settings\n{")
    assert jsonc.read(after) == {"mcpServers": {"n": ENTRY}}


def test_only_what_differs_is_touched_in_an_entry_that_is_there() -> None:
    before = (
        '{"mcpServers": {"n": {\n  "command": "old", // mine\n  "args": ["a"],\n  "timeout": 9 // slow\n}}}'
    )

    after = jsonc.set_entries(before, TABLE, {"n": {**ENTRY, "timeout": 9}})

    assert after == before.replace('"old"', '"c"')


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_member_is_taken_from_any_place(place: int) -> None:
    names = ["a", "b", "c"]
    for indent in (None, 2):
        before = json.dumps({"mcpServers": {key: {} for key in names}}, indent=indent)
        after = jsonc.remove_entry(before, TABLE, names[place])
        assert json.loads(after) == {"mcpServers": {key: {} for key in set(names) - {names[place]}}}
        assert after.count("\n") == before.count("\n") - (1 if indent else 0)


@pytest.mark.parametrize(
    "text", ['{"mcpServers": null}', "[]", '{"mcpServers": {}', '{"a": 1} {"b": 2}', "{a: 1}"]
)
def test_what_is_no_object_of_objects_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        jsonc.set_entries(text, TABLE, {"n": ENTRY})


@given(
    others=st.dictionaries(st.text(max_size=4).filter(lambda key: key != "mcpServers"), VALUES, max_size=4),
    servers=st.none()
    | st.dictionaries(st.text(max_size=4).filter(lambda key: key != "n"), VALUES, max_size=3),
    indent=st.sampled_from([None, 0, 2, "\t"]),
)
def test_whatever_the_document_only_the_entry_comes_and_goes(
    others: dict[str, Any], servers: dict[str, Any] | None, indent: int | str | None
) -> None:
    data = {**others, **({} if servers is None else {"mcpServers": servers})}
    before = json.dumps(data, indent=indent)

    after = jsonc.set_entries(before, TABLE, {"n": ENTRY})

    assert json.loads(after) == {**data, "mcpServers": {**(servers or {}), "n": ENTRY}}
    assert json.loads(jsonc.remove_entry(after, TABLE, "n")) == {**data, "mcpServers": servers or {}}
    if servers:
        assert jsonc.remove_entry(after, TABLE, "n") == before
