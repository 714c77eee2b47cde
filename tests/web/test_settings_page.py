"""Settings in a real browser: saved on change, with their command; keys tried before they are stored."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.web.browsing import Complaints, sign_in
from tests.web.running import Crib
from tests.web.vendor import Refuse, Say, Vendor, vendor


@pytest.fixture
def settings(crib: Crib, new_page: Callable[[], Page]) -> Page:
    """The page."""
    page = sign_in(new_page(), crib.sign_in_address(), "/settings")
    expect(page.get_by_role("heading", name="Settings", exact=True)).to_be_visible()
    return page


@pytest.fixture
def openai(crib: Crib) -> Iterator[Vendor]:
    """A vendor on loopback, where OpenAI would be."""
    with vendor() as found:
        crib.environment["OPENAI_BASE_URL"] = found.address
        crib.environment["OPENAI_API_KEY"] = ""
        yield found
        crib.stop()


def _own(crib: Crib) -> dict[str, object]:
    found: dict[str, object] = json.loads((crib.home / "mcp.json").read_text()).get("toolcrib", {})
    return found


def test_a_setting_is_saved_as_it_is_changed_and_can_be_taken_back(settings: Page, crib: Crib):
    settings.get_by_label("Tools offered").fill("99")
    settings.get_by_label("Tools offered").press("Enter")
    expect(settings.get_by_text("Between 1 and 50.")).to_be_visible()
    settings.get_by_label("Tools offered").fill("8")
    settings.get_by_label("Tools offered").press("Enter")
    told = settings.get_by_role("status").filter(has_text="Saved: tools offered 8.")
    expect(told).to_contain_text("toolcrib settings set retrieval.k 8")
    assert _own(crib)["retrieval"] == {"k": 8}
    told.get_by_role("button", name="Undo").click()
    expect(settings.get_by_label("Tools offered")).to_have_value("5")


def test_how_a_vendor_answered_stands_at_it_also_after_a_reload(
    openai: Vendor, crib: Crib, new_page: Callable[[], Page], complaints: Complaints
):
    complaints.expect("502|403|401|500")
    crib.environment["OPENAI_API_KEY"] = "sk-here"
    openai.say(Say("ready"), Refuse(401, "Incorrect API key."))
    page = sign_in(new_page(), crib.sign_in_address(), "/settings")
    row = page.locator("[data-vendor=openai]")
    expect(row).to_contain_text("OPENAI_API_KEY from the environment")
    expect(row).to_contain_text("Not tested")
    expect(page.locator("[data-vendor=openai-responses]")).to_have_count(0)
    row.get_by_role("button", name="Test").click()
    page.get_by_role("dialog", name="Which openai model?").get_by_label("Model").fill("some")
    page.get_by_role("button", name="Test").click()
    expect(row).to_contain_text("Works")
    expect(row).to_contain_text("tested ")
    names = page.locator("[data-vendor]")
    expect(names.first).to_have_attribute("data-vendor", "openai")
    row.get_by_role("button", name="Test").click()
    expect(row).to_contain_text("(401). Enter a new one.")
    page.reload()
    expect(row).to_contain_text("Rejected")
    expect(row.get_by_role("button", name="Replace key")).to_be_visible()


def test_turning_off_asking_is_asked_about_first(settings: Page, crib: Crib):
    settings.get_by_role("radio", name="Never ask").click()
    asked = settings.get_by_role("dialog", name="Turn off approvals?")
    asked.get_by_role("button", name="Keep approvals").click()
    assert "approvals" not in _own(crib)
    settings.get_by_role("radio", name="Never ask").click()
    asked.get_by_role("button", name="Turn off").click()
    expect(settings.get_by_text("Mode: never ask")).to_be_visible()
    assert _own(crib)["approvals"] == {"mode": "off"}


def test_a_key_is_tried_and_stored_only_when_it_works(
    openai: Vendor, settings: Page, crib: Crib, complaints: Complaints
):
    complaints.expect("502|403|401|500")
    openai.say(Refuse(401, "Incorrect API key."), Say("ready"))
    row = settings.locator(".setting-row", has=settings.get_by_text("openai", exact=True))
    row.get_by_role("button", name="Add key").click()
    form = settings.get_by_role("dialog", name="Add a key")
    form.get_by_label("Model name").fill("some-model")
    form.get_by_label("OPENAI_API_KEY").fill("sk-first")
    form.get_by_role("button", name="Test and save").click()
    expect(form.get_by_role("status")).to_contain_text("Rejected (401).")
    assert "OPENAI_API_KEY" not in {one["name"] for one in crib.run("secret_list")}
    form.get_by_label("OPENAI_API_KEY").fill("sk-second")
    form.get_by_role("button", name="Test and save").click()
    expect(form.get_by_role("status")).to_contain_text("Works")
    assert "OPENAI_API_KEY" in {one["name"] for one in crib.run("secret_list")}
    assert "sk-second" not in (crib.home / "mcp.json").read_text()


def test_the_doctor_tells_of_each_thing_and_a_setting_is_found_by_its_words(settings: Page):
    settings.get_by_role("button", name="Run doctor").click()
    expect(settings.locator("#doctor li").first).to_be_visible()
    settings.get_by_label("Find a setting").fill("sandbox")
    expect(settings.get_by_role("radiogroup", name="Sandbox")).to_be_visible()
    expect(settings.get_by_label("Tools offered")).to_be_hidden()
    settings.get_by_label("Find a setting").fill("text size")
    expect(settings.get_by_role("radiogroup", name="Text size")).to_be_visible()
    settings.get_by_label("Find a setting").fill("no such thing")
    expect(settings.get_by_text("No settings found.")).to_be_visible()


def test_a_setting_without_a_row_is_set_by_its_name(settings: Page, crib: Crib, complaints: Complaints):
    complaints.expect("400")
    settings.get_by_label("Name of a setting").fill("agent.maxTokens")
    settings.get_by_label("Value", exact=True).fill("3")
    settings.get_by_role("button", name="Save", exact=True).click()
    expect(settings.locator("form.any-setting").get_by_role("alert")).to_contain_text("16")
    settings.get_by_label("Value", exact=True).fill("900")
    settings.get_by_role("button", name="Save", exact=True).click()
    told = settings.get_by_role("status").filter(has_text="Saved: agent.maxTokens 900.")
    expect(told).to_contain_text("toolcrib settings set agent.maxTokens 900")
    assert _own(crib)["agent"] == {"maxTokens": 900}


def test_clients_of_the_gateway_have_a_mode_of_their_own(settings: Page, crib: Crib):
    modes = settings.get_by_role("radiogroup", name="Gateway clients")
    expect(modes.get_by_role("radio", name="Only by rule")).to_be_checked()
    modes.get_by_role("radio", name="Always").click()
    expect(modes.get_by_role("radio", name="Always")).to_be_checked()
    assert _own(crib)["approvals"] == {"modes": {"gateway": "always"}}
