"""Answers that end halfway: what was shown is kept, is shown as interrupted, and can be continued."""

from __future__ import annotations

import json
import re
import signal
import sqlite3
import threading
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.llm.wire import openai_chat
from tests.web.browsing import Complaints, sign_in
from tests.web.chatting import ask, card, said
from tests.web.running import Crib, Failed
from tests.web.vendor import Cut, Say, Vendor, call
from tests.web.waiting import until
from toolcrib.config.paths import find_paths

STORY = "Once upon a time there was a crib. It lent its tools to whoever asked for them politely."
REST = "And they all worked happily ever after."
ECHO = ("box__echo", {"text": "hi"})
SLEEP = ("box__sleep", {"seconds": 300})
BROKEN_OFF = r"ERR_(CONNECTION|SOCKET|EMPTY|INCOMPLETE|NETWORK)\w*|Failed to fetch"


def stored(crib: Crib, kind: str) -> list[dict[str, Any]]:
    """The entries of this kind in the database, whoever is writing."""
    with sqlite3.connect(find_paths(crib.home).database) as connection:
        rows = connection.execute("SELECT body FROM chat_entries WHERE kind = ? ORDER BY position", (kind,))
        return [json.loads(body) for (body,) in rows]


def kill(crib: Crib) -> None:
    """End the host as the system would when it is out of memory, and start it again."""
    port = crib.port
    crib.stop(signal.SIGKILL)
    crib.start(port=port)


def text_of(crib: Crib) -> str:
    """What is stored of the answer under way."""
    return "".join(one["text"] for one in stored(crib, "partial"))


def begin_story(crib: Crib, model: Vendor, pieces: int = 6) -> str:
    """Ask for a story whose telling stops after some pieces; returns the chat once they are stored."""
    model.say(Say(STORY))
    model.pause, model.pause_after = threading.Event(), pieces
    chat: str = crib.run("chat_send", text="Tell me a story.")["chat"]
    shown = STORY[: sum(len(piece) for piece in openai_chat.pieces(STORY)[:pieces])]
    until(lambda: text_of(crib) == shown)
    return chat


def release(model: Vendor) -> None:
    """The vendor waits no more."""
    assert model.pause is not None
    model.pause.set()
    model.pause = None


@pytest.mark.parametrize("pieces", [1, 4, 9, len(openai_chat.pieces(STORY))])
def test_a_killed_host_keeps_the_text_that_it_had_shown(crib: Crib, model: Vendor, pieces: int) -> None:
    chat = begin_story(crib, model, pieces)
    shown = text_of(crib)

    kill(crib)

    view = crib.run("chat_view", chat=chat)
    [turn] = view["turns"]
    assert [item["text"] for item in turn["items"] if item["kind"] == "text"] == [shown]
    assert STORY.startswith(shown)
    assert (turn["ending"], view["chat"]["state"]) == ("interrupted", "interrupted")
    assert [one["state"] for one in crib.run("chats")["chats"]] == ["interrupted"]
    exported = crib.run("chat_export", chat=chat)["text"]
    assert shown in exported
    assert "interrupted here" in exported
    release(model)


def test_an_interrupted_answer_is_continued_from_where_it_stopped(crib: Crib, model: Vendor) -> None:
    chat = begin_story(crib, model)
    shown = text_of(crib)
    kill(crib)
    release(model)
    model.say(Say(REST))

    crib.run("chat_continue", chat=chat)
    until(lambda: crib.run("chat_view", chat=chat)["chat"]["state"] == "done")

    [turn] = crib.run("chat_view", chat=chat)["turns"]
    assert [item["text"] for item in turn["items"] if item["kind"] == "text"] == [shown, REST]
    assert (turn["question"]["text"], turn["ending"]) == ("Tell me a story.", "answered")
    *_, question, partial, request = model.requests[-1]["messages"]
    assert (question["role"], partial["role"], request["role"]) == ("user", "assistant", "user")
    assert partial["content"] == shown
    assert "Continue exactly where it stopped" in request["content"]
    with pytest.raises(Failed, match="complete"):
        crib.run("chat_continue", chat=chat)


