"""Recording: what a user typed and clicked is replayed in a fresh program with the same result."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.bundled.desktop.conftest import Programs, eventually, window_of
from tests.bundled.desktop.full_server import FullServer
from tests.bundled.desktop.synthetic_user import SyntheticUser
from tests.conftest import Crib
from tests.features.workflows.host.workflow_sample import run
from toolcrib.bundled.desktop.backend import Backend
from toolcrib.bundled.desktop.elements.search import wait_for
from toolcrib.bundled.desktop.elements.selector import parse_selector
from toolcrib.bundled.desktop.geometry import Point
from toolcrib.bundled.desktop.headless import HeadlessDisplay
from toolcrib.bundled.desktop.macros.model import Macro
from toolcrib.bundled.desktop.macros.store import MacroStore
from toolcrib.bundled.desktop.recording import MacroRecorder, record_macro
from toolcrib.bundled.desktop.recording.workflow import export_workflow
from toolcrib.bundled.desktop.records import write_record

MENU = {"role": "menu", "text": "File"}
SAVE_AS = {"role": "menu item", "text": "Save As..."}
SAVE = {"role": "push button", "text": "Save", "attributes": {"visible": "true", "enabled": "true"}}
"""It is disabled until the dialog has taken in the name."""
NAME = {"role": "text", "attributes": {"single_line": "true", "visible": "true"}}
AREA = {"role": "text", "attributes": {"multi_line": "true"}}

FIELD = {"attributes": {"role": "text"}}


@pytest.fixture
def user(display: HeadlessDisplay) -> Iterator[SyntheticUser]:
    made = SyntheticUser(display.target)
    yield made
    made.close()


@pytest.fixture
def full(backend: Backend, tmp_path: Path) -> FullServer:
    return FullServer(backend, tmp_path / "home")


async def place(backend: Backend, process: subprocess.Popen[bytes], selector: dict[str, Any]) -> Point:
    """The middle of an element, as soon as it is visible."""
    found = await wait_for(backend, process.pid, parse_selector(selector), 30)
    rects = [each.rect for each in found.matches if each.visible and each.rect]
    assert rects, selector
    return rects[0].centre


async def replay(full: FullServer, macro: Macro, **arguments: Any) -> Any:
    MacroStore.of_home(full.session.settings.home).create(macro, "recorded")
    return await full.data("execute_macro", macro="recorded", **arguments)


def methods(macro: Macro) -> list[str]:
    return [each.method_call.method for each in macro.actions if each.method_call]


def clicked_names(macro: Macro) -> list[str]:
    calls = [each.method_call for each in macro.actions if each.method_call]
    clicks = [call for call in calls if call.method == "click_element"]
    return [json.loads(call.args["selector"]).get("text", "") for call in clicks]


@pytest.mark.acceptance
async def test_typing_and_clicking_are_replayed_in_a_fresh_program(
    full: FullServer, backend: Backend, programs: Programs, user: SyntheticUser, tmp_path: Path
) -> None:
    file = tmp_path / "note.txt"
    first = programs.start("mousepad")
    await window_of(backend, first)
    area = await place(backend, first, AREA)
    async with record_macro(backend) as recorder:
        user.click(area)
        await settled(recorder, user)
        user.type("Dear Ada, 50% {is} ${done}; x")
        user.press("backspace")
        user.press("enter")
        user.type("Second line")
        await settled(recorder, user)
        user.click(await place(backend, first, MENU))
        entry = await place(backend, first, SAVE_AS)
        await settled(recorder, user)
        user.click(entry)
        await place(backend, first, NAME)
        await settled(recorder, user)
        user.press("ctrl", "a")
        user.type(str(file))
        await settled(recorder, user)
        user.click(await place(backend, first, SAVE))
        await eventually(lambda: is_file(file))
        user.press("ctrl", "alt", "End")
        await asyncio.wait_for(recorder.ended.wait(), 30)
    expected = file.read_bytes()
    assert expected.startswith(b"Dear Ada, 50% {is} ${done}; \nSecond line")
    first.kill()
    first.wait()
    file.unlink()
    macro = recorder.macro("Save a note")
    assert "Save As..." in clicked_names(macro), write_record(macro)
    assert "click" not in methods(macro)
    assert [(each.key, each.default_value) for each in macro.parameters] == [("application", "mousepad")]

    second = programs.start("mousepad")
    await window_of(backend, second)
    await replay(full, macro)
    await eventually(lambda: is_file(file))
    assert file.read_bytes() == expected


async def settled(recorder: MacroRecorder, user: SyntheticUser) -> None:
    """A user looks at the screen before the next step."""

    async def has_arrived() -> bool:
        return recorder.received >= user.done

    await eventually(has_arrived)
    assert await recorder.settled()


async def is_file(file: Path) -> bool:
    return file.exists() and file.stat().st_size > 0


async def test_passwords_are_not_recorded_and_asked_for_instead(
    full: FullServer, backend: Backend, programs: Programs, user: SyntheticUser
) -> None:
    options = ("--forms", "--title=Sign in", "--add-entry=User", "--add-password=Password")
    first = programs.start("zenity", *options, stdout=subprocess.PIPE)
    await window_of(backend, first)
    name = await place(backend, first, FIELD)
    async with record_macro(backend) as recorder:
        user.click(name)
        await settled(recorder, user)
        user.type("ada")
        user.press("tab")
        user.type("Geheim7")  # at once, before anyone could look where the focus is
        await settled(recorder, user)
        user.click(await place(backend, first, {"role": "button", "text": "OK"}))
        await settled(recorder, user)
    assert (await asyncio.to_thread(first.communicate, None, 20))[0] == b"ada|Geheim7\n"
    macro = recorder.macro("Sign in")
    stored = str(write_record(macro))
    assert "Geheim" not in stored
    assert "G" not in [args.get("text") for args in _args(macro)]
    assert "ada" in [args.get("text") for args in _args(macro)]
    assert [each.key for each in macro.parameters if each.required] == ["secret_1"]

    second = programs.start("zenity", *options, stdout=subprocess.PIPE)
    await window_of(backend, second)
    await place(backend, second, FIELD)
    await replay(full, macro, parameter_values={"secret_1": "Other8"})
    assert (await asyncio.to_thread(second.communicate, None, 20))[0] == b"ada|Other8\n"


def _args(macro: Macro) -> list[dict[str, str]]:
    return [dict(each.method_call.args) for each in macro.actions if each.method_call]


async def test_programs_without_elements_are_recorded_by_places_in_their_window(
    backend: Backend, programs: Programs, user: SyntheticUser
) -> None:
    process = programs.start("xterm", "-T", "plain", "-e", "sleep", "60")
    window = await backend.windows.focus((await window_of(backend, process)).id)
    middle = window.rect.centre
    async with record_macro(backend) as recorder:
        user.click(middle, times=2)
        user.drag(middle, middle.moved(40, 20))
        user.click(middle, button=5, times=3)
        user.type("secret")
        await settled(recorder, user)
    macro = recorder.macro("Places")
    inside = {"x": str(middle.x - window.rect.x), "y": str(middle.y - window.rect.y)}
    application = {"application": "${application}"}
    assert _args(macro) == [
        {**inside, **application, "click_count": "2"},
        {**inside, "to_x": str(middle.x - window.rect.x + 40), "to_y": str(middle.y - window.rect.y + 20),
         **application},
        {**inside, **application, "down": "3", "right": "0"},
        {"text": "${secret_1}", **application},
    ]  # fmt: skip
    before = user.done
    async with record_macro(backend, all_text=True) as recorder:
        user.type("Plain ")
        user.press("ctrl", "shift", "t")
        user.press("F5")
        user.press("F5")
        user.done -= before
        await settled(recorder, user)
    assert _args(recorder.macro("Text")) == [
        {"text": "Plain ", **application},
        {"key": "t", "modifiers": "ctrl,shift", **application},
        {"key": "f5", "times": "2", **application},
    ]


@pytest.mark.acceptance
async def test_the_command_records_until_it_is_interrupted(
    backend: Backend, display: HeadlessDisplay, programs: Programs, user: SyntheticUser, tmp_path: Path
) -> None:
    process = programs.start("zenity", "--entry", "--title=Ask")
    window = await window_of(backend, process)
    field = await place(backend, process, FIELD)
    await backend.windows.focus(window.id)
    command = [sys.executable, "-m", "toolcrib", "desktop", "record", "greet", "--json"]
    environment = {**display.target.environment, "TOOLCRIB_HOME": str(tmp_path / "home")}
    recording = await asyncio.create_subprocess_exec(
        *command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert recording.stderr is not None
    said = await asyncio.wait_for(recording.stderr.readline(), 60)
    assert said.startswith(b"Recording. ctrl+alt+End or Ctrl-C ends it."), said
    user.click(field)
    user.type("Hello")
    user.press("ctrl", "alt", "End")
    output, _ = await asyncio.wait_for(recording.communicate(), 60)
    assert recording.returncode == 0
    assert json.loads(output) == {"name": "macros/greet", "actions": 2, "required_parameters": []}
    stored = MacroStore.of_home(tmp_path / "home").get("greet")
    assert [dict(each.method_call.args).get("text") for each in stored.actions if each.method_call] == [
        None,
        "Hello",
    ]
    again = await asyncio.create_subprocess_exec(*command[:-1], env=environment, stderr=subprocess.PIPE)
    _, refused = await asyncio.wait_for(again.communicate(), 60)
    assert b"already a macro 'greet'" in refused
    other = await asyncio.create_subprocess_exec(
        *command[:-2], "nothing", env=environment, stderr=subprocess.PIPE
    )
    assert other.stderr is not None
    await asyncio.wait_for(other.stderr.readline(), 60)
    other.send_signal(signal.SIGINT)
    _, refused = await asyncio.wait_for(other.communicate(), 60)
    assert b"Nothing was recorded" in refused


async def test_a_recording_runs_as_a_workflow(
    crib: Crib,
    backend: Backend,
    display: HeadlessDisplay,
    programs: Programs,
    user: SyntheticUser,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    options = ("--forms", "--title=Sign in", "--add-entry=User", "--add-password=Password")
    first = programs.start("zenity", *options, stdout=subprocess.PIPE)
    await window_of(backend, first)
    name = await place(backend, first, FIELD)
    async with record_macro(backend) as recorder:
        user.click(name)
        await settled(recorder, user)
        user.type("ada {{x}} ${y}")
        user.press("tab")
        user.type("Geheim7")
        await settled(recorder, user)
        user.click(await place(backend, first, {"role": "button", "text": "OK"}))
        await settled(recorder, user)
    await asyncio.to_thread(first.communicate, None, 20)
    MacroStore.of_home(crib.home).create(recorder.macro("Sign in"), "sign-in")
    text = export_workflow("sign-in", crib.home)

    for key, value in display.target.environment.items():
        monkeypatch.setenv(key, value)
    crib.setting(approvals={"modes": {"workflow": "off"}})
    crib.entry("desktop", {"type": "inprocess", "module": "toolcrib.bundled.desktop"})
    second = programs.start("zenity", *options, stdout=subprocess.PIPE)
    await window_of(backend, second)
    async with crib.open(trust_config=True) as host:
        await host.ready()
        assert await run(host, "workflow_validate", text=text) == {"ok": True, "problems": []}
        stored = await run(host, "workflow_import", text=text)
        review = await run(host, "workflow_review", name="sign-in")
        await run(host, "workflow_confirm", name="sign-in", version=review["version"])
        ran = await run(host, "workflow_run", name=stored["name"], inputs={"secret_1": "Other8"})
    assert ran["state"] == "finished", ran
    assert (await asyncio.to_thread(second.communicate, None, 20))[0] == b"ada {{x}} ${y}|Other8\n"
