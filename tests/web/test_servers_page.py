"""The list of servers: state, reason and way out of each, changes with an undo, and those of other hosts."""

from __future__ import annotations

import json
import os
import re
import signal
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
    choose,
    enter_servers,
    row,
    shows,
)
from tests.web.browsing import NARROW, Complaints, sign_in
from tests.web.running import Crib

NewPage = Callable[[], Page]


def small(*words: str) -> dict[str, object]:
    return {"command": sys.executable, "args": [str(SMALL_SERVER), *words]}


def begin(crib: Crib, new_page: NewPage) -> Page:
    return enter_servers(crib, new_page())


def config(crib: Crib) -> dict[str, object]:
    found: dict[str, object] = json.loads((crib.home / "mcp.json").read_text())["mcpServers"]
    return found


def test_every_row_that_is_not_well_says_state_reason_and_way_out(crib: Crib, new_page: NewPage) -> None:
    crib.entry("off", {**small(), "enabled": False})
    crib.entry("notes", {"command": "no-such-notes-mcp"})
    crib.entry("calendar", {**small(), "env": {"CALDAV_PASSWORD": "${secret:calendar.CALDAV_PASSWORD}"}})
    page = begin(crib, new_page)

    shows(page, "demo", "Running")
    shows(page, "notes", "Failed")
    shows(page, "notes", "It will not be retried.")
    expect(row(page, "notes").get_by_role("button", name="Fix command")).to_be_visible()
    shows(page, "calendar", "CALDAV_PASSWORD is not set. It will be stored as a secret.")
    expect(row(page, "calendar").get_by_role("button", name="Set value")).to_be_visible()
    expect(row(page, "off").get_by_role("button", name="Turn on")).to_be_visible()
    expect(page.get_by_text(re.compile(r"\d of 6 up\. 1 needs you, 1 has problems\."))).to_be_visible()


def test_a_missing_value_is_set_and_the_server_starts(crib: Crib, new_page: NewPage) -> None:
    crib.entry("calendar", {**small(), "env": {"CALDAV_PASSWORD": "${secret:calendar.CALDAV_PASSWORD}"}})
    page = begin(crib, new_page)
    shows(page, "calendar", "Needs a value")

    row(page, "calendar").get_by_role("button", name="Set value").click()
    page.get_by_label("CALDAV_PASSWORD").fill("open-sesame-1234")
    page.get_by_role("button", name="Save and start").click()

    shows(page, "calendar", "Running")
    assert "open-sesame" not in (crib.home / "mcp.json").read_text()


def test_a_variable_that_is_not_set_is_given_in_a_field_and_kept_as_a_secret(
    crib: Crib, new_page: NewPage, complaints: Complaints
) -> None:
    complaints.expect("503.*api/tools")
    crib.entry("gh", {**small(), "env": {"GITHUB_PERSONAL_ACCESS_TOKEN": "${GH_TEST_TOKEN}"}})
    page = begin(crib, new_page)
    shows(page, "gh", "GH_TEST_TOKEN is not set. It will be stored as a secret.")
    page.goto(f"{crib.base}/servers/gh")

    page.get_by_role("status").get_by_role("button", name="Set value").click()
    page.get_by_role("dialog").get_by_label("GH_TEST_TOKEN").fill("open-sesame-1234")
    page.get_by_role("button", name="Save and start").click()

    expect(page.locator(".server-head").get_by_text("Running")).to_be_visible(timeout=PATIENCE)
    assert "${GH_TEST_TOKEN}" in (crib.home / "mcp.json").read_text()
    assert "GH_TEST_TOKEN" in crib.command("secret", "list", "--json").out


