"""The right tools come first, and each says why."""

from __future__ import annotations

import pytest

from tests.retrieval.toolbox import WORKSHOP, raw_tool, tool
from toolcrib.retrieval import Selection, select_by_words


def names(selection: Selection) -> list[str]:
    return [pick.tool.name for pick in selection]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("merge the pull request", "github__mergePullRequest"),
        ("Please open a new issue on GitHub", "github__create_issue"),
        ("what is the weather going to be?", "weather__get_forecast"),
        ("sending an e-mail to Ada", "mail__send_message"),
        ("who should be invited to the event", "calendar__create-event"),
        ("counting words", "word_count"),
        ("planned dates", "calendar__list_events"),
    ],
)
def test_the_tool_that_shares_the_telling_words_comes_first(question: str, expected: str) -> None:
    assert names(select_by_words(question, WORKSHOP))[0] == expected


def test_a_tool_is_found_by_its_server_by_its_parameters_and_by_their_descriptions() -> None:
    assert set(names(select_by_words("calendar", WORKSHOP))[:2]) == {
        "calendar__create-event",
        "calendar__list_events",
    }
    assert names(select_by_words("city", WORKSHOP)) == ["weather__get_forecast"]
    assert names(select_by_words("invited", WORKSHOP)) == ["calendar__create-event"]


def test_choices_and_nested_parameters_are_found() -> None:
    schema = {
        "type": "object",
        "properties": {
            "filter": {"type": "object", "properties": {"colour": {"enum": ["crimson", 7, None]}}},
            "rows": {"type": "array", "items": {"type": "object", "properties": {"quantity": {}}}},
        },
    }
    painting = raw_tool("paint", {"name": "mix", "inputSchema": schema})

    for word in ("crimson", "colour", "quantity"):
        assert names(select_by_words(word, [*WORKSHOP, painting])) == ["paint__mix"]


def test_each_pick_says_which_words_were_found_where() -> None:
    (pick,) = select_by_words("open an issue", WORKSHOP, k=1).picks

    reasons = {reason.field: reason for reason in pick.reasons}
    assert pick.kind == "match"
    assert reasons["name"].terms == ("issue",)
    assert reasons["description"].terms == ("open", "issue")
    assert reasons["parameter descriptions"].terms == ("issue",)
    assert sum(reason.score for reason in pick.reasons) == pytest.approx(pick.score, abs=0.01)
    assert [reason.score for reason in pick.reasons] == sorted((r.score for r in pick.reasons), reverse=True)


def test_reasons_quote_the_question_as_it_was_written() -> None:
    (pick,) = select_by_words("Merging PULL-requests", WORKSHOP, k=1).picks

    assert {term for reason in pick.reasons for term in reason.terms} == {"Merging", "PULL", "requests"}


def test_several_tasks_in_one_question_each_find_their_tool() -> None:
    question = "weather forecast for the city, then send an e-mail message to Ada; merge the pull request"

    found = names(select_by_words(question, WORKSHOP, k=3))

    assert set(found) == {"weather__get_forecast", "mail__send_message", "github__mergePullRequest"}


@pytest.mark.parametrize(
    "name", ["github__create_issue", "CREATE_ISSUE", "`create_issue`", "call create_issue!"]
)
def test_a_name_given_whole_comes_first(name: str) -> None:
    rivals = [tool(f"rival{n}", "issue", "create issue create issue create issue") for n in range(5)]

    first = select_by_words(name, [*rivals, *WORKSHOP]).picks[0]

    assert first.tool.name == "github__create_issue"
    assert first.reasons[0].field == "exact name"


def test_always_on_tools_come_first_and_do_not_count() -> None:
    found = select_by_words(
        "merge the pull request", WORKSHOP, k=1, always_on=["word_count", "no_such", "word_count"]
    )

    assert names(found) == ["word_count", "github__mergePullRequest"]
    assert [pick.kind for pick in found] == ["always on", "match"]
    assert [pick.tool.name for pick in found.matches] == ["github__mergePullRequest"]


def test_an_always_on_tool_that_fits_is_picked_once() -> None:
    found = select_by_words("merge the pull request", WORKSHOP, k=1, always_on=["github__mergePullRequest"])

    assert names(found) == ["github__mergePullRequest", "github__list_pull_requests"]


def test_tools_just_used_stay_at_hand() -> None:
    found = select_by_words(
        "send an e-mail", WORKSHOP, k=1, recent=["files__read_file", "mail__send_message", "gone"]
    )

    assert names(found) == ["mail__send_message", "files__read_file"]
    assert [pick.kind for pick in found] == ["match", "just used"]


def test_the_talk_before_helps_a_question_that_says_little() -> None:
    said = ["What is the weather in Paris?", "Sunny, 20 degrees."]

    assert names(select_by_words("and on Friday?", WORKSHOP, k=1)) == []
    assert names(select_by_words("and on Friday?", WORKSHOP, k=1, context=said)) == ["weather__get_forecast"]


def test_the_talk_before_does_not_drown_the_question() -> None:
    said = ["weather forecast weather forecast of the coming days in the city"] * 10

    assert names(select_by_words("merge the pull request", WORKSHOP, k=1, context=said)) == [
        "github__mergePullRequest"
    ]


@pytest.mark.parametrize("question", ["", "   ", "the", "🔥", "zzzzz", "\x00", "\ud800", "?!;.and then"])
def test_a_question_that_says_nothing_picks_nothing(question: str) -> None:
    assert select_by_words(question, WORKSHOP).picks == ()
    assert names(select_by_words(question, WORKSHOP, always_on=["word_count"])) == ["word_count"]


@pytest.mark.parametrize("k", [0, -1])
def test_none_asked_for_gives_none(k: int) -> None:
    assert select_by_words("merge", WORKSHOP, k=k).picks == ()


def test_no_tools_give_no_picks() -> None:
    assert select_by_words("anything", []).picks == ()


def test_a_tool_that_is_switched_off_is_never_picked() -> None:
    off = tool("github", "merge_now", "merge", enabled=False)

    found = select_by_words("merge now", [off], always_on=["github__merge_now"], recent=["github__merge_now"])

    assert found.picks == ()


def test_equal_tools_are_ordered_by_name_whatever_order_they_came_in() -> None:
    twins = [tool(f"twin{n}", "rotate", "Rotate an image.") for n in range(9)]

    forwards, backwards = select_by_words("rotate", twins), select_by_words("rotate", list(reversed(twins)))

    assert names(forwards) == names(backwards) == [f"twin{n}__rotate" for n in range(5)]


def test_a_tool_is_found_in_other_scripts_and_without_its_accents() -> None:
    tools = [
        tool("wetter", "vorhersage", "Wettervorhersage für Städte"),
        tool("tenki", "yoho", "東京の天気予報"),
    ]

    for question in ("Städte", "STÄDTE", "stadte", "Sta\u0308dte"):
        assert names(select_by_words(question, tools)) == ["wetter__vorhersage"]
    assert names(select_by_words("明日の天気", tools)) == ["tenki__yoho"]