@pytest.mark.acceptance
def test_an_answer_that_is_interrupted_again_and_again_loses_nothing(crib: Crib, model: Vendor) -> None:
    chat = begin_story(crib, model, 3)
    for pieces in (4, 5):
        kill(crib)
        before = text_of(crib)
        release(model)
        model.pause, model.pause_after = threading.Event(), pieces
        crib.run("chat_continue", chat=chat)
        until(lambda before=before: len(text_of(crib)) > len(before))
    kill(crib)
    release(model)

    view = crib.run("chat_view", chat=chat)

    [turn] = view["turns"]
    texts = [item["text"] for item in turn["items"] if item["kind"] == "text"]
    assert len(texts) == 3
    assert all(STORY.startswith(text) for text in texts)
    assert view["chat"]["state"] == "interrupted"


def test_a_new_question_after_a_kill_goes_on_with_the_chat(crib: Crib, model: Vendor) -> None:
    chat = begin_story(crib, model)
    shown = text_of(crib)
    kill(crib)
    release(model)
    model.say(Say("Hello again."))

    crib.run("chat_send", chat=chat, text="Something else.")
    until(lambda: crib.run("chat_view", chat=chat)["chat"]["state"] == "done")

    story, hello = crib.run("chat_view", chat=chat)["turns"]
    assert (story["ending"], hello["ending"]) == ("interrupted", "answered")
    assert [one["content"] for one in model.requests[-1]["messages"]][-3:] == [
        "Tell me a story.",
        shown,
        "Something else.",
    ]


@pytest.mark.acceptance
def test_an_interrupted_answer_is_found_forked_and_finished_elsewhere(crib: Crib, model: Vendor) -> None:
    chat = begin_story(crib, model, 9)
    kill(crib)
    release(model)
    model.say(Say(REST))

    [found] = crib.run("chats_search", query="upon a time")
    fork = crib.run("chat_fork", chat=chat)["id"]
    crib.run("chat_continue", chat=fork)
    until(lambda: crib.run("chat_view", chat=fork)["chat"]["state"] == "done")

    assert found["chat"] == chat
    assert crib.run("chat_view", chat=chat)["chat"]["state"] == "interrupted"


def test_a_stopped_answer_keeps_its_text_once_and_can_be_continued(crib: Crib, model: Vendor) -> None:
    chat = begin_story(crib, model)
    shown = text_of(crib)

    crib.run("chat_stop", chat=chat)
    release(model)

    view = crib.run("chat_view", chat=chat)
    [turn] = view["turns"]
    assert [item["text"] for item in turn["items"] if item["kind"] == "text"] == [shown]
    assert (turn["ending"], view["chat"]["state"]) == ("stopped", "stopped")
    model.say(Say(REST))
    crib.run("chat_continue", chat=chat)
    until(lambda: crib.run("chat_view", chat=chat)["chat"]["state"] == "done")


def test_an_answer_whose_connection_breaks_for_good_keeps_its_text(crib: Crib, model: Vendor) -> None:
    model.say(Cut(STORY))
    chat = crib.run("chat_send", text="Tell me a story.")["chat"]
    until(lambda: crib.run("chat_view", chat=chat)["chat"]["state"] == "failed")

    [turn] = crib.run("chat_view", chat=chat)["turns"]

    [text] = [item["text"] for item in turn["items"] if item["kind"] == "text"]
    assert text
    assert STORY.startswith(text)
    assert turn["ending"] == "failed"


def test_a_finished_answer_leaves_no_draft(crib: Crib, model: Vendor) -> None:
    chat = begin_story(crib, model)
    release(model)
    until(lambda: crib.run("chat_view", chat=chat)["chat"]["state"] == "done")

    assert stored(crib, "partial") == []
    [turn] = crib.run("chat_view", chat=chat)["turns"]
    assert [item["text"] for item in turn["items"] if item["kind"] == "text"] == [STORY]


def test_a_call_under_way_at_the_kill_has_an_unknown_outcome_and_is_not_made_again(
    crib: Crib, model: Vendor
) -> None:
    model.say(call(SLEEP, saying="One moment."), Say("It may have slept."))
    chat = crib.run("chat_send", text="Sleep.", mode="off")["chat"]
    until(lambda: crib.run("calls_running"))

    kill(crib)
    before = crib.run("chat_view", chat=chat)
    crib.run("chat_continue", chat=chat, mode="off")
    until(lambda: crib.run("chat_view", chat=chat)["chat"]["state"] == "done")

    [turn] = before["turns"]
    sleep = next(item for item in turn["items"] if item["kind"] == "call")
    assert (turn["ending"], sleep["outcome"]) == ("interrupted", "interrupted")
    assert "may or may not have had an effect" in sleep["text"]
    assert "may or may not have had an effect" in model.results()[0]
    assert crib.run("calls_running") == []


