"""Observations of real programs, and how their events reach clients of both protocol eras."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.bundled.desktop.conftest import Programs, eventually, window_of
from tests.bundled.desktop.full_server import FullServer
from toolcrib.bundled.desktop.backend import Backend, Element, ElementTree
from toolcrib.bundled.desktop.geometry import Rect
from toolcrib.bundled.desktop.observations.hub import MAX_QUEUED, Observations, compare_elements
from toolcrib.bundled.desktop.observations.model import (
    ObservationFilter,
    ObservationRequest,
    ObservedChange,
)

MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/logLevel": "info",
}


@pytest.fixture
async def full(backend: Backend, tmp_path: Path) -> AsyncIterator[FullServer]:
    made = FullServer(backend, tmp_path / "home")
    yield made
    made.server.close()


async def entry(programs: Programs, backend: Backend) -> subprocess.Popen[bytes]:
    process = programs.start("zenity", "--entry", "--title=Observed")
    await window_of(backend, process)
    return process


async def until(full: FullServer, name: str, *wanted: str) -> list[dict[str, Any]]:
    """The events so far, as soon as their types include these."""
    events: list[dict[str, Any]] = []

    async def came() -> bool:
        read = await full.data("get_observation", name=name, after=len(events), wait=5)
        events.extend(read["events"])
        return set(wanted) <= set(map(kind_of, events))

    await eventually(came)
    return events


def kind_of(event: dict[str, Any]) -> str:
    about = event.get("window_event") or event.get("application_event") or {}
    return about.get("event_type") or next(key for key in event if key.startswith("element"))


async def test_windows_and_applications_are_observed(
    full: FullServer, backend: Backend, programs: Programs
) -> None:
    everything = {"parent": "applications/-", "observation_id": "all"}
    windows = await full.data("create_observation", observation={"type": "window_changes"}, **everything)
    assert windows["name"] == "applications/-/observations/all"
    apps = await full.data(
        "create_observation",
        parent="applications/-",
        observation={"type": "OBSERVATION_TYPE_APPLICATION_CHANGES", "filter": {"poll_interval": 0.1}},
    )
    process = await entry(programs, backend)
    window = await window_of(backend, process)
    await until(full, windows["name"], "created")
    await backend.windows.place(window.id, Rect(40, 60, 400, 200))
    moved = await until(full, windows["name"], "moved")
    assert {each["window_event"]["window_id"] for each in moved} == {str(window.id)}
    await until(full, apps["name"], "launched", "activated")
    process.kill()
    process.wait()
    await until(full, windows["name"], "destroyed")
    ended = await until(full, apps["name"], "terminated")
    assert {each["application_event"]["application"] for each in ended} == {process.pid}
    assert (await full.data("cancel_observation", name=windows["name"]))["state"] == "cancelled"
    listed = await full.data("list_observations", parent="applications/-", page_size=1)
    assert listed["observations"][0]["state"] == "cancelled"
    assert listed["next_page_token"]


async def test_elements_are_observed_until_their_program_ends(
    full: FullServer, backend: Backend, programs: Programs
) -> None:
    process = await entry(programs, backend)
    field = await full.data(
        "execute_macro", macro=await _macro(full), application=str(process.pid), options={"timeout": 30}
    )
    assert field["success"]
    made = await full.data(
        "create_observation",
        parent=f"applications/{process.pid}",
        observation={
            "type": "attribute_changes",
            "filter": {"poll_interval": 0.2, "attributes": ["value"], "roles": ["text"]},
        },
    )
    await full.data("execute_macro", macro="write", application=str(process.pid))
    events = await until(full, made["name"], "element_modified")
    change = events[-1]["element_modified"]["changes"][0]
    assert (change["attribute"], change["new_value"]) == ("value", "written")
    process.kill()
    process.wait()

    async def is_completed() -> bool:
        state: str = (await full.data("get_observation", name=made["name"]))["state"]
        return state == "completed"

    await eventually(is_completed)


async def _macro(full: FullServer) -> str:
    """Waits for the field; and one that writes to it."""
    wait = {"wait": {"condition": {"element_selector": "role:textbox"}}}
    write = {"method_call": {"method": "write_element_value", "args": {
        "selector": "role:textbox", "value": "written"}}}  # fmt: skip
    await full.data("create_macro", macro={"display_name": "w", "actions": [wait]}, macro_id="wait")
    await full.data("create_macro", macro={"display_name": "w", "actions": [write]}, macro_id="write")
    return "wait"


async def test_an_older_client_gets_events_between_calls(
    full: FullServer, backend: Backend, programs: Programs
) -> None:
    sent: list[dict[str, Any]] = []
    session = full.server.session()
    await _ask(session, sent, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={})
    observation = {"type": "window_changes", "filter": {"poll_interval": 0.1}}
    arguments = {"parent": "applications/-", "observation": observation}
    await _ask(session, sent, "tools/call", name="create_observation", arguments=arguments)
    process = await entry(programs, backend)

    async def came() -> bool:
        return any(kind_of(each["params"]["data"]) == "created" for each in sent)

    await eventually(came)
    assert {each["method"] for each in sent} == {"notifications/message"}
    session.end()
    so_far = len(sent)
    process.kill()
    process.wait()
    name = (await full.data("list_observations"))["observations"][0]["name"]
    await until(full, name, "destroyed")
    assert len(sent) == so_far


async def test_a_current_client_gets_events_while_it_waits(
    full: FullServer, backend: Backend, programs: Programs
) -> None:
    sent: list[dict[str, Any]] = []
    session = full.server.session()
    observation = {"type": "window_changes", "filter": {"poll_interval": 0.1}}
    arguments: dict[str, Any] = {"parent": "applications/-", "observation": observation}
    made = await _ask(
        session, sent, "tools/call", name="create_observation", arguments=arguments, _meta=MODERN
    )
    name = made["result"]["structuredContent"]["name"]
    await entry(programs, backend)
    await until(full, name, "created")
    assert sent == []
    meta = {**MODERN, "progressToken": "p"}
    arguments = {"name": name, "wait": 10}
    read = await _ask(session, sent, "tools/call", name="get_observation", arguments=arguments, _meta=meta)
    events = read["result"]["structuredContent"]["events"]
    assert kind_of(events[0]) == "created"
    assert [each["method"] for each in sent[:2]] == ["notifications/progress", "notifications/message"]
    assert sent[1]["params"]["data"] == events[0]


async def _ask(session: Any, sent: list[dict[str, Any]], method: str, **params: Any) -> Any:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return await session.respond(message, sent.append)


async def test_a_stream_drops_the_oldest_and_ends_with_its_observation(full: FullServer) -> None:
    observations = Observations(full.session)
    run = await observations.create("applications/-", ObservationRequest("window_changes"))
    stream = run.stream()
    run.publish(ObservedChange("application_event", "launched", 0))
    assert (await anext(stream)).sequence == 1
    for number in range(MAX_QUEUED + 10):
        run.publish(ObservedChange("application_event", "launched", number))
    observations.cancel(run.about.name)
    left = [event.sequence async for event in stream]
    assert left[-1] == MAX_QUEUED + 11
    assert len(left) < MAX_QUEUED + 10
    assert run.task is not None
    await asyncio.wait((run.task,), timeout=10)
    assert run.task.cancelled()


async def test_observations_expire_are_limited_and_end_with_the_server(
    full: FullServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolcrib.bundled.desktop.observations.hub.MAX_ACTIVE", 2)
    short = Observations(full.session, lifetime=0.2)
    request = ObservationRequest("window_changes")
    run = await short.create("-", request)
    assert [event async for event in run.stream()] == []
    assert run.about.state == "completed"
    arguments: dict[str, Any] = {"parent": "-", "observation": {"type": "window_changes"}}
    first = await full.data("create_observation", **arguments)
    await full.data("create_observation", **arguments)
    assert "2 observations are active" in await full.refused("create_observation", **arguments)
    await full.data("cancel_observation", name=first["name"])
    wrong = {"parent": "-", "observation": {"type": "tree_changes"}}
    assert "needs an application" in await full.refused("create_observation", **wrong)
    unknown = await full.refused("create_observation", parent="-", observation={"type": "tree_change"})
    assert "observation.type: Input should be 'element_changes'" in unknown
    assert "Did you mean tree_changes" in unknown
    assert "no observation" in await full.refused("get_observation", name="applications/-/observations/x")
    before = {task for task in asyncio.all_tasks() if task.get_name().startswith("applications/")}
    full.server.close()
    await asyncio.wait(before, timeout=10)
    assert all(task.done() for task in before)


def test_an_incomplete_tree_removes_nothing_and_filters_apply() -> None:
    def element(number: int, role: str, name: str, *states: str) -> Element:
        return Element(("x", str(number)), None, role, name, states=frozenset(states))

    before = ElementTree(
        1, (element(1, "push button", "OK", "showing"), element(2, "label", "old", "showing"))
    )
    after = ElementTree(
        1, (element(2, "label", "new", "showing"), element(3, "push button", "Go")), complete=False
    )
    kinds = [each.kind for each in compare_elements(before, after, ObservationFilter())]
    assert kinds == ["element_added", "element_modified"]
    buttons = ObservationFilter(roles=("push_button",), visible_only=True)
    assert compare_elements(before, after, buttons) == []
    removed = compare_elements(before, ElementTree(1, ()), buttons)
    assert [each.element.name for each in removed if each.element] == ["OK"]
