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
    expect(page.locator("[data-vendor^=openai]")).to_have_count(1)
    row.get_by_role("button", name="Test").click()
    expect(row).to_contain_text("Works")
    assert openai.requests[0]["model"] == "gpt-6.1-sol"
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
    openai.key = "sk-second"
    openai.models = [{"id": "newest", "created": 1_790_000_000, "context_length": 9000}, {"id": "tts-1"}]
    settings.locator("[data-vendor=openai]").get_by_role("button", name="Add key").click()
    form = settings.get_by_role("dialog", name="Add a model")
    key = form.get_by_label("API key. Stored in a file that only you can read")
    expect(key).to_be_focused()
    key.fill("sk-first")
    key.press("Enter")
    expect(form.get_by_role("status").last).to_contain_text("rejected the key (from OPENAI_API_KEY, 401)")
    assert "OPENAI_API_KEY" not in {one["name"] for one in crib.run("secret_list")}
    key.fill("sk-second")
    form.get_by_role("combobox", name="Model").click()
    listed = form.get_by_role("listbox", name="Suggestions").get_by_role("option")
    expect(listed).to_have_text(["newest9k tokens"])
    key.press("Enter")
    expect(form.get_by_role("status").last).to_contain_text("openai:newest works")
    expect(form.get_by_role("status").last).to_contain_text("It is your default model now.")
    assert "OPENAI_API_KEY" in {one["name"] for one in crib.run("secret_list")}
    assert "sk-second" not in (crib.home / "mcp.json").read_text()
    form.get_by_role("button", name="Done").click()
    expect(settings.locator("code.model-name")).to_have_text("openai:newest")


@pytest.fixture
def router() -> Iterator[Vendor]:
    """An address with a long list, which takes one key."""
    with vendor(Say("ready")) as found:
        found.key = "sk-router"
        found.models = [
            {"id": f"maker/model-{number}", "created": 1_700_000_000 + number} for number in range(80)
        ]
        yield found


def test_an_address_is_added_changed_and_removed_by_keyboard(
    router: Vendor, settings: Page, crib: Crib, complaints: Complaints
):
    complaints.expect("502|403|401|500")
    settings.get_by_role("button", name="Add a model…").press("Enter")
    form = settings.get_by_role("dialog", name="Add a model")
    expect(form.get_by_label("Vendor")).to_be_focused()
    titles = ["Anthropic", "Google Gemini", "OpenAI", "Another address"]
    expect(form.get_by_label("Vendor").get_by_role("option")).to_have_text(titles)
    form.get_by_label("Vendor").select_option("Another address")
    form.get_by_label("Name").fill("router")
    form.get_by_label("Address of its API").fill(router.address)
    form.get_by_label("API key, if it needs one").fill("sk-router")
    model = form.get_by_role("combobox", name="Model")
    model.fill("model-42")
    expect(form.get_by_role("listbox", name="Suggestions").get_by_role("option")).to_have_count(1)
    model.press("ArrowDown")
    model.press("Enter")
    expect(model).to_have_value("maker/model-42")
    model.press("Enter")
    expect(form.get_by_role("status").last).to_contain_text("router:maker/model-42 works")
    model.press("Enter")
    expect(form).to_have_count(0)
    expect(settings.get_by_role("button", name="Add a model…")).to_be_focused()
    stored = {"url": router.address, "protocol": "openai", "key": "models.router"}
    assert _own(crib)["agent"] == {"endpoints": {"router": stored}, "model": "router:maker/model-42"}
    assert "sk-router" not in (crib.home / "mcp.json").read_text()

    row = settings.locator("[data-vendor=router]")
    expect(row).to_contain_text("with a key (models.router)")
    row.get_by_role("button", name="More for router").press("Enter")
    settings.get_by_role("menuitem", name="Edit…").press("Enter")
    form = settings.get_by_role("dialog", name="Edit router")
    expect(form.get_by_label("Address of its API")).to_be_focused()
    form.get_by_label("Address of its API").fill("http://127.0.0.1:9/v1")
    form.get_by_label("Address of its API").press("Enter")
    expect(form.get_by_role("status").last).to_contain_text("cannot be reached")
    assert _own(crib)["agent"]["endpoints"] == {"router": stored}  # type: ignore[index]
    form.get_by_label("Address of its API").press("Escape")
    expect(row.get_by_role("button", name="More for router")).to_be_focused()

    row.get_by_role("button", name="More for router").press("Enter")
    settings.get_by_role("menuitem", name="Remove…").press("Enter")
    asked = settings.get_by_role("dialog", name="Remove router?")
    expect(asked).to_contain_text("It serves your default model")
    asked.get_by_role("button", name="Remove").click()
    expect(row).to_have_count(0)
    assert _own(crib)["agent"] == {"endpoints": {}}
    assert crib.run("secret_list") == []


def test_a_model_is_chosen_from_the_lists_by_its_words(
    router: Vendor, crib: Crib, new_page: Callable[[], Page]
):
    router.key = ""
    crib.setting(agent={"endpoints": {"router": {"url": router.address}}})
    page = sign_in(new_page(), crib.sign_in_address(), "/settings")
    page.get_by_role("button", name="Choose…").click()
    dialog = page.get_by_role("dialog", name="Choose a model")
    expect(dialog.get_by_role("option").first).to_have_text("router:maker/model-79")
    expect(dialog).to_contain_text("30 more. Type to search.")
    dialog.get_by_role("combobox").fill("maker 77")
    dialog.get_by_role("combobox").press("Enter")
    expect(page.get_by_role("status").filter(has_text="Saved: model router:maker/model-77.")).to_be_visible()
    assert _own(crib)["agent"]["model"] == "router:maker/model-77"  # type: ignore[index]


def test_a_server_on_this_machine_is_added_by_one_click(
    router: Vendor, crib: Crib, new_page: Callable[[], Page]
):
    router.key, router.models = "", [{"id": "large", "owned_by": "vllm"}]
    crib.environment["TOOLCRIB_LOCAL_MODELS"] = router.address
    page = sign_in(new_page(), crib.sign_in_address(), "/settings")
    found = page.locator("[data-found=vllm]")
    expect(found).to_contain_text("1 model")
    found.get_by_role("button", name="Use it").click()
    expect(page.locator("[data-vendor=vllm]")).to_contain_text("Works")
    expect(found).to_have_count(0)
    assert _own(crib)["agent"] == {
        "endpoints": {"vllm": {"url": router.address, "protocol": "openai"}},
        "model": "vllm:large",
    }


def test_a_setting_that_is_an_object_is_told_in_words(settings: Page):
    settings.get_by_label("Name of a setting").fill("agent.endpoints")
    settings.get_by_label("Value", exact=True).fill('{"studio": {"url": "http://127.0.0.1:9/v1"}}')
    settings.get_by_role("button", name="Save", exact=True).click()
    told = settings.get_by_role("status").filter(has_text="Saved: agent.endpoints")
    expect(told).to_contain_text("studio (url http://127.0.0.1:9/v1, protocol openai).")


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
