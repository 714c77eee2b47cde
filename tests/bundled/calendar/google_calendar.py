"""A small Google Calendar on a loopback port, with the sign-in of `tests.accounts.google_service`.

It stores events as Google does: a series once, its changed and cancelled occurrences beside it, each with an
etag. Occurrences are expanded with dateutil alone.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any
from urllib.parse import unquote, urlsplit
from zoneinfo import ZoneInfo

from dateutil.rrule import rrulestr

from tests.accounts.google_service import USER, Answer, GoogleService, _encode, _parse, _single

ZONE = "Europe/Berlin"
JSON = dict[str, Any]
NOT_FOUND = Answer(404, {"error": {"code": 404, "message": "Not Found"}})


@dataclass
class GoogleCalendarService(GoogleService):
    stored: dict[str, dict[str, JSON]] = field(default_factory=lambda: {USER: {}, "team@group": {}})
    """Events by calendar and id."""
    sent: list[str] = field(default_factory=list)
    """`sendUpdates` of every change."""
    page_size: int = 2500
    others: dict[str, list[JSON]] = field(default_factory=dict)
    """Busy spans of other addresses, in small letters."""
    groups: dict[str, list[str]] = field(default_factory=dict)
    """Members of groups."""
    naming: Callable[[str, str], str] = lambda series, key: secrets.token_hex(13)
    """Gives an occurrence its id; nothing else is known about ids."""
    names: dict[tuple[str, str], str] = field(default_factory=dict)
    """The ids of occurrences by series and original start."""

    def answer(self, method: str, target: str, headers: dict[str, str], body: bytes) -> Answer | None:
        parts = urlsplit(target)
        if not parts.path.startswith("/calendar/v3/"):
            return super().answer(method, target, headers, body)
        self.asked.append((method, parts.path))
        if self.planned:
            return self.planned.pop(0)
        issued = self.tokens.get(headers.get("authorization", "").removeprefix("Bearer "))
        if issued is None or issued.expires_at < time.time() or issued.grant.revoked:
            return Answer(401, {"error": {"code": 401, "message": "Invalid Credentials"}})
        query = _single(parts.query)
        if "sendUpdates" in query:
            self.sent.append(query["sendUpdates"])
        path = [unquote(part) for part in parts.path.removeprefix("/calendar/v3/").split("/")]
        return self._calendar(method, path, query, headers, json.loads(body) if body else {})

    def _calendar(self, method: str, path: list[str], query: JSON, headers: JSON, body: JSON) -> Answer:
        if path == ["users", "me", "calendarList"]:
            return Answer(
                200, {"items": [_listed(USER, "Ada", "owner"), _listed("team@group", "Team", "reader")]}
            )
        if path == ["freeBusy"]:
            return self._free_busy([each["id"].lower() for each in body["items"]])
        events = self.stored.get(path[1])
        if events is None:
            return NOT_FOUND
        if len(path) == 3:
            return self._insert(events, body, query) if method == "POST" else self._list(events, query)
        if path[4:] == ["instances"]:
            return self._instances(events, path[3], query)
        return self._one(method, events, path[3], headers, body)

    def _free_busy(self, asked: list[str]) -> Answer:
        if len(asked) > 50:
            return Answer(400, {"error": {"code": 400, "message": "Too many calendars requested."}})
        groups = {who: {"calendars": self.groups[who]} for who in asked if who in self.groups}
        members = [each for group in groups.values() for each in group["calendars"]]
        people = [who for who in asked if who not in groups]
        return Answer(
            200, {"groups": groups, "calendars": {who: self._busy(who) for who in [*people, *members]}}
        )

    def _busy(self, who: str) -> JSON:
        known = self.others.get(who)
        return {"busy": known} if known is not None else {"errors": [{"reason": "notFound"}], "busy": []}

    def _insert(self, events: dict[str, JSON], body: JSON, query: JSON) -> Answer:
        if not body.get("start") or not body.get("end"):
            return Answer(400, {"error": {"code": 400, "message": "Missing end time."}})
        if body.get("recurrence") and "dateTime" in body["start"] and not body["start"].get("timeZone"):
            return Answer(
                400, {"error": {"code": 400, "message": "Missing time zone definition for start time."}}
            )
        event = {**body, "id": secrets.token_hex(8), "status": "confirmed", "etag": _etag()}
        created = (event.pop("conferenceData", None) or {}).get("createRequest")
        if created and query.get("conferenceDataVersion") == "1":
            solution = {"key": created["conferenceSolutionKey"]}
            event["conferenceData"] = {"conferenceId": secrets.token_hex(5), "conferenceSolution": solution}
        if query.get("supportsAttachments") != "true":
            event.pop("attachments", None)
        event.setdefault("organizer", {"email": USER, "self": True})
        events[event["id"]] = event
        return Answer(200, event)

    def _one(self, method: str, events: dict[str, JSON], name: str, headers: JSON, body: JSON) -> Answer:
        event = events.get(name) or self._occurrence(events, name)
        if event is None or (event["status"] == "cancelled" and method != "GET"):
            return NOT_FOUND if event is None else Answer(410, {"error": {"code": 410, "message": "Gone"}})
        if method == "GET":
            return Answer(200, event)
        if headers.get("if-match", event["etag"]) != event["etag"]:
            return Answer(412, {"error": {"code": 412, "message": "Precondition Failed"}})
        if method == "DELETE":
            return self._delete(events, event)
        merged = _merged(event, body)
        events[name] = {**merged, "etag": _etag()}
        return Answer(200, events[name])

    def _delete(self, events: dict[str, JSON], event: JSON) -> Answer:
        events[event["id"]] = {**event, "status": "cancelled", "etag": _etag()}
        return Answer(204, {})

    def _list(self, events: dict[str, JSON], query: JSON) -> Answer:
        low, high = datetime.fromisoformat(query["timeMin"]), datetime.fromisoformat(query["timeMax"])
        found: list[JSON] = []
        for event in list(events.values()):
            if event["status"] == "cancelled" or "recurringEventId" in event:
                continue
            found += self._of_series(events, event, high) if event.get("recurrence") else [event]
        found = [each for each in found if each["status"] != "cancelled"]
        found = [each for each in found if _instant(each["end"]) > low and _instant(each["start"]) < high]
        found = [each for each in found if query.get("q", "").lower() in json.dumps(each).lower()]
        found.sort(key=lambda each: _instant(each["start"]))
        at = int(query.get("pageToken", 0))
        page: JSON = {"items": found[at : at + self.page_size], "timeZone": ZONE}
        if at + self.page_size < len(found):
            page["nextPageToken"] = str(at + self.page_size)
        return Answer(200, page)

    def _of_series(self, events: dict[str, JSON], master: JSON, high: datetime) -> list[JSON]:
        """Its occurrences. Changed and cancelled ones are events of their own and stay when it changes."""
        own = {each["id"]: each for each in events.values() if each.get("recurringEventId") == master["id"]}
        made = [self._made(master, start) for start in _starts(master, high)]
        return [*own.values(), *(each for each in made if each["id"] not in own)]

    def _instances(self, events: dict[str, JSON], series: str, query: JSON) -> Answer:
        master = events.get(series)
        if master is None or not master.get("recurrence") or master["status"] == "cancelled":
            return NOT_FOUND
        found = self._of_series(
            events, master, datetime.fromisoformat(query.get("timeMax", "2040-01-01T00:00Z"))
        )
        if query.get("showDeleted") != "true":
            found = [each for each in found if each["status"] != "cancelled"]
        if start := query.get("originalStart"):
            wanted = _instant({"date": start} if len(start) == 10 else {"dateTime": start}).timestamp()
            found = [each for each in found if _original(each) == wanted]
        found.sort(key=_original)
        found = [_bare(each) if each["status"] == "cancelled" else each for each in found]
        at, size = int(query.get("pageToken", 0)), min(self.page_size, int(query.get("maxResults", 250)))
        more = {"nextPageToken": str(at + size)} if at + size < len(found) else {}
        return Answer(200, {"items": found[at : at + size], **more})

    def _occurrence(self, events: dict[str, JSON], name: str) -> JSON | None:
        """By the id that it was listed with, and no other."""
        series = next((series for (series, _), known in self.names.items() if known == name), "")
        master = events.get(series)
        if master is None or not master.get("recurrence") or master["status"] == "cancelled":
            return None
        found = self._of_series(events, master, datetime(2040, 1, 1, tzinfo=UTC))
        return next((each for each in found if each["id"] == name), None)

    def _made(self, master: JSON, start: datetime) -> JSON:
        length = _naive(master["end"]) - _naive(master["start"])
        instance = {key: value for key, value in master.items() if key != "recurrence"}
        if "date" in master["start"]:
            first, key = {"date": start.date().isoformat()}, start.strftime("%Y%m%d")
            last = {"date": (start + length).date().isoformat()}
        else:
            zone = ZoneInfo(master["start"]["timeZone"])
            first = _timed(start.replace(tzinfo=zone).isoformat(), str(zone))
            last = _timed((start + length).replace(tzinfo=zone).isoformat(), str(zone))
            key = start.replace(tzinfo=zone).astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
        return {
            **instance,
            "id": self.names.setdefault((master["id"], key), self.naming(master["id"], key)),
            "start": first,
            "end": last,
            "recurringEventId": master["id"],
            "originalStartTime": first,
        }


def _original(event: JSON) -> float:
    return _instant(event["originalStartTime"]).timestamp()


def _bare(event: JSON) -> JSON:
    """What Google guarantees of a cancelled occurrence."""
    return {name: event[name] for name in ("id", "recurringEventId", "originalStartTime", "status")}


def _starts(master: JSON, high: datetime) -> list[datetime]:
    first = _naive(master["start"])
    lines = "\n".join(line for line in master["recurrence"] if line.startswith("RRULE"))
    zone = ZoneInfo(master["start"].get("timeZone") or ZONE)
    aware = first.replace(tzinfo=zone) if "dateTime" in master["start"] else first
    limit = high.astimezone(zone) if "dateTime" in master["start"] else high.replace(tzinfo=None)
    found = rrulestr(lines, dtstart=aware).between(aware - timedelta(days=1), limit, inc=True)
    starts = {each.replace(tzinfo=None) for each in found} | _dates_in(master, "RDATE", zone)
    return sorted(starts - _dates_in(master, "EXDATE", zone))


def _dates_in(master: JSON, name: str, zone: ZoneInfo) -> set[datetime]:
    """The dates of such lines on the clock of the series."""
    values = [line.partition(":")[2] for line in master["recurrence"] if line.startswith(name)]
    found = [datetime.fromisoformat(each) for value in values for each in value.split(",")]
    return {(each.astimezone(zone) if each.tzinfo else each).replace(tzinfo=None) for each in found}


def _naive(given: JSON) -> datetime:
    if "date" in given:
        return datetime.combine(date.fromisoformat(given["date"]), datetime.min.time())
    zone = ZoneInfo(given.get("timeZone") or ZONE)
    return datetime.fromisoformat(given["dateTime"]).astimezone(zone).replace(tzinfo=None)


def _instant(given: JSON) -> datetime:
    if "date" in given:
        return _naive(given).replace(tzinfo=ZoneInfo(ZONE))
    return datetime.fromisoformat(given["dateTime"])


def _merged(event: JSON, body: JSON) -> JSON:
    """A patch: null removes a field, an object is merged."""
    result = dict(event)
    for key, value in body.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = _merged(result[key], value)
        else:
            result[key] = value
    return result


def _timed(moment: str, zone: str = ZONE) -> JSON:
    return {"dateTime": moment, "timeZone": zone}


def _listed(name: str, title: str, role: str) -> JSON:
    return {"id": name, "summary": title, "accessRole": role, "timeZone": ZONE, "primary": name == USER}


def _etag() -> str:
    return f'"{secrets.token_hex(6)}"'


@asynccontextmanager
async def google_calendar() -> AsyncIterator[GoogleCalendarService]:
    """Runs while the block runs."""
    service = GoogleCalendarService()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                method, target, headers = _parse(head)
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                answer = service.answer(method, target, headers, body)
                if answer is None:
                    break
                writer.write(_encode(answer))
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        service.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield service
        server.close()