@pytest.mark.acceptance
def test_a_call_by_hand_at_the_kill_stays_in_the_chat(crib: Crib, model: Vendor) -> None:
    model.say(Say("Hello."))
    chat = crib.run("chat_send", text="Hello?")["chat"]
    until(lambda: crib.run("chat_view", chat=chat)["chat"]["state"] == "done")
    tool, arguments = SLEEP
    crib.run("call_again", chat=chat, tool=tool, arguments=arguments, mode="off")
    until(lambda: crib.run("calls_running"))

    kill(crib)

    [turn] = crib.run("chat_view", chat=chat)["turns"]
    sleep = turn["items"][-1]
    assert (sleep["kind"], sleep["by_hand"], sleep["outcome"]) == ("call", True, "interrupted")
    assert turn["ending"] == "answered"


def test_a_question_is_kept_from_the_moment_it_is_taken(crib: Crib, model: Vendor) -> None:
    model.pause, model.pause_after = threading.Event(), 0
    chat = crib.run("chat_send", text="Tell me a story.", pinned=["box__echo"])["chat"]
    kill(crib)
    crib.run("chat_send", chat=chat, text="And another.")
    kill(crib)
    release(model)

    view = crib.run("chat_view", chat=chat)

    assert [turn["question"]["text"] for turn in view["turns"]] == ["Tell me a story.", "And another."]
    assert view["pinned"] == ["box__echo"]
    assert view["chat"]["state"] == "interrupted"


@pytest.mark.acceptance
def test_a_title_a_fork_and_a_rule_survive_a_kill_right_after_they_are_made(
    crib: Crib, model: Vendor
) -> None:
    model.say(call(ECHO), Say("Said."))
    chat = crib.run("chat_send", text="Say hi.")["chat"]
    until(lambda: crib.run("waiting")["items"])
    [asked] = crib.run("waiting")["items"]
    crib.run("chat_rename", chat=chat, title="Greetings")
    fork = crib.run("chat_fork", chat=chat)["id"]
    crib.run("chat_reply", id=asked["id"], action="accept", content={"scope": "always"})
    kill(crib)

    chats = {one["id"]: one["title"] for one in crib.run("chats")["chats"]}

    assert chats == {chat: "Greetings", fork: "Greetings (fork)"}
    [rule] = crib.run("policy_list")["rules"]
    assert "scope" not in rule  # It holds everywhere.


def test_the_page_shows_an_interrupted_answer_and_continues_it(
    crib: Crib, model: Vendor, new_page: Callable[[], Page], complaints: Complaints
) -> None:
    complaints.expect(BROKEN_OFF)
    page = sign_in(new_page(), crib.sign_in_address(), "/chat/new")
    model.say(Say(STORY))
    model.pause, model.pause_after = threading.Event(), 9
    ask(page, "Tell me a story.")
    expect(said(page, "Once upon a time")).to_be_visible()
    until(lambda: "Once upon a time" in text_of(crib))

    kill(crib)

    expect(said(page, "Interrupted. The text so far is kept.")).to_be_visible()
    expect(said(page, "Once upon a time")).to_be_visible()
    listed = page.get_by_role("navigation", name="Chats").get_by_role("link")
    expect(listed).to_have_text(re.compile(r"Tell me a story\.Interrupted · "))
    release(model)
    model.say(Say(REST))
    page.get_by_role("button", name="Continue").click()
    expect(said(page, REST)).to_be_visible()
    expect(said(page, "Once upon a time")).to_be_visible()
    expect(listed).to_have_text(re.compile(r"Tell me a story\.Done · "))
    expect(page.get_by_role("button", name="Continue")).to_have_count(0)


@pytest.mark.acceptance
def test_the_page_shows_a_call_that_was_under_way_at_the_kill(
    crib: Crib, model: Vendor, new_page: Callable[[], Page], complaints: Complaints
) -> None:
    complaints.expect(BROKEN_OFF)
    model.say(call(SLEEP))
    chat = crib.run("chat_send", text="Sleep.", mode="off")["chat"]
    page = sign_in(new_page(), crib.sign_in_address(), f"/chat/{chat}")
    expect(card(page, "sleep")).to_be_visible()  # the page has loaded all that it needs of the host
    until(lambda: crib.run("calls_running"))

    kill(crib)

    expect(said(page, "Interrupted. The text so far is kept.")).to_be_visible()
    expect(card(page, "sleep")).to_contain_text("may or may not have taken effect")
