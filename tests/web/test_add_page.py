"""Adding a server in the page: pasted, shown whole, agreed to, tested step by step."""

from __future__ import annotations

import json
import re
import socket
import stat
import sys
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.web.adding import (
    PASTE,
    PATIENCE,
    SMALL_SERVER,
    agree,
    asks_for_trust,
    at_home,
    command,
    enter_servers,
    paste,
    row,
    see_plan,
    shows,
)
from tests.web.browsing import NARROW
from tests.web.running import Crib

NewPage = Callable[[], Page]


def begin(crib: Crib, new_page: NewPage) -> Page:
    asks_for_trust(crib)
    return enter_servers(crib, new_page())


def test_a_pasted_command_is_shown_whole_trusted_tested_and_runs(crib: Crib, new_page: NewPage) -> None:
    page = begin(crib, new_page)

    paste(page, command("/srv/notes"))
    expect(page.get_by_text("Toolcrib runs this command unchanged.")).to_be_visible()
    asked = see_plan(page, "mine")
    expect(
        asked.get_by_text("A server can do anything you can do. This is the full command.")
    ).to_be_visible()
    shown = asked.get_by_role("group", name="Exact command").inner_text().split("\n")
    outside = "reaches outside its folder"
    assert [line.strip() for line in shown] == [
        at_home(sys.executable), "1", at_home(SMALL_SERVER), "2", "/srv/notes", outside
    ]  # fmt: skip
    assert "mine" not in json.loads((crib.home / "mcp.json").read_text())["mcpServers"]

    agree(page)
    for step in ("Resolve", "Start", "Handshake", "List tools", "Review"):
        expect(page.get_by_role("listitem").filter(has_text=f"{step}, done")).to_be_visible(timeout=PATIENCE)
    page.get_by_role("button", name="Done").click()

    shows(page, "mine", "Running")
    assert any(tool["server"] == "mine" for tool in crib.run("tools"))


def test_what_was_added_can_be_asked_or_another_is_added(crib: Crib, new_page: NewPage) -> None:
    page = begin(crib, new_page)
    paste(page, command())
    see_plan(page, "mine")
    agree(page)
    following = page.get_by_role("region", name="What next")
    expect(following.get_by_role("button")).to_have_text(
        ["Ask something with it", "Add another"], timeout=PATIENCE
    )  # no tool of it says that it only reads
    following.get_by_role("button", name="Add another").click()

    expect(page.get_by_label(PASTE)).to_have_value("")
    page.get_by_label(PASTE).fill(f"{sys.executable} -m toolcrib.testing.server --name box")
    see_plan(page, "box")
    agree(page)
    following.get_by_role("button", name="Try count").click(timeout=PATIENCE)
    expect(page.get_by_role("complementary", name="box__count")).to_be_visible()


def test_a_question_about_what_was_added_is_filled_in_and_not_sent(crib: Crib, new_page: NewPage) -> None:
    page = begin(crib, new_page)
    paste(page, command())
    see_plan(page, "mine")
    agree(page)

    page.get_by_role("button", name="Ask something with it").click(timeout=PATIENCE)

    expect(page).to_have_url(f"{crib.base}/chat")
    expect(page.get_by_label("Ask something…")).to_have_value(re.compile("Use the tool “[a-z]+” of mine"))
    assert crib.run("chats")["chats"] == []


def test_nothing_is_added_when_the_answer_is_no(crib: Crib, new_page: NewPage) -> None:
    page = begin(crib, new_page)
    paste(page, command())

    asked = see_plan(page, "mine")
    page.wait_for_timeout(600)
    asked.get_by_role("button", name="Don't run").click()

    expect(asked).to_be_hidden()
    assert "mine" not in json.loads((crib.home / "mcp.json").read_text())["mcpServers"]


CLICK_AT_ONCE = """() => new MutationObserver((_, observer) => {
  const buttons = [...document.querySelectorAll('[role=alertdialog] button')]
  const trust = buttons.find(each => each.textContent.includes('Trust and test'))
  if (!trust) return
  observer.disconnect()
  trust.click()
  window.clickedAtOnce = true
}).observe(document.body, {childList: true, subtree: true})"""


def test_the_question_ignores_an_eager_click_and_the_enter_key(crib: Crib, new_page: NewPage) -> None:
    page = begin(crib, new_page)
    paste(page, command())
    page.clock.install()
    page.evaluate(CLICK_AT_ONCE)
    asked = see_plan(page, "mine")

    page.wait_for_function("() => window.clickedAtOnce")
    expect(asked).to_be_visible()
    expect(asked.get_by_role("button", name="Don't run")).to_be_visible()

    page.clock.run_for(600)
    asked.get_by_role("button", name="Trust and test").focus()
    page.keyboard.press("Enter")
    expect(asked).to_be_visible()
    assert "mine" not in json.loads((crib.home / "mcp.json").read_text())["mcpServers"]


