"""YAML is changed in the lines of the entry alone, or not at all."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.errors import ConfigError
from toolcrib.features.clients.files import yaml_text
from toolcrib.features.clients.files.client import OpaqueValue, without_entry
from toolcrib.features.clients.files.yaml_text import MAX_CHARACTERS

TABLE = ("extensions",)
ENTRY = {"enabled": True, "cmd": "/a b/c", "args": ["serve", "--stdio"], "timeout": 300}
LINES = '  n:\n    enabled: true\n    cmd: "/a b/c"\n    args: ["serve", "--stdio"]\n    timeout: 300\n'


def rest(text: str) -> Any:
    return without_entry(yaml_text.read(text), (*TABLE, "n"))


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


ODD = """# top\t
model:   'gpt'   # aligned
list:
    - {a:   1, "b": [x,y ]}
    -   two
when: 2024-01-01
text: >-
   folded
   # not a comment

quoted: "over
   lines"
base: &base {type: stdio}
secret: !vault |
   abc
extensions:   # all of them
   first:   {<<: *base,   cmd: "x"}   # one line

   # before n
   n:   # ours
      enabled:   false   # off
      cmd: >
         old
         command
      args:   # arguments
      - a   # first
      -   b
      timeout:     # none
      extra: !vault zzz
      # end of n
   # before last
   last:
      cmd: 'l'

