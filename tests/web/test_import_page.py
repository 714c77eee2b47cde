"""Importing servers from config files that are chosen, dropped or pasted in a real browser."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.web.browsing import NARROW, Complaints, sign_in
from tests.web.running import Crib

NewPage = Callable[[], Page]
DROP = """([target, name, text]) => {
  const data = new DataTransfer()
  data.items.add(new File([text], name))
  document.querySelector(target).dispatchEvent(
    new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true}))
}"""


def _cursor(*names: str) -> str:
    servers = {name: {"command": sys.executable, "args": ["${env:HOME}/server.py"]} for name in names}
    return json.dumps({"mcpServers": servers})


def _names(crib: Crib) -> set[str]:
    return set(json.loads((crib.home / "mcp.json").read_text())["mcpServers"])


@pytest.fixture
def dialog(crib: Crib, new_page: NewPage, tmp_path: Path) -> Locator:
    """The import dialog, where no other program has a config file."""
    crib.environment["TOOLCRIB_TRUST_CONFIG"] = "0"
    crib.environment["HOME"] = str(tmp_path)
    page = sign_in(new_page(), crib.sign_in_address(), "/servers")
    page.get_by_role("button", name="Import", exact=False).first.click()
    found = page.get_by_role("dialog", name="Import servers")
    expect(found).to_contain_text("No config files of other clients were found here.")
    return found


def test_a_chosen_file_is_previewed_and_imported_without_a_start(
    crib: Crib, dialog: Locator, tmp_path: Path
) -> None:
    file = tmp_path / "given.json"
    file.write_text(_cursor("one", "demo"))

    dialog.get_by_label("Config file", exact=True).set_input_files(file)

    expect(dialog.get_by_role("row").filter(has_text="Cursor")).to_have_count(2)
    expect(dialog.get_by_label("Import demo from Cursor")).not_to_be_checked()
    dialog.get_by_role("button", name="Import 1 (nothing starts)").click()
    expect(dialog).to_be_hidden()
    [one] = [server for server in crib.run("servers") if server["name"] == "one"]
    assert one["state"] == "needs-trust"
    raw = json.loads((crib.home / "mcp.json").read_text())["mcpServers"]["one"]
    assert raw["args"] == ["${HOME}/server.py"]


def test_several_files_are_dropped_and_one_is_left_out(crib: Crib, dialog: Locator) -> None:
    page = dialog.page
    page.evaluate(DROP, [".drop-place", "a.json", _cursor("one")])
    expect(dialog.get_by_label("Import one from Cursor")).to_be_checked()
    page.evaluate(DROP, [".drop-place", "b.toml", '[mcp_servers.two]\ncommand = "two"\n'])
    expect(dialog.get_by_label("Import two from Codex")).to_be_checked()

    dialog.get_by_role("button", name="Leave out a.json").click()

    expect(dialog.get_by_label("Import one from Cursor")).to_have_count(0)
    dialog.get_by_role("button", name="Import 1 (nothing starts)").click()
    expect(dialog).to_be_hidden()
    assert "two" in _names(crib)
    assert "one" not in _names(crib)


def test_pasted_text_is_previewed_and_what_is_no_config_file_is_told(
    dialog: Locator, tmp_path: Path, complaints: Complaints
) -> None:
    complaints.expect(r"status of 400.*import_plan")
    page = dialog.page
    page.evaluate("text => navigator.clipboard.writeText(text)", _cursor("pasted"))
    dialog.get_by_label("Paste or drop a config file").press("ControlOrMeta+v")
    expect(dialog.get_by_label("Import pasted from Cursor")).to_be_checked()
    dialog.get_by_role("button", name="Leave out Pasted text").click()

    picture, broken = tmp_path / "picture.png", tmp_path / "broken.json"
    picture.write_bytes(b"\x89PNG\0\0")
    broken.write_text('{"mcpServers": ')
    dialog.get_by_label("Config file", exact=True).set_input_files([picture, broken])

    expect(dialog.get_by_role("alert").filter(has_text="picture.png is no text")).to_be_visible()
    expect(dialog.get_by_role("alert").filter(has_text="broken.json cannot be read")).to_be_visible()


def test_a_phone_imports_a_file_too(crib: Crib, new_page: NewPage, tmp_path: Path) -> None:
    file = tmp_path / "given.json"
    file.write_text(_cursor("one"))
    crib.environment["HOME"] = str(tmp_path)
    page = new_page()
    page.set_viewport_size(NARROW)
    sign_in(page, crib.sign_in_address(), "/servers")
    page.get_by_role("button", name="Import", exact=False).first.click()

    page.get_by_label("Config file", exact=True).set_input_files(file)
    page.get_by_role("button", name="Import 1 (nothing starts)").click()

    expect(page.get_by_role("dialog")).to_be_hidden()
    assert "one" in _names(crib)
