"""The tools through a host, what approval questions show, invitations, pages and free time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import toolcrib
from tests.bundled.calendar.conftest import ZONE, Diary
from tests.bundled.calendar.radicale_server import PASSWORD, CalendarUser, Radicale, vevent
from toolcrib.accounts import AccountStore
from toolcrib.bundled.calendar import create
from toolcrib.serverkit.data_flow import data_flow

ENTRY = {"type": "inprocess", "module": "toolcrib.bundled.calendar", "args": ["--time-zone", ZONE]}


async def test_every_tool_works_through_a_host(user: CalendarUser, tmp_path: Path) -> None:
    AccountStore.of_home(tmp_path).add(user.account(), PASSWORD)
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": {"calendar": ENTRY}}))

    async with toolcrib.open_host(tmp_path) as host:

        async def call(tool: str, **arguments: Any) -> dict[str, Any]:
            result = await host.call(f"calendar__{tool}", arguments)
            assert not result.get("isError"), result
            return dict(result["structuredContent"])

        made = await call(
            "create_event", title="Review", start="2030-11-22T09:00", recurrence="every Friday 3 times"
        )
        quick = await call("quick_add_event", text="Lunch with Anna 22 November 2030 12:30")
        await call("update_event", id=made["event"]["id"], start="10:00")
        listed = await call("get_events", start="2030-11-22", end="2030-12-02")
        found = await call("search_events", query="lunch", start="2030-11-01")
        busy = await call("get_free_busy", start="2030-11-22T09:00", end="2030-11-22T14:00")
        await call("delete_event", id=quick["event"]["id"])
        calendars = await call("list_calendars")

    assert [(event["title"], event["start"][5:16]) for event in listed["events"]] == [
        ("Review", "11-22T10:00"),
        ("Lunch with Anna", "11-22T12:30"),
        ("Review", "11-29T09:00"),
    ]
    assert [event["title"] for event in found["events"]] == ["Lunch with Anna"]
    assert [(span["start"][11:16], span["end"][11:16]) for span in busy["free"]] == [
        ("09:00", "10:00"),
        ("11:00", "12:30"),
        ("13:30", "14:00"),
    ]
    assert calendars["calendars"][0]["name"] == "Work"


async def test_the_declarations_are_true(tmp_path: Path) -> None:
    tools = create([], tmp_path).tools

    reads = {name for name, tool in tools.items() if tool.definition["annotations"]["readOnlyHint"]}
    assert reads == {"get_events", "search_events", "get_free_busy", "list_calendars"}
    assert tools["delete_event"].definition["annotations"]["destructiveHint"] is True
    flows = {name: data_flow(tool.definition) for name, tool in tools.items()}
    assert all(flow is not None and flow.outside and flow.private for flow in flows.values())
    assert {name for name, flow in flows.items() if flow is not None and flow.reach == "account"} == reads
    assert all("outputSchema" in tool.definition for tool in tools.values())
    assert list(tools["get_events"].definition["inputSchema"]["properties"])[-1] == "account"


async def test_without_an_account_the_user_is_told_how_to_add_one(tmp_path: Path) -> None:
    refused = await create([], tmp_path).tools["get_events"].call({})

    assert "toolcrib account add" in refused["content"][0]["text"]


async def test_several_accounts_are_chosen_by_name(radicale: Radicale, tmp_path: Path) -> None:
    store = AccountStore.of_home(tmp_path)
    for name in ("one", "two"):
        user = radicale.user()
        user.add_calendar(name)
        store.add(user.account(name), PASSWORD)
    diary = Diary(user, tmp_path, create([], tmp_path))

    assert "one" in await diary.refusal("list_calendars")
    assert (await diary.call("list_calendars", account="two"))["calendars"][0]["id"] == "two"


async def preview(diary: Diary, tool: str, **arguments: Any) -> dict[str, Any]:
    shown = await diary.server.tools[tool].preview(arguments)  # type: ignore[union-attr]
    assert shown is not None
    return shown


async def test_a_new_event_is_shown_before_it_is_created(diary: Diary) -> None:
    shown = await preview(
        diary,
        "create_event",
        title="Review",
        start="2026-11-20T09:00",
        duration=90,
        location="Room 5",
        attendees=["Anna <anna@example.org>"],
        recurrence="every Friday",
        description="Bring the plan",
    )

    assert shown == {
        "kind": "event",
        "action": "create",
        "account": "home",
        "calendar": "Work",
        "title": "Review",
        "start": "Fri 20 Nov 2026 09:00 Europe/Berlin",
        "end": "Fri 20 Nov 2026 10:30 Europe/Berlin",
        "all_day": False,
        "where": "Room 5",
        "attendees": ["Anna <anna@example.org>"],
        "recurrence": "every week on Fri",
        "text": "Bring the plan",
        "notify": True,
    }
    assert await diary.events("2026-11-01", "2026-12-31") == []


async def test_a_change_is_shown_with_what_changes(diary: Diary) -> None:
    made = await diary.call("create_event", title="Sync", start="2026-11-02T09:00", recurrence="every Monday")
    name = made["event"]["id"]

    changed = await preview(
        diary, "update_event", id=name, start="11:00", title="Late sync", scope="following"
    )
    deleted = await preview(diary, "delete_event", id=name, scope="all")

    assert changed["text"].splitlines() == [
        "Applies to this and all following occurrences.",
        "Title: Sync → Late sync",
        "When: Mon 2 Nov 2026 09:00–10:00 Europe/Berlin → Mon 2 Nov 2026 11:00–12:00 Europe/Berlin",
    ]
    assert (changed["action"], changed["start"]) == ("update", "Mon 2 Nov 2026 11:00 Europe/Berlin")
    assert (deleted["action"], deleted["text"]) == ("delete", "Deletes all occurrences.")
    assert len(await diary.events("2026-11-02", "2026-11-02")) == 1


async def test_invitations_are_stored_for_the_server_to_send(diary: Diary) -> None:
    made = await diary.call(
        "create_event", title="A", start="2026-11-20T09:00", attendees=["Anna Berg <anna@example.org>"]
    )

    stored = diary.user.stored("work", made["event"]["id"].split("/")[1])
    assert f"ORGANIZER:mailto:{diary.user.name}" in stored
    assert 'ATTENDEE;CN="Anna Berg"' in stored or "ATTENDEE;CN=Anna Berg" in stored
    assert "RSVP=TRUE" in stored
    assert "SCHEDULE-AGENT" not in stored
    assert made["remarks"] == ["This server does not send invitations: the attendees were not notified."]


async def test_without_notification_the_server_is_asked_not_to_send(diary: Diary) -> None:
    made = await diary.call(
        "create_event", title="A", start="2026-11-20T09:00", attendees=["anna@example.org"], notify=False
    )

    assert "SCHEDULE-AGENT=CLIENT" in diary.user.stored("work", made["event"]["id"].split("/")[1])


async def test_an_invitation_can_only_be_answered(diary: Diary) -> None:
    own = diary.user.name
    invitation = vevent(
        "i",
        "DTSTART:20261120T080000Z",
        "DTEND:20261120T090000Z",
        "SUMMARY:Planning",
        "ORGANIZER:mailto:boss@example.org",
        f"ATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:{own}",
        "ATTENDEE;PARTSTAT=ACCEPTED:mailto:anna@example.org",
    )
    diary.user.put("work", "i", invitation)
    (event,) = await diary.events("2026-11-20", "2026-11-20")

    refused = await diary.refusal("update_event", id=event["id"], start="2026-11-21T09:00")
    answered = await diary.call("update_event", id=event["id"], response="declined")

    assert "boss@example.org" in refused
    assert [each["response"] for each in answered["event"]["attendees"]] == ["declined", "accepted"]
    assert "PARTSTAT=DECLINED" in diary.user.stored("work", "i")
    assert "declined" in (await preview(diary, "delete_event", id=event["id"]))["text"]


async def test_changed_attendees_keep_their_answers(diary: Diary) -> None:
    made = await diary.call(
        "create_event", title="A", start="2026-11-20T09:00", attendees=["anna@example.org"]
    )
    uid = made["event"]["id"].split("/")[1]
    stored = diary.user.stored("work", uid).replace("NEEDS-ACTION", "ACCEPTED")
    diary.user.request("PUT", f"work/{uid}.ics", content=stored.encode())

    changed = await diary.call(
        "update_event", id=made["event"]["id"], attendees=["anna@example.org", "bo@example.org"]
    )

    assert [(each["address"], each["response"]) for each in changed["event"]["attendees"]] == [
        ("anna@example.org", "accepted"),
        ("bo@example.org", "needs-action"),
    ]


async def test_a_long_list_is_paged(diary: Diary) -> None:
    await diary.call(
        "create_event", title="Daily", start="2026-11-01T09:00", recurrence="FREQ=DAILY;COUNT=25"
    )

    pages = [
        await diary.call("get_events", start="2026-11-01", end="2026-12-31", max_results=10, page=page)
        for page in (1, 2, 3)
    ]

    assert [len(page["events"]) for page in pages] == [10, 10, 5]
    assert {page["total"] for page in pages} == {25}
    assert len({event["id"] for page in pages for event in page["events"]}) == 25
    assert "Page 1 of 3" in await diary.text(
        "get_events", start="2026-11-01", end="2026-12-31", max_results=10
    )
    assert "no page 4" in await diary.refusal(
        "get_events", start="2026-11-01", end="2026-12-31", max_results=10, page=4
    )


async def test_events_marked_as_free_are_not_busy(diary: Diary) -> None:
    diary.user.put(
        "work", "f", vevent("f", "DTSTART:20261120T080000Z", "DTEND:20261120T090000Z", "TRANSP:TRANSPARENT")
    )

    found = await diary.call("get_free_busy", start="2026-11-20", end="2026-11-20")

    assert found["busy"] == [{"who": "Work", "busy": [], "problem": ""}]


async def test_the_time_of_others_is_unknown_on_a_server_without_scheduling(diary: Diary) -> None:
    found = await diary.call(
        "get_free_busy", start="2026-11-20", end="2026-11-20", attendees=["anna@example.org"]
    )

    assert "cannot look up" in found["busy"][0]["problem"]


async def test_an_event_in_another_zone_keeps_it(diary: Diary) -> None:
    made = await diary.call(
        "create_event", title="Call", start="2026-11-20T09:00", time_zone="America/New_York"
    )

    moved = await diary.call("update_event", id=made["event"]["id"], start="10:30")

    assert moved["event"]["start"] == "2026-11-20T10:30:00-05:00"
    assert "16:30–17:30" in await diary.text("get_events", start="2026-11-20", end="2026-11-20")
    stored = diary.user.stored("work", made["event"]["id"].split("/")[1])
    assert "DTSTART;TZID=America/New_York:20261120T103000" in stored
    assert "BEGIN:VTIMEZONE" in stored


@pytest.mark.parametrize(
    ("change", "start", "end"),
    [
        ({"start": "2026-11-21"}, "2026-11-21T09:00:00+01:00", "2026-11-21T10:00:00+01:00"),
        ({"start": "2026-11-20T12:00Z"}, "2026-11-20T13:00:00+01:00", "2026-11-20T14:00:00+01:00"),
        ({"duration": "2h"}, "2026-11-20T09:00:00+01:00", "2026-11-20T11:00:00+01:00"),
        (
            {"start": "2026-11-18T09:00", "end": "09:30"},
            "2026-11-18T09:00:00+01:00",
            "2026-11-18T09:30:00+01:00",
        ),
        ({"end": "09:30"}, "2026-11-20T09:00:00+01:00", "2026-11-20T09:30:00+01:00"),
        ({"start": "2026-11-20", "all_day": True}, "2026-11-20", "2026-11-20"),
        ({"all_day": True, "end": "2026-11-22"}, "2026-11-20", "2026-11-22"),
    ],
)
async def test_times_change_as_meant(diary: Diary, change: dict[str, Any], start: str, end: str) -> None:
    made = await diary.call("create_event", title="A", start="2026-11-20T09:00")

    changed = await diary.call("update_event", id=made["event"]["id"], **change)

    assert (changed["event"]["start"], changed["event"]["end"]) == (start, end)
    assert await diary.starts("2026-11-01", "2026-11-30") == [start]


async def test_every_attendee_of_an_entry_is_invited(diary: Diary) -> None:
    made = await diary.call(
        "create_event",
        title="A",
        start="2026-11-20T09:00",
        attendees=["bob@example.com, Eve <eve@example.com>"],
    )

    assert [each["address"] for each in made["event"]["attendees"]] == ["bob@example.com", "eve@example.com"]


async def test_an_attendee_on_two_lines_is_refused(diary: Diary) -> None:
    said = await diary.refusal(
        "create_event",
        title="A",
        start="2026-11-20T09:00",
        attendees=["A\r\nATTENDEE:mailto:eve@example.com <bob@example.com>"],
    )

    assert "is not a mail address" in said
