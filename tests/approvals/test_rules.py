"""A person's rules mean what they say, and their examples prove it."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from tests.approvals.people import Tools
from toolcrib.approvals.matching import check_examples, fits, speaks_of
from toolcrib.approvals.rule import Examples, Pattern, Rule, read_rule
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