def test_a_test_that_lacks_a_variable_leads_to_its_field(crib: Crib, new_page: NewPage) -> None:
    asks_for_trust(crib).entry("gh", {**small(), "env": {"A": "${GH_TEST_TOKEN}"}})
    page = begin(crib, new_page)
    row(page, "gh").get_by_role("button", name="Review").click()
    agree(page)
    failed = page.get_by_role("dialog", name="gh needs a value")
    expect(failed).not_to_contain_text("toolcrib secret set", timeout=PATIENCE)
    failed.get_by_role("button", name="Set value").click()
    page.get_by_role("dialog").get_by_label("GH_TEST_TOKEN").fill("open-sesame-1234")
    page.get_by_role("button", name="Save and start").click()

    shows(page, "gh", "Running")


def test_a_server_that_breaks_says_why_and_heals_after_it_was_killed(
    crib: Crib, new_page: NewPage, complaints: Complaints, tmp_path: Path
) -> None:
    complaints.expect(r"status of 503.*api/start")
    stop = tmp_path / "broken"
    wrapper = tmp_path / "wrapper.py"
    wrapper.write_text(
        f"import os, runpy, sys\nif os.path.exists({str(stop)!r}): sys.exit('the disk is full')\n"
        f"sys.argv = [{str(SMALL_SERVER)!r}]\nrunpy.run_path({str(SMALL_SERVER)!r}, run_name='__main__')\n"
    )
    crib.entry(
        "notes",
        {
            "command": sys.executable,
            "args": [str(wrapper)],
            "restart": {"firstDelay": 600, "longestDelay": 600},
        },
    )
    page = begin(crib, new_page)
    shows(page, "notes", "Running")
    (found,) = [one for one in crib.run("servers") if one["name"] == "notes"]

    stop.touch()
    os.kill(found["pid"], signal.SIGKILL)
    shows(page, "notes", "Retrying in")
    row(page, "notes").get_by_role("button", name="Try now").click()
    shows(page, "notes", "the disk is full")
    stop.unlink()
    row(page, "notes").get_by_role("button", name="Try now").click()

    shows(page, "notes", "Running")


def test_a_removed_server_comes_back_as_it_was(crib: Crib, new_page: NewPage) -> None:
    crib.entry("notes", {**small(), "x-mine": [1]}).entry("last", {**small(), "enabled": False})
    page = begin(crib, new_page)
    shows(page, "notes", "Running")
    before = list(config(crib).items())
    (found,) = [one for one in crib.run("servers") if one["name"] == "notes"]

    choose(page, "notes", "Remove")
    expect(row(page, "notes")).to_be_hidden(timeout=PATIENCE)
    assert not Path(f"/proc/{found['pid']}").exists()
    expect(page.get_by_role("status").filter(has_text="Removed “notes”.")).to_be_visible()
    page.get_by_role("button", name="Undo").click()

    shows(page, "notes", "Running")
    assert list(config(crib).items()) == before


def test_the_master_switch_ends_everything_and_turns_it_on_again(crib: Crib, new_page: NewPage) -> None:
    crib.entry("notes", small())
    page = begin(crib, new_page)
    shows(page, "notes", "Running")

    page.get_by_role("switch", name="Master switch").first.click()
    expect(
        page.get_by_text(re.compile(r"You turned them off at \d\d:\d\d\. 1 process ended\."))
    ).to_be_visible()
    shows(page, "notes", "Off")
    page.get_by_role("button", name="Turn on again").click()

    shows(page, "notes", "Running")


def test_turning_one_off_is_dated_and_turning_it_on_starts_it(crib: Crib, new_page: NewPage) -> None:
    crib.entry("notes", small())
    page = begin(crib, new_page)
    shows(page, "notes", "Running")

    choose(page, "notes", "Turn off")
    shows(page, "notes", "You turned it off at")
    row(page, "notes").get_by_role("button", name="Turn on").click()

    shows(page, "notes", "Running")


