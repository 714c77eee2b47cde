"""The first five minutes in a real browser."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.web.browsing import sign_in
from tests.web.chatting import question
from tests.web.running import Crib
from tests.web.vendor import Say, vendor


@pytest.fixture
def newcomer(crib: Crib, tmp_path: Path) -> Crib:
    """A person with servers in another host, and no model."""
    (tmp_path / ".cursor").mkdir()
    servers = {"one": {"command": "one"}, "two": {"command": "two"}}
    (tmp_path / ".cursor" / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    crib.environment["HOME"] = str(tmp_path)
    crib.environment["OLLAMA_HOST"] = "127.0.0.1:9"
    for key in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        crib.environment[key] = ""
    return crib


def test_the_first_visit_shows_a_real_call_and_leads_to_the_chat(
    newcomer: Crib, new_page: Callable[[], Page]
):
    page = sign_in(new_page(), newcomer.sign_in_address())
    expect(page.get_by_role("heading", name="Welcome to Toolcrib")).to_be_visible()
    assert "key=" not in page.url
    expect(page.get_by_role("complementary").get_by_text("40", exact=True).first).to_be_visible()
    expect(page.get_by_text("Found 2 servers in Cursor (2).")).to_be_visible()
    [recorded] = newcomer.run("audit")  # and nothing in the name of the user
    assert (recorded["tool"], recorded["outcome"]) == ("demo__add", "ok")
    assert recorded["principal"] == "welcome page"
    expect(page.get_by_role("radio", name="demo")).to_be_checked()
    page.get_by_role("button", name="Start with demo").click()
    page.wait_for_url("**/chat*")
    assert newcomer.run("models")["model"] == "demo"
    page.goto(newcomer.base)
    page.wait_for_url("**/chat*")
    assert newcomer.run("audit") == [recorded], "the sample call is made once"


def test_importing_from_the_welcome_previews_and_starts_nothing(newcomer: Crib, new_page: Callable[[], Page]):
    newcomer.environment["TOOLCRIB_TRUST_CONFIG"] = "0"
    page = sign_in(new_page(), newcomer.sign_in_address())
    page.get_by_role("button", name="Preview import").click()
    expect(page.get_by_role("dialog")).to_contain_text("two")
    assert {one["name"] for one in newcomer.run("servers")} == {"demo", "filesystem", "websearch"}


def test_the_sample_says_what_let_it_run_and_enter_starts(newcomer: Crib, new_page: Callable[[], Page]):
    page = sign_in(new_page(), newcomer.sign_in_address())
    sample = page.get_by_role("complementary", name="It works: a sample")
    expect(sample).to_contain_text("allowed bybuilt-in rule “read-only”")
    expect(page.get_by_role("heading", name="Step 2 of 4, needs you: Choose a model")).to_be_visible()

    page.get_by_role("radio", name="demo").press("Enter")

    page.wait_for_url("**/chat*")
    assert newcomer.run("models")["model"] == "demo"


def test_a_sample_question_goes_to_the_demo_and_to_nobody_else(newcomer: Crib, new_page: Callable[[], Page]):
    newcomer.environment["ANTHROPIC_API_KEY"] = "not-a-key"
    page = sign_in(new_page(), newcomer.sign_in_address())

    question = "What is 6 × 7, and what is 1 divided by 7?"
    page.get_by_role("link", name=question).click()
    expect(page.get_by_label("Ask something…")).to_have_value(question)
    page.get_by_label("Ask something…").press("Enter")

    expect(page.get_by_role("log")).to_contain_text("6 times 7 is 42. 1 divided by 7 is 0.142857142857")
    [chat] = newcomer.run("chats")["chats"]
    assert chat["model"] == "demo"
    page.goto(f"{newcomer.base}/chat/new")
    expect(page.get_by_role("button", name="Choose a model")).not_to_contain_text("demo")


def test_the_first_sample_asks_before_it_writes_and_survives_a_denial(
    newcomer: Crib, new_page: Callable[[], Page]
):
    page = sign_in(new_page(), newcomer.sign_in_address())
    page.get_by_role("link", name="Save “hello” to note.txt").click()
    page.get_by_label("Ask something…").press("Enter")
    question(page).get_by_role("button", name="Deny").click()
    page.get_by_label("Note for the model (optional)").press("Enter")
    expect(page.get_by_role("log")).to_contain_text("I was not allowed to write note.txt")

    page.get_by_label("Ask something…").fill("Save “hello” to note.txt")
    page.get_by_label("Ask something…").press("Enter")
    question(page).get_by_role("button", name="Allow once").click()

    expect(page.get_by_role("log")).to_contain_text("Created ")
    [written] = newcomer.home.rglob("note.txt")
    assert written.read_text() == "hello\n"


def test_a_model_server_on_this_machine_is_offered_and_used_with_one_click(
    newcomer: Crib, new_page: Callable[[], Page]
):
    with vendor(Say("ready")) as local:
        local.models = [{"id": "qwen3-30b", "owned_by": "organization_owner"}]
        newcomer.environment["TOOLCRIB_LOCAL_MODELS"] = local.address
        page = sign_in(new_page(), newcomer.sign_in_address())
        expect(page.get_by_text("LM Studio")).to_be_visible()
        page.get_by_role("button", name="Use it").click()
        expect(page.get_by_role("radio", name="lm-studio:qwen3-30b")).to_be_checked()
        page.get_by_role("button", name="Start with lm-studio:qwen3-30b").click()
        page.wait_for_url("**/chat*")
        assert newcomer.run("models")["model"] == "lm-studio:qwen3-30b"


def test_an_address_of_ones_own_is_added_and_started_with(newcomer: Crib, new_page: Callable[[], Page]):
    with vendor(Say("ready")) as studio:
        studio.models = [{"id": "large"}]
        page = sign_in(new_page(), newcomer.sign_in_address())
        expect(page.get_by_text("Anthropic, Google Gemini, OpenAI…")).to_be_visible()
        expect(page.get_by_role("radio")).to_have_count(1)
        page.get_by_role("button", name="Add address").press("Enter")
        form = page.get_by_role("dialog", name="Add a model")
        expect(form.get_by_label("Name")).to_be_focused()
        form.get_by_label("Name").fill("studio")
        form.get_by_label("Address of its API").fill(studio.address)
        form.get_by_label("Address of its API").press("Enter")
        expect(form.get_by_role("status").last).to_contain_text("studio:large works")
        form.get_by_role("button", name="Done").click()
        expect(page.get_by_role("radio", name="studio:large")).to_be_checked()
        page.get_by_role("button", name="Start with studio:large").click()
        page.wait_for_url("**/chat*")
        expect(page.get_by_role("button", name="Choose a model, now studio:large")).to_be_visible()
