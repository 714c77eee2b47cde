"""A rule in words is whole: nothing is cut, and nothing can hide in it."""

from __future__ import annotations

import pytest

from toolcrib.approvals.rule import Pattern, Rule
from toolcrib.approvals.rule_text import rule_place, rule_words


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
        rule_words(Rule(effect="allow", server="", tool="now", closed=True)) == "allow now without arguments"
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


def test_places_at_home_are_short_and_others_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")

    def words(**patterns: Pattern) -> str:
        return rule_words(Rule(effect="allow", server="files", tool="edit", arguments=patterns))

    assert words(path=Pattern(under="/home/ada/code/src")) == "allow files.edit when path in ~/code/src/**"
    assert words(path=Pattern(under="/home/adam/code")) == "allow files.edit when path in /home/adam/code/**"
    assert words(path=Pattern(under="/")) == "allow files.edit when path in /**"
    assert words(path=Pattern(equals="/home/ada/a.txt")) == "allow files.edit when path is ~/a.txt"
    assert words(path=Pattern(equals="~/a.txt")) == 'allow files.edit when path is "~/a.txt"'


def test_a_path_cannot_pretend_to_be_other_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    odd = Rule(effect="allow", tool="edit", arguments={"path": Pattern(under="/home/ada/x and nothing else")})

    assert rule_words(odd) == 'allow *.edit when path in "/home/ada/x and nothing else/**"'


def test_what_is_free_is_named() -> None:
    arguments = {"path": Pattern(equals="a"), "content": Pattern(any=True), "mode": Pattern(any=True)}
    rule = Rule(effect="allow", server="files", tool="write", arguments=arguments, closed=True)

    assert (
        rule_words(rule)
        == 'allow files.write when path is "a" with any content and any mode and nothing else'
    )
