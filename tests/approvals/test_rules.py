"""A person's rules mean what they say, and their examples prove it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from tests.approvals.people import Tools
from toolcrib.approvals.proposal import exact_rule
from toolcrib.approvals.rule import Examples, Pattern, Rule, read_rule
from toolcrib.approvals.rule_match import check_examples, fits, speaks_of
from toolcrib.errors import UsageError


def rule(effect: Any = "allow", **patterns: str) -> Rule:
    return Rule(effect=effect, arguments={name: Pattern(like=like) for name, like in patterns.items()})


@pytest.mark.parametrize(
    ("like", "command", "matches"),
    [
        ("npm run *", "npm run build", True),
        ("npm run *", "npm run", True),
        ("npm run *", "cd web && npm run build | tail -5", True),
        ("npm run *", "npm install", False),
        ("npm run *", "npm run build; touch x", False),
        ("npm run *", "npm run $(touch x)", False),
        ("npm run *", "npm run build > out", False),
        ("npm run *", "X=1 npm run build", False),
        ("npm run *", "ls", False),
        ("npm run test:*", "npm run test:unit", True),
        ("npm run test:*", "npm run test:unit -- x", False),
        ("git push", "git push --force", False),
    ],
)
def test_an_allowing_pattern_is_read_narrowly(like: str, command: str, matches: bool) -> None:
    assert fits(rule(command=like), {"command": command}, "command") is matches


@pytest.mark.parametrize(
    "command",
    [
        "git push --force",
        "cd x && git push",
        "sudo git push",
        "bash -c 'git push'",
        "git 'push' $(date)",
        "if true; then git push; fi",
        "/usr/bin/git push",
        "echo " + "x" * 20_000 + "; git push",
    ],
)
def test_a_denying_pattern_is_read_widely(command: str) -> None:
    assert fits(rule("deny", command="git push *"), {"command": command}, "command")


def test_a_path_that_leaves_its_folder_is_not_allowed_by_a_pattern() -> None:
    docs = rule(path="docs/*")

    assert fits(docs, {"path": "docs/a.md"}, None)
    assert not fits(docs, {"path": "docs/../src/a.py"}, None)
    assert fits(rule("deny", path="docs/*"), {"path": "docs/../src/a.py"}, None)


def test_a_closed_rule_knows_no_further_arguments() -> None:
    closed = Rule(effect="allow", arguments={"a": Pattern(equals=1)}, closed=True)

    assert fits(closed, {"a": 1}, None)
    assert fits(closed, {"a": 1, "b": None}, None)
    assert not fits(closed, {"a": 1, "b": 2}, None)
    assert not fits(closed, {"a": True}, None)
    assert not fits(closed, {}, None)


def test_server_and_tool_are_patterns_and_a_definition_is_exact() -> None:
    tools = Tools()

    assert speaks_of(Rule(effect="deny", server="w*"), tools["web__post"], {}, ours=False)
    assert not speaks_of(Rule(effect="deny", server="files"), tools["web__post"], {}, ours=False)
    assert speaks_of(Rule(effect="deny", server="", tool="python"), tools["python"], {}, ours=True)
    assert not speaks_of(Rule(effect="deny", definition="another"), tools["web__post"], {}, ours=False)


def test_examples_are_checked() -> None:
    good = Examples(match=({"command": "make all"},), not_match=({"command": "make; x"},))
    check_examples(rule(command="make *").model_copy(update={"examples": good}))

    for wrong in (Examples(match=({"command": "cmake"},)), Examples(not_match=({"command": "make x"},))):
        with pytest.raises(UsageError):
            check_examples(rule(command="make *").model_copy(update={"examples": wrong}))


def test_a_rule_survives_being_written_down() -> None:
    written = Rule(
        effect="allow",
        server="s",
        tool="t",
        arguments={"a": Pattern(equals=None), "b": Pattern(like="x*")},
        closed=True,
        scope="project",
        within="/p",
        examples=Examples(match=({"b": "xy"},)),
    )

    assert read_rule(written.as_json()) == written
    assert read_rule(written.as_json()).id == written.id


@pytest.mark.parametrize("wrong", [{"like": "x", "equals": 1}, {}, {"likes": "x"}])
def test_a_pattern_that_makes_no_sense_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Pattern.model_validate(wrong)


SIMILAR = [1, 1.0, True, "1", [1], [1.0], [True], [1, None], [[1]], None, 0, -0.0, 0.0, False, "", [], {}]
SIMILAR += [{"a": 1}, {"a": 1.0}, {"a": True}, {"a": 1, "b": None}, {"a": [{"b": 0}]}, {"a": [{"b": False}]}]


@pytest.mark.parametrize("agreed", SIMILAR)
def test_a_rule_for_a_value_allows_no_value_that_python_takes_for_equal(agreed: Any) -> None:
    tools = Tools()
    remembered = read_rule(
        json.loads(json.dumps(exact_rule(tools.call("web__post", x=agreed), ours=False).as_json()))
    )

    allowed = [one for one in SIMILAR if fits(remembered, {"x": one}, None)]

    assert [json.dumps(one) for one in allowed] == [json.dumps(agreed)]


def test_a_rule_for_a_call_knows_which_arguments_were_null() -> None:
    tools = Tools()
    plain = exact_rule(tools.call("web__post", x=1), ours=False)
    with_null = exact_rule(tools.call("web__post", x=1, y=None), ours=False)

    assert not fits(plain, {"x": 1, "y": None}, None)
    assert fits(with_null, {"x": 1, "y": None}, None)
    assert not fits(with_null, {"x": 1}, None)
    assert plain.id != with_null.id


def test_a_denied_call_stays_denied_with_equal_numbers_and_with_or_without_nulls() -> None:
    tools = Tools()
    for denied in ({"x": 1}, {"x": 1, "y": None}):
        rule = exact_rule(tools.call("web__post", **denied), ours=False).model_copy(update={"effect": "deny"})
        for given in ({"x": 1}, {"x": 1.0}, {"x": 1, "y": None}, {"x": 1, "z": None}):
            assert fits(rule, given, None), (denied, given)


def test_a_rule_that_was_stored_before_keeps_its_id_and_its_calls() -> None:
    stored = {
        "id": "3566b1890386",
        "effect": "allow",
        "server": "web",
        "tool": "post",
        "arguments": {"x": {"equals": 1}},
        "closed": True,
        "definition": "abc",
    }
    rule = read_rule(stored)

    assert rule.id == stored["id"]
    assert fits(rule, {"x": 1}, None)
    assert fits(rule, {"x": 1, "y": None}, None)
    assert not fits(rule, {"x": True}, None)


BOTH = {"a.b": "safe", "a": {"b": "evil"}}


def test_a_name_with_a_dot_cannot_hide_the_argument_that_a_rule_is_about() -> None:
    assert not fits(Rule(effect="allow", arguments={"a.b": Pattern(equals="safe")}), BOTH, None)
    for wanted in ("safe", "evil"):
        assert fits(Rule(effect="deny", arguments={"a.b": Pattern(equals=wanted)}), BOTH, None)
    assert fits(Rule(effect="allow", arguments={"a.b": Pattern(equals="evil")}), {"a": {"b": "evil"}}, None)


def test_composed_and_decomposed_characters_differ_for_allowing_and_not_for_denying() -> None:
    composed, decomposed = {"x": "caf\u00e9"}, {"x": "cafe\u0301"}
    for given, other in ((composed, decomposed), (decomposed, composed)):
        pattern = {"x": Pattern(equals=given["x"])}
        assert not fits(Rule(effect="allow", arguments=pattern), other, None)
        assert fits(Rule(effect="deny", arguments=pattern), other, None)


@pytest.mark.parametrize(
    "value", [10**30, -(10**30), 1e30, float("nan"), "\ud800", "1e0", {"b": [None], "a": {}}]
)
def test_odd_values_match_themselves_alone_after_being_stored(value: Any) -> None:
    stored = Rule(effect="allow", arguments={"x": Pattern(equals=value)}, closed=True, exact=True)
    read = read_rule(json.loads(json.dumps(stored.as_json())))
    assert read.id == stored.id
    assert fits(read, {"x": value}, None)
    others = [10**30 + 1, 1e30 + 1e15, float("inf"), "\ud801", 1.0, {"b": [], "a": {}}, {"a": {}}, None]
    assert not any(fits(read, {"x": other}, None) for other in others)