def test_the_no_has_the_focus(crib: Crib, new_page: NewPage) -> None:
    page = begin(crib, new_page)
    paste(page, command())

    asked = see_plan(page, "mine")

    expect(asked.get_by_role("button", name="Don't run")).to_be_focused()


def test_hidden_characters_of_a_command_are_shown(crib: Crib, new_page: NewPage) -> None:
    page = begin(crib, new_page)
    paste(page, command("plain\u200bword"))

    expect(see_plan(page, "mine").get_by_text("plain⟨U+200B⟩word")).to_be_visible()


def test_a_program_is_installed_with_its_steps(crib: Crib, new_page: NewPage, tmp_path: Path) -> None:
    program = tmp_path / "notes" / "notes-server"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\n{SMALL_SERVER.read_text()}")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    page = begin(crib, new_page)

    paste(page, str(program))
    asked = see_plan(page)
    expect(asked.get_by_text("Downloads")).to_be_visible()
    asked.get_by_role("button", name="Trust, install and test").wait_for()
    agree(page)

    expect(page.get_by_role("listitem").filter(has_text="Install, done")).to_be_visible(timeout=PATIENCE)
    page.get_by_role("button", name="Done").click(timeout=PATIENCE)
    shows(page, "notes", "Running")


def test_esc_closes_the_dialog_of_a_test_that_goes_on(crib: Crib, new_page: NewPage) -> None:
    page = begin(crib, new_page)
    paste(page, f"{sys.executable} -m toolcrib.testing.server --fault hang")
    see_plan(page, "slow")
    agree(page)
    dialog = page.get_by_role("dialog", name="Testing slow")
    expect(dialog).to_be_visible(timeout=PATIENCE)

    page.keyboard.press("Escape")

    expect(dialog).to_have_count(0)
    assert [one["state"] for one in crib.run("setups") if one["name"] == "slow"] == ["running"]
    crib.run("setup_stop", name="slow")


def test_a_server_that_stops_says_why_and_can_be_kept_turned_off(
    crib: Crib, new_page: NewPage, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("import sys\nsys.exit('Please provide a database URL as a command-line argument')\n")
    page = begin(crib, new_page)
    paste(page, f"{sys.executable} {broken}")
    see_plan(page, "postgres")
    agree(page)

    failed = page.get_by_role("dialog", name="postgres started, then stopped")
    expect(failed).to_be_visible(timeout=PATIENCE)
    expect(failed.get_by_text("Last log lines")).to_be_visible(timeout=PATIENCE)
    expect(failed.locator("pre")).to_contain_text("Please provide a database URL")
    failed.get_by_role("button", name="Keep it turned off").click()

    shows(page, "postgres", "Off")
    shows(page, "postgres", "You turned it off at")


def test_rubbish_is_nothing_we_know(crib: Crib, new_page: NewPage) -> None:
    page = begin(crib, new_page)

    paste(page, "what is this ((")

    expect(page.get_by_text("Not recognised.")).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_role("button", name="Review plan")).to_be_disabled()


def test_a_name_one_letter_off_asks_whether_the_other_was_meant(crib: Crib, new_page: NewPage) -> None:
    page = begin(crib, new_page)

    paste(page, "uvx mcp-server-gti")
    expect(page.get_by_role("alert")).to_contain_text(
        "mcp-server-gti is one letter away from mcp-server-git, which is in the catalog. Did you mean that?"
    )
    page.get_by_role("button", name="Use mcp-server-git").click()

    expect(page.get_by_label(PASTE)).to_have_value("pypi:mcp-server-git")


def test_several_servers_are_ticked_and_imported_without_a_start(crib: Crib, new_page: NewPage) -> None:
    page = begin(crib, new_page)
    servers = {"demo": {"command": "other"}, "one": {"command": "one-mcp"}, "two": {"command": "two-mcp"}}

    paste(page, json.dumps({"mcpServers": servers}))
    expect(page.get_by_text("3 servers. 1 name is already used.")).to_be_visible(timeout=PATIENCE)
    page.get_by_role("button", name="Import 2 (nothing starts)").click()

    shows(page, "one", "Needs trust")
    shows(page, "two", "Needs trust")
    assert set(json.loads((crib.home / "mcp.json").read_text())["mcpServers"]) >= {"demo", "one", "two"}


def test_raw_json_keeps_the_keys_that_nobody_knows(crib: Crib, new_page: NewPage) -> None:
    page = begin(crib, new_page)
    entry = {"command": sys.executable, "args": [str(SMALL_SERVER)], "x-mine": {"kept": True}}
    page.get_by_role("button", name="Add server").click()
    page.get_by_role("button", name="Fill in a form").click()
    page.get_by_role("radio", name="JSON").click()
    page.get_by_label("Name", exact=True).fill("mine")
    page.get_by_label("Entry").fill(json.dumps(entry))

    page.get_by_role("button", name="Review plan").click()
    expect(page.get_by_role("alertdialog")).to_be_visible(timeout=PATIENCE)
    agree(page)
    page.get_by_role("button", name="Done").click(timeout=PATIENCE)

    assert json.loads((crib.home / "mcp.json").read_text())["mcpServers"]["mine"] == entry


