"""A rule in words is whole: nothing is cut, and nothing can hide in it."""

from __future__ import annotations

from toolcrib.approvals.rule import Pattern, Rule
from toolcrib.approvals.rule_words import rule_place, rule_words


def test_every_condition_is_named() -> None:
    arguments = {"path": Pattern(equals="a.txt"), "command": Pattern(like="npm run *")}
    rule = Rule(effect="allow", server="files", tool="write", arguments=arguments, closed=True)

    assert (
        rule_words(rule)
        == 'allow files.write when path is "a.txt" and command is like "npm run *" and nothing else'
    )


def test_a_rule_for_a_whole_tool_has_no_condition() -> None:
    assert rule_words(Rule(effect="deny", server="files", tool="*")) == "deny files.*"
    assert (
        rule_words(Rule(effect="allow", server="", tool="now", closed=True))
        == "allow now when it is given nothing"
    )


def test_long_values_stay_whole_and_hidden_characters_are_seen() -> None:
    long = "x" * 5000
    rule = Rule(
        effect="allow", server="a", tool="b", arguments={"text": Pattern(equals=f"{long}\u200b\u202e")}
    )

    assert long in rule_words(rule)
    assert "\\u200b\\u202e" in rule_words(rule)


def test_the_place_names_the_project_and_the_definition() -> None:
    rule = Rule(effect="allow", scope="project", within="/home/me/exporter", definition="9f3c1ae" + "0" * 57)

    assert rule_place(rule) == "project exporter · definition 9f3c1ae"
    assert rule_place(Rule(effect="allow")) == "everywhere"
