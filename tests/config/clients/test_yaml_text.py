"""YAML is changed by whole lines, or not at all."""

from __future__ import annotations

from typing import Any

import pytest

from toolcrib.config.connecting import yaml_text
from toolcrib.config.connecting.yaml_reading import Unreadable, read_block, read_inline
from toolcrib.errors import ConfigError

TABLE = ("extensions",)
ENTRY = {"enabled": True, "cmd": "/a b/c", "args": ["serve", "--stdio"], "timeout": 300}
LINES = '  n:\n    enabled: true\n    cmd: "/a b/c"\n    args: ["serve", "--stdio"]\n    timeout: 300\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", f"extensions:\n{LINES}"),
        ("a: 1", f"a: 1\nextensions:\n{LINES}"),
        ("extensions: {} # none\nb: 2\n", f"extensions: # none\n{LINES}b: 2\n"),
        ("extensions:\n", f"extensions:\n{LINES}"),
        ("extensions: null", f"extensions:\n{LINES}"),
        (
            "---\nextensions:\n  x: {a: 1}\n\n# b\nb: 2",
            f"---\nextensions:\n  x: {{a: 1}}\n{LINES}\n# b\nb: 2",
        ),
        ("extensions:\n  x:\n    a: |\n      # t\n", f"extensions:\n  x:\n    a: |\n      # t\n{LINES}"),
    ],
)
def test_an_entry_is_the_last_of_its_section(before: str, after: str) -> None:
    assert yaml_text.set_entries(before, TABLE, {"n": ENTRY}) == after
    assert yaml_text.read(after)["extensions"]["n"] == ENTRY
    assert rest(before) == rest(after)


def test_the_indentation_of_the_others_is_followed() -> None:
    after = yaml_text.set_entries("extensions:\n    x:\n        a: 1\n", TABLE, {"n": {"cmd": "c"}})

    assert after == 'extensions:\n    x:\n        a: 1\n    n:\n      cmd: "c"\n'


def test_an_entry_that_goose_wrote_anew_is_read_and_changed() -> None:
    before = """extensions:
  n:
    enabled: false
    # mine
    cmd: /old/toolcrib
    args:
    - serve
    - --stdio
    envs: {}
    env_keys: []
    timeout: 300
    bundled: null
  z: {enabled: true}
"""
    old = yaml_text.read(before)["extensions"]["n"]
    assert old["args"] == ["serve", "--stdio"]
    assert (old["cmd"], old["envs"], old["bundled"]) == ("/old/toolcrib", {}, None)

    after = yaml_text.set_entries(before, TABLE, {"n": {**old, **ENTRY}})

    assert yaml_text.read(after)["extensions"]["n"] == {**old, **ENTRY}
    assert "    # mine\n" in after
    assert after.endswith("    env_keys: []\n    timeout: 300\n    bundled: null\n  z: {enabled: true}\n")


def test_a_section_that_would_be_empty_goes_with_its_last_entry() -> None:
    assert yaml_text.remove_entry(f"a: 1\nextensions:\n{LINES}b: 2\n", TABLE, "n") == "a: 1\nb: 2\n"
    assert (
        yaml_text.remove_entry(f"extensions:\n{LINES}  # end\n  z: 1\n", TABLE, "n")
        == "extensions:\n  # end\n  z: 1\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "extensions: {x: 1}\n",
        "extensions: &anchor\n  x: 1\n",
        "extensions:\n- x\n",
        "extensions:\n  - x\n",
        "extensions:\n  x: 1\n y: 2\n",
        "extensions:\n  n: *other\n",
        "extensions:\n  n: 1\n  n: 2\n",
        "extensions:\n  just words\n",
        "{extensions: {}}\n",
        "a: 1\n---\nextensions:\n",
        "a: 1\n...\n",
        "%YAML 1.2\n---\na: 1\n",
        "extensions:\n\tx: 1\n",
        'a: "text\nextensions: x"\n',
        "extensions: 3\n",
        "words\n",
    ],
)
def test_what_cannot_be_edited_safely_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        yaml_text.set_entries(text, TABLE, {"n": ENTRY})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("plain words # said", "plain words"),
        ("'it''s'", "it's"),
        ('"a # b\\n"', "a # b\n"),
        ("https://example.com/a#b", "https://example.com/a#b"),
        ("[a, 'b', -1, --c, {d: e}]", ["a", "b", -1, "--c", {"d": "e"}]),
        ('{"a": [], b: null, c: http://x/y}', {"a": [], "b": None, "c": "http://x/y"}),
        ("True", True),
        ("-5", -5),
    ],
)
def test_values_on_one_line_are_read(text: str, value: Any) -> None:
    assert read_inline(text) == value


@pytest.mark.parametrize(
    "text", ["&a b", "*a", "!t x", "|", ">-", "[a", "{a: 1", "a: b", "[a] b", "{a}", "'a", "- a"]
)
def test_other_values_are_not_guessed(text: str) -> None:
    with pytest.raises(Unreadable):
        read_inline(text)


@pytest.mark.parametrize(
    "lines", [["a: 1", " b: 2"], ["- a: 1"], ["a: x", "  y"], ["a: 1", "a: 2"], ["a"], ["a:\tb"]]
)
def test_other_blocks_are_not_guessed(lines: list[str]) -> None:
    with pytest.raises(Unreadable):
        read_block(lines)