def test_a_secret_is_asked_for_masked_and_does_not_reach_the_file(crib: Crib, new_page: NewPage) -> None:
    page = begin(crib, new_page)

    paste(page, f"API_TOKEN='<your token>' {command()}")
    page.get_by_label("API_TOKEN").fill("tok-2468-abcdef")
    assert page.get_by_label("API_TOKEN").get_attribute("type") == "password"
    see_plan(page, "mine")
    agree(page)
    page.get_by_role("button", name="Done").click(timeout=PATIENCE)

    text = (crib.home / "mcp.json").read_text()
    assert "${secret:mine.API_TOKEN}" in text
    assert "tok-2468" not in text


def test_a_variable_that_is_not_set_has_a_field_and_may_stay_empty(crib: Crib, new_page: NewPage) -> None:
    page = enter_servers(asks_for_trust(crib), new_page())
    entry = {"command": sys.executable, "args": [str(SMALL_SERVER)], "env": {"API_TOKEN": "${GH_TEST_TOKEN}"}}
    paste(page, json.dumps({"mcpServers": {"gh": entry}}))
    field = page.get_by_label(re.compile("API_TOKEN"))
    expect(field).to_have_attribute("type", "password")
    field.fill("open-sesame-1234")
    see_plan(page)
    agree(page)

    expect(page.get_by_role("dialog", name=re.compile("gh works"))).to_be_visible(timeout=PATIENCE)
    written = json.loads((crib.home / "mcp.json").read_text())["mcpServers"]["gh"]
    assert written["env"] == {"API_TOKEN": "${secret:gh.API_TOKEN}"}


def test_the_search_of_a_registry_is_shown_beside_the_catalog_and_can_be_stopped(
    crib: Crib, new_page: NewPage
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes the request and never answers
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        crib.setting(registryUrl=f"http://{address}")
        page = begin(crib, new_page)
        page.get_by_role("button", name="Add server").click()
        page.get_by_role("button", name="Browse catalog").click()
        page.get_by_label("Search the catalog").fill("git repository")

        searching = page.get_by_role("dialog").get_by_role("status")
        expect(searching).to_have_text(f"Searching {address}")
        expect(
            page.get_by_role("list", name="Catalog servers").get_by_text("pypi:mcp-server-git")
        ).to_be_visible()
        page.get_by_role("button", name="Stop").click()
        expect(searching).to_have_count(0)
        expect(
            page.get_by_role("list", name="Catalog servers").get_by_text("pypi:mcp-server-git")
        ).to_be_visible()


def test_the_catalog_fills_in_the_form(crib: Crib, new_page: NewPage) -> None:
    page = begin(crib, new_page)
    page.get_by_role("button", name="Add server").click()
    page.get_by_role("button", name="Browse catalog").click()

    page.get_by_label("Search the catalog").fill("git repository")
    page.get_by_role("list", name="Catalog servers").get_by_role("button", name="pypi:mcp-server-git").click()

    expect(page.get_by_role("heading", name="Add Git")).to_be_visible()
    expect(page.get_by_label("Package", exact=True)).to_have_value("pypi:mcp-server-git")


def test_the_dialog_fills_a_narrow_window_and_nothing_scrolls_sideways(crib: Crib, new_page: NewPage) -> None:
    page = begin(crib, new_page)
    page.set_viewport_size({"width": NARROW["width"], "height": NARROW["height"]})

    paste(
        page, command("/srv/a-rather-long-folder/with/many/parts/that/would/not/fit/on/one/line/of/a/phone")
    )
    asked = see_plan(page, "mine")

    box = asked.bounding_box()
    assert box is not None
    assert (round(box["width"]), round(box["height"])) == (NARROW["width"], NARROW["height"])
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert row(page, "mine").count() == 0


def test_another_site_can_neither_add_nor_test(crib: Crib) -> None:
    elsewhere = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    entry = {"command": "touch", "args": [str(crib.home / "was-here")]}

    for operation, body in (
        ("add", {"name": "x", "entry": entry}),
        ("admit", {"entry": entry, "name": "x", "mark": "0"}),
        ("test", {"name": "demo"}),
        ("trust", {"names": ["demo"], "agree": {"demo": "0"}}),
    ):
        assert crib.post(f"/api/{operation}", body, **elsewhere).status_code == 403
        assert crib.post(f"/api/{operation}", body, key="").status_code == 401

    assert "x" not in json.loads((crib.home / "mcp.json").read_text())["mcpServers"]
    assert not (crib.home / "was-here").exists()


def test_what_a_page_adds_by_the_interface_alone_waits_for_a_word(crib: Crib) -> None:
    asks_for_trust(crib)

    crib.run("add", name="mine", entry={"command": sys.executable, "args": [str(SMALL_SERVER)]})

    (found,) = [server for server in crib.run("servers") if server["name"] == "mine"]
    assert found["state"] == "needs-trust"