# bottom
tail: ~
"""


def test_an_odd_file_changes_in_the_values_that_differ_alone() -> None:
    old = yaml_text.read(ODD)["extensions"]["n"]

    after = yaml_text.set_entries(ODD, TABLE, {"n": {**old, **ENTRY, "name": "n"}})

    expected = ODD.replace("enabled:   false   # off", "enabled:   true   # off")
    expected = expected.replace("cmd: >\n         old\n         command\n", 'cmd: "/a b/c"\n')
    expected = expected.replace(
        "args:   # arguments\n      - a   # first\n      -   b\n",
        'args: ["serve", "--stdio"]   # arguments\n',
    )
    expected = expected.replace("timeout:     # none", "timeout: 300     # none")
    assert after == expected.replace("zzz\n", 'zzz\n      name: "n"\n')


def test_an_entry_of_an_odd_file_is_removed_with_its_lines_alone() -> None:
    start, end = ODD.index("   n:   # ours"), ODD.index("   # before last")

    assert yaml_text.remove_entry(ODD, TABLE, "n") == ODD[:start] + ODD[end:]


def test_an_entry_comes_into_an_odd_file_and_goes_again() -> None:
    after = yaml_text.set_entries(ODD, TABLE, {"new": ENTRY})

    assert yaml_text.read(after)["extensions"]["new"] == ENTRY
    assert yaml_text.remove_entry(after, TABLE, "new") == ODD


def test_several_entries_are_set_at_once() -> None:
    wanted = {"b": {"cmd": "b"}, "n": ENTRY, "a": {}}

    after = yaml_text.set_entries("extensions:\n  n: {cmd: old} # mine\n", TABLE, wanted)

    assert yaml_text.read(after) == {"extensions": wanted}
    assert after.startswith("extensions:\n  n: # mine\n    enabled: true\n")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("plain words # said", "plain words"),
        ("'it''s'", "it's"),
        ('"a # b\\n"', "a # b\n"),
        ("https://example.com/a#b", "https://example.com/a#b"),
        ("[a, 'b', -1, --c, {d: e}]", ["a", "b", -1, "--c", {"d": "e"}]),
        ('{"a": [], b: null, c: http://x/y}', {"a": [], "b": None, "c": "http://x/y"}),
        ("[a,\n  b]", ["a", "b"]),
        ("\n  - a: 1\n    b: 2\n  - - c", [{"a": 1, "b": 2}, ["c"]]),
        ("|\n  two\n\n  lines # here\n", "two\n\nlines # here"),
        (">-\n  one\n  line\n", "one line"),
        ("True", True),
        ("yes", "yes"),
        ("-5", -5),
        ("2.5", 2.5),
        ("1.10", "1.10"),
        ("0755", "0755"),
        ("0x1f", "0x1f"),
        (".inf", ".inf"),
        ("9" * 5000, "9" * 5000),
        ("2024-01-01", "2024-01-01"),
        ("&a b", "b"),
    ],
)
def test_values_are_read(text: str, value: Any) -> None:
    assert yaml_text.read(f"a: {text}\nb: 1\n") == {"a": value, "b": 1}


@pytest.mark.parametrize(
    "text",
    [
        "!t x",
        "!!python/object/apply:os.system [x]",
        "!!python/name:os.system",
        "!!set {a, b}",
        "!!binary aGk=",
        "{? [a, b] : c}",
        "{a: 1, a: 2}",
        "{<<: 3}",
        "!!map [a]",
        "!!seq {a: b}",
    ],
)
def test_what_is_more_than_plain_data_is_not_constructed(text: str) -> None:
    assert isinstance(yaml_text.read(f"a: {text}\n")["a"], OpaqueValue)


@pytest.mark.parametrize("text", ["*a", "[a", "{a: 1", "a: b", "[a] b", "'a", "- a", "x\n y: z", "\x07", "@"])
def test_what_is_no_yaml_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        yaml_text.read(f"a: {text}\n")


def test_aliases_and_merges_are_followed() -> None:
    text = (
        "x: &x {cmd: a, args: [1]}\nextensions:\n  n: {<<: *x, cmd: b}\n  m: {<<: [{cmd: c}, *x]}\n  l: *x\n"
    )

    assert yaml_text.read(text)["extensions"] == {
        "n": {"cmd": "b", "args": [1]},
        "m": {"cmd": "c", "args": [1]},
        "l": {"cmd": "a", "args": [1]},
    }


LEVELS = "".join(f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]\n" for level in range(1, 10))


@pytest.mark.parametrize(
    "text",
    [
        f"a0: &a0 x\n{LEVELS}",
        f"t: &t {'x' * 1000}\nl: [{', '.join(['*t'] * 1000)}]\n",
        "a: &a [*a]\n",
        "a: &a {b: *a}\n",
        "a: &a\n  <<: *a\n",
        f"a: {'[' * 5000}",
        f"a: {'{a: ' * 5000}",
        "\n".join(f"{' ' * depth}a:" for depth in range(600)),
        f"a: {'x' * MAX_CHARACTERS}\n",
    ],
    ids=["laughs", "long text", "list", "mapping", "merge", "lists", "mappings", "lines", "size"],
)
def test_a_yaml_bomb_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        yaml_text.read(text)


def test_an_error_names_the_line_and_nothing_of_the_file() -> None:
    with pytest.raises(ConfigError) as raised:
        yaml_text.read("a: 1\ntoken: s3cret: x\n")

    assert "line 2" in str(raised.value)
    assert "s3cret" not in str(raised.value)


@pytest.mark.parametrize(
    "text",
    [
        "base: &b {cmd: x}\nextensions:\n  n: *b\n",
        "extensions:\n  n: &b\n    cmd: x\nc: *b\n",
        "extensions:\n  n: {x: !t 1, cmd: a}\n",
        "extensions:\n  n:\n    cmd: &c x\nd: *c\n",
        "extensions: !t\n  x: 1\n",
    ],
)
def test_an_entry_that_others_share_or_that_cannot_be_written_anew_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        yaml_text.set_entries(text, TABLE, {"n": {**ENTRY, "x": OpaqueValue("!t 1")}})


def test_an_entry_with_an_explicit_key_is_not_removed() -> None:
    with pytest.raises(ConfigError):
        yaml_text.remove_entry("extensions:\n  ? n\n  : cmd: x\n  m: 1\n", TABLE, "n")


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
)
ENTRIES = st.dictionaries(TEXTS, VALUES, max_size=4)


@given(first=ENTRIES, second=ENTRIES, name=TEXTS)
def test_whatever_the_entry_it_is_read_as_written(first: Any, second: Any, name: str) -> None:
    before = "a: 1 # one\nextensions:\n  '..': {b: c}\n\n# end\nz: 2"
    written = yaml_text.set_entries(before, TABLE, {name: first})
    changed = yaml_text.set_entries(written, TABLE, {name: second})

    assert yaml_text.read(written)["extensions"] == {"..": {"b": "c"}, name: first}
    assert yaml_text.read(changed)["extensions"] == {"..": {"b": "c"}, name: second}
    assert yaml_text.remove_entry(changed, TABLE, name) == before
