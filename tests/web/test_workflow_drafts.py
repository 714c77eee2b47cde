"""Workflows that are made from a sentence or from a chat, and looked at before they are kept."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.web.browsing import sign_in
from tests.web.chatting import ask, said
from tests.web.running import Crib
from tests.web.vendor import Say, Vendor, call
from tests.web.workflows import node

ANSWER = {
    "name": "echoes",
    "nodes": [
        {"id": "echo", "type": "McpToolCall", "settings": {"tool": "box__echo", "arguments": {"text": "hi"}}},
        {"id": "check", "type": "AskUser", "settings": {"message": "Is {{echo.text}} right?"}},
    ],
    "edges": [{"from": "echo", "to": "check"}],
}


@pytest.mark.acceptance
def test_a_request_becomes_a_draft_that_is_looked_at_named_and_kept(
    model: Vendor, crib: Crib, new_page: Callable[[], Page]
) -> None:
    model.say(Say(json.dumps(ANSWER)))
    page = sign_in(new_page(), crib.sign_in_address(), "/workflows")
    expect(
        page.get_by_text("Save a chat as one, start from a template, or describe what should happen.")
    ).to_be_visible()
    page.get_by_role("listitem").filter(has_text="Describe a workflow").get_by_role("button").click()
    dialog = page.get_by_role("dialog", name="Describe a workflow")
    dialog.get_by_label("What should happen").fill("Echo hi, then ask me whether it is right.")
    dialog.get_by_role("button", name="Draft").click()

    expect(dialog.locator(".diff-added")).to_have_count(2)
    assert crib.run("workflow_list") == []
    dialog.get_by_role("button", name="Use this draft").click()
    page.get_by_role("dialog").get_by_label("Name").fill("echoes")
    page.get_by_role("button", name="Create").click()

    expect(page.get_by_role("heading", name="echoes", level=1)).to_be_visible()
    expect(node(page, "echo")).to_be_visible()
    expect(node(page, "check")).to_be_visible()


@pytest.mark.acceptance
def test_a_chat_is_saved_as_a_workflow(model: Vendor, crib: Crib, new_page: Callable[[], Page]) -> None:
    model.say(call(("demo__add", {"a": 17, "b": 25})), Say("The sum is 42."))
    page = sign_in(new_page(), crib.sign_in_address(), "/chat/new")
    ask(page, "Add 17 and 25")
    expect(said(page, "The sum is 42.")).to_be_visible()

    page.get_by_role("button", name="More").last.click()
    page.get_by_role("menuitem", name="Save as workflow").click()

    dialog = page.get_by_role("dialog", name="Save the chat as a workflow")
    expect(dialog.locator(".diff-added")).to_have_count(1)
    dialog.get_by_role("button", name="Use this draft").click()
    page.get_by_role("dialog").get_by_label("Name").fill("sum")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name="sum", level=1)).to_be_visible()
    [found] = crib.run("workflow_get", name="sum")["workflow"]["nodes"].values()
    assert found["settings"]["tool"] == "demo__add"
