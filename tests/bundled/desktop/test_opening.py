"""Opening programs: those that are running already, those that end at once, and those built on Chromium."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bundled.desktop.conftest import Programs, eventually
from tests.bundled.desktop.full_tools import FullTools
from toolcrib.bundled.desktop.chromium_programs import SWITCH, with_accessibility

PAGE = "<title>Form</title><button>Send it</button>"
CHROMIUM = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage"]


async def test_a_file_for_a_running_program_is_answered_with_its_window(
    full: FullTools, tmp_path: Path
) -> None:
    files = [tmp_path / "first.txt", tmp_path / "second.txt"]
    for file in files:
        file.write_text(file.stem)
    first = await full.data("open_application", id="mousepad", arguments=[str(files[0])])
    assert not first["running_before"]
    second = await full.result("open_application", id="mousepad", arguments=[str(files[1])])
    opened = second["structuredContent"]
    assert (opened["running_before"], opened["application"]) == (True, first["application"])
    assert "second.txt" in opened["window"]["title"]
    assert "running already" in second["content"][0]["text"]
    same = await full.data("open_application", id="mousepad", arguments=[str(files[1])])
    assert (same["running_before"], same["window"]["id"]) == (True, opened["window"]["id"])
    await full.data("delete_application", name=str(first["application"]), force=True)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo first >&2; echo 'no such file' >&2; exit 3", "sh ended with code 3: first\nno such file"),
        ("kill -SEGV $$", "sh was ended by the signal SIGSEGV."),
        ("exit 0", "sh ended with code 0 and shows no window."),
    ],
)
async def test_a_program_that_ends_without_a_window_says_how_and_why(
    full: FullTools, script: str, said: str
) -> None:
    ended = await full.result("open_application", id="sh", arguments=["-c", script])
    assert ended["isError"]
    assert ended["content"][0]["text"].startswith(said)


async def test_a_script_that_starts_a_program_in_the_background_is_waited_for(full: FullTools) -> None:
    script = "(sleep 4; exec xmessage -title 'After a while' Hello) & exit 0"
    opened = await full.data("open_application", id="sh", arguments=["-c", script])
    assert opened["window"]["title"] == "After a while"
    await full.data("delete_application", name=str(opened["application"]), force=True)


def test_programs_built_on_chromium_are_recognised_by_what_they_are(tmp_path: Path) -> None:
    def program(path: str, text: str = "\x7fELF", beside: str = "") -> str:
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)
        if beside:
            (file.parent / beside).parent.mkdir(exist_ok=True)
            (file.parent / beside).touch()
        return str(file)

    browser = program("own-browser/run", beside="chrome_100_percent.pak")
    packed = program("notes/notes", beside="resources/app.asar")
    script = program("scripts/start", f'#!/bin/sh\nexec {packed} "$@"\n')
    (tmp_path / "links").mkdir()
    link = tmp_path / "links" / "notes-link"
    link.symlink_to(packed)
    for each in (browser, packed, script, str(link)):
        assert with_accessibility([each, "a file"]) == [each, SWITCH, "a file"]
    assert with_accessibility(["env", "A=1", "google-chrome"]) == ["env", "A=1", "google-chrome", SWITCH]
    flatpak = ["flatpak", "run", "com.google.Chrome"]
    assert with_accessibility(flatpak) == [*flatpak, SWITCH]
    assert with_accessibility([browser, SWITCH]) == [browser, SWITCH]
    others = (program("plain/editor"), program("plain/script", "#!/bin/sh\nexec /usr/bin/env xterm\n"))
    for other in (*others, "mousepad", "xterm"):
        assert with_accessibility([other]) == [other]


@pytest.mark.acceptance
async def test_chromium_is_opened_with_its_elements_and_without_the_switch_that_is_said(
    full: FullTools, programs: Programs, tmp_path: Path
) -> None:
    page = tmp_path / "form.html"
    page.write_text(PAGE)
    words = [*CHROMIUM, f"--user-data-dir={tmp_path / 'profile'}", page.as_uri()]
    opened = await full.data("open_application", id="chromium", arguments=words, timeout=60)
    assert SWITCH in opened["command"]
    button = {"selector": {"role": "button", "text": "Send it"}, "parent": str(opened["application"])}
    assert (await full.data("find_elements", **button, wait=30))["elements"]
    await full.data("delete_application", name=str(opened["application"]), force=True)

    silent = programs.start("chromium", *CHROMIUM, f"--user-data-dir={tmp_path / 'other'}", page.as_uri())

    async def shown() -> bool:
        listed = await full.data("list_windows", parent=str(silent.pid))
        return any(each["title"].startswith("Form") for each in listed["windows"])

    await eventually(shown, 60)
    looked = await full.result("find_elements", parent=str(silent.pid))
    assert SWITCH in looked["content"][0]["text"]
    assert "open_application and this argument" in looked["content"][0]["text"]