def test_keys_go_through_the_rows_and_act_on_the_one_in_focus(crib: Crib, new_page: NewPage) -> None:
    crib.empty().entry("first", small()).entry("second", small())
    page = begin(crib, new_page)
    shows(page, "second", "Running")

    page.keyboard.press("j")
    expect(row(page, "first")).to_be_focused()
    page.keyboard.press("j")
    expect(row(page, "second")).to_be_focused()
    page.keyboard.press("x")
    shows(page, "second", "Off")
    page.keyboard.press(".")
    expect(page.get_by_role("menuitem", name="Turn on")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    expect(page.get_by_label(PASTE)).to_be_focused()


def test_a_row_stays_where_it_is_while_somebody_is_in_the_list(crib: Crib, new_page: NewPage) -> None:
    crib.empty().entry("first", small()).entry("second", small())
    page = begin(crib, new_page)
    shows(page, "first", "Running")
    row(page, "second").focus()

    crib.run("disable", name="first")
    shows(page, "first", "Off")
    expect(page.get_by_text("Order changed.")).to_be_visible(timeout=PATIENCE)
    names = page.locator("[data-server]").evaluate_all("rows => rows.map(row => row.dataset.server)")
    assert names == ["first", "second"]
    page.get_by_role("button", name="Sort again").click()

    expect(page.locator("[data-server]").first).to_have_attribute("data-server", "second")


def test_an_entry_is_edited_as_json_and_a_conflict_shows_both(
    crib: Crib, new_page: NewPage, complaints: Complaints
) -> None:
    complaints.expect(r"status of 400.*entry_edit")
    crib.entry("notes", {**small(), "x-mine": {"kept": True}})
    page = begin(crib, new_page)
    shows(page, "notes", "Running")
    choose(page, "notes", "Edit as JSON…")
    field = page.get_by_label("Entry of notes")
    expect(field).to_be_visible()
    expect(page.get_by_text("1 unknown key is kept.")).to_be_visible()
    mine = {**json.loads(field.input_value()), "lazy": True}
    seen = crib.run("entry", name="notes")
    crib.run(
        "entry_edit", name="notes", text=json.dumps({**json.loads(seen["text"]), "timeout": 30}), digest=""
    )

    field.fill(json.dumps(mine, indent=2))
    page.get_by_role("button", name="Save", exact=True).click()
    expect(
        page.get_by_text(re.compile(r"The file was changed by someone else at \d\d:\d\d\."))
    ).to_be_visible()
    page.get_by_role("button", name="Show both").click()
    expect(page.get_by_text('"timeout": 30')).to_be_visible()
    page.get_by_role("button", name="Save mine").click()

    expect(field).to_be_hidden(timeout=PATIENCE)
    assert config(crib)["notes"] == mine


def test_a_changed_command_asks_again_with_the_old_and_the_new(crib: Crib, new_page: NewPage) -> None:
    asks_for_trust(crib)
    page = begin(crib, new_page)
    crib.command("add", "notes", "--yes", "--", sys.executable, str(SMALL_SERVER))
    shows(page, "notes", "Running")
    crib.run("entry_edit", name="notes", text=json.dumps(small("--other")), digest="")
    shows(page, "notes", "Its command changed since you trusted it.")

    row(page, "notes").get_by_role("button", name="Review…").click()

    asked = page.get_by_role("alertdialog")
    expect(asked.get_by_text(re.compile("The command of notes changed since"))).to_be_visible()
    expect(asked.locator(".diff-added")).to_contain_text("--other")


def test_the_configs_of_other_hosts_are_imported_and_none_is_started(
    crib: Crib, new_page: NewPage, tmp_path: Path
) -> None:
    asks_for_trust(crib).environment["HOME"] = str(tmp_path)
    crib.environment["XDG_CONFIG_HOME"] = str(tmp_path / ".config")
    files = {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/me/docs"]}
    secret = {"API_TOKEN": "tok-2468-abcdef"}
    desktop = {"notes": {"command": "notes-mcp", "env": secret}, "files": files, "demo": {"command": "other"}}
    write(tmp_path / ".config" / "Claude" / "claude_desktop_config.json", {"mcpServers": desktop})
    remote = {"r": {"url": "https://x.example.com/mcp", "headers": {"Authorization": "Bearer ${env:TOKEN}"}}}
    write(tmp_path / ".cursor" / "mcp.json", {"mcpServers": {"files": files, **remote}})
    page = begin(crib, new_page)

    page.get_by_role("button", name="Import").click()
    dialog = page.get_by_role("dialog")
    found = "Found 4 servers in Claude Desktop (3) and Cursor (2); one is the same in two places."
    expect(dialog.get_by_text(found)).to_be_visible(timeout=PATIENCE)
    expect(dialog.get_by_role("row").filter(has_text="notes-mcp")).to_contain_text(
        "1 value to store as a secret"
    )
    dialog.get_by_label("Conflict of demo").select_option("both")
    dialog.get_by_role("button", name="Import 4 (nothing starts)").click()

    for name in ("notes", "files", "r", "demo-2"):
        shows(page, name, "Needs trust")
        shows(page, name, "Imported, not run yet. Review its command before it starts.")
    assert "tok-2468" not in (crib.home / "mcp.json").read_text()


def test_a_config_file_that_breaks_is_pointed_at_and_the_last_good_state_stays(
    crib: Crib, new_page: NewPage
) -> None:
    page = begin(crib, new_page)
    shows(page, "demo", "Running")

    (crib.home / "mcp.json").write_text('{"mcpServers": {\n  "demo": {}\n  "other": {}\n}}')

    expect(page.get_by_role("alert")).to_contain_text(
        "The last valid configuration stays in use.", timeout=PATIENCE
    )
    expect(page.get_by_role("alert")).to_contain_text(re.compile(r"mcp\.json.*3"))
    shows(page, "demo", "Running")


def test_without_servers_the_paste_box_itself_stands_there(crib: Crib, new_page: NewPage) -> None:
    page = begin(crib.empty(), new_page)

    expect(page.get_by_role("heading", name="No servers yet")).to_be_visible(timeout=PATIENCE)
    page.get_by_label(PASTE).fill("uvx mcp-server-git")
    page.keyboard.press("Enter")

    expect(page.get_by_text("A command that runs a Python package")).to_be_visible(timeout=PATIENCE)


def test_the_filter_knows_names_tools_and_packages(crib: Crib, new_page: NewPage) -> None:
    crib.empty().entry("first", small()).entry(
        "second", {"type": "inprocess", "module": "toolcrib.bundled.demo"}
    )
    page = begin(crib, new_page)
    shows(page, "first", "Running")

    page.keyboard.press("/")
    page.keyboard.type("echo")

    expect(row(page, "second")).to_be_hidden(timeout=PATIENCE)
    expect(row(page, "first")).to_be_visible()


def test_two_hundred_servers_are_drawn_by_window(crib: Crib, new_page: NewPage) -> None:
    for number in range(200):
        crib.entry(f"server-{number:03}", {"command": "x", "enabled": False})
    page = begin(crib, new_page)

    expect(page.get_by_role("table", name="Servers")).to_have_attribute("aria-rowcount", re.compile(r"20\d"))
    assert page.locator("[data-server]").count() < 80
    expect(page.get_by_role("radio", name="Off 200")).to_be_visible()


def test_a_phone_shows_reason_and_action_and_nothing_scrolls_sideways(crib: Crib, new_page: NewPage) -> None:
    asks_for_trust(crib).entry("sqlite", {"command": "uvx", "args": ["mcp-server-sqlite", "--db", "/x" * 60]})
    page = sign_in(new_page(), crib.sign_in_address())
    page.set_viewport_size({"width": NARROW["width"], "height": NARROW["height"]})
    page.goto(f"{crib.base}/servers")

    shows(page, "sqlite", "Needs trust")
    expect(row(page, "sqlite").get_by_role("button", name="Review…")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def write(file: Path, content: object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content))
