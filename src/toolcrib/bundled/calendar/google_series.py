"""How a Google series changes without losing its exceptions.

Google keeps a deleted occurrence as a cancelled event and a changed one as an event of its own, both bound to
the start that the series gives them. When those starts change, the deleted ones are excluded (EXDATE) and the
changed ones are made again.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from toolcrib.bundled.calendar.google_dates import with_rules
from toolcrib.bundled.calendar.google_events import (
    JSON,
    OWN_FIELDS,
    changed_fields,
    read_moment,
    rules_in,
    write_moment,
)
from toolcrib.bundled.calendar.identifiers import occurrence_key
from toolcrib.bundled.calendar.model import EventChanges, Moment, like, same_length, shifted, wall
from toolcrib.bundled.calendar.results import day_text
from toolcrib.bundled.calendar.rules import checked_rule, dates, moved_rule, split_rule

_OF_SERIES = ("start", "end", "recurrence", "status")


@dataclass(frozen=True)
class Exceptions:
    cancelled: tuple[Moment, ...] = ()
    """Original starts."""
    changed: tuple[JSON, ...] = ()

    def since(self, at: Moment) -> Exceptions:
        """Those of the occurrences from one on."""
        return Exceptions(
            tuple(each for each in self.cancelled if not before(each, at)),
            tuple(each for each in self.changed if not before(original(each), at)),
        )


@dataclass(frozen=True)
class Kept:
    """A changed occurrence that the new series has as well."""

    id: str
    """Its id in the old series."""
    original: Moment
    """Its original start in the new one."""
    body: JSON


@dataclass(frozen=True)
class Plan:
    body: JSON
    """The patch of the series, or the new series."""
    kept: tuple[Kept, ...] = ()
    lost: tuple[str, ...] = ()
    """What cannot be kept, one sentence each."""
    removed: tuple[str, ...] = ()
    """Ids of changed occurrences that cannot be kept."""


def original(raw: JSON) -> Moment:
    return read_moment(raw["originalStartTime"], str((raw.get("start") or {}).get("timeZone") or ""))


def times(raw: JSON) -> tuple[Moment, Moment]:
    return read_moment(raw.get("start")), read_moment(raw.get("end"))


def on_clock(start: Moment, moment: Moment) -> Moment:
    """An original start in the zone of its series."""
    if isinstance(start, datetime) and isinstance(moment, datetime) and moment.tzinfo:
        return moment.astimezone(start.tzinfo)
    return moment


def before(moment: Moment, at: Moment) -> bool:
    return wall(on_clock(at, moment)) < wall(at)


def exceptions_of(master: JSON, instances: Iterable[JSON]) -> Exceptions:
    """The deleted and changed occurrences among all of a series."""
    start = times(master)[0]
    cancelled: list[Moment] = []
    changed: list[JSON] = []
    for raw in instances:
        if raw.get("status") == "cancelled":
            cancelled.append(on_clock(start, original(raw)))
        elif _own_times(raw, master) or _own_fields(raw, master):
            changed.append(raw)
    return Exceptions(tuple(cancelled), tuple(changed))


def _own_times(raw: JSON, master: JSON) -> JSON:
    """Start and end of an occurrence if the series does not give them."""
    start, end = times(master)
    at = on_clock(start, original(raw))
    expected = (at, shifted(at, wall(end) - wall(start)))
    if [occurrence_key(each) for each in times(raw)] == [occurrence_key(each) for each in expected]:
        return {}
    return {"start": raw["start"], "end": raw["end"]}


def _own_fields(raw: JSON, master: JSON) -> JSON:
    """The fields in which an occurrence differs from its series; None for those that it does not have."""
    names = dict.fromkeys((*master, *raw))
    return {
        name: raw.get(name)
        for name in names
        if name not in OWN_FIELDS and name not in _OF_SERIES and raw.get(name) != master.get(name)
    }


def plan_all(
    master: JSON,
    changes: EventChanges,
    exceptions: Exceptions,
    target: JSON | None = None,
    old: JSON | None = None,
) -> Plan:
    """The patch of a series. New times are those of `target`; a new series continues `old`."""
    start, end = times(master)
    fields = changed_fields(master, changes)
    from_start, from_end = times(target) if target and old is None else (start, end)
    first = changes.start if changes.start is not None else from_start
    last = changes.end if changes.end is not None else same_length(first, from_start, from_end)
    by = wall(first) - wall(from_start)
    new_start = like(first, wall(start) + by) if changes.moves else start
    body = dict(fields)
    if changes.moves:
        new_end = like(first, wall(new_start) + (wall(last) - wall(first)))
        body |= {"start": write_moment(new_start), "end": write_moment(new_end)}
    if changes.rules is not None:
        rules = [checked_rule(rule, new_start) for rule in changes.rules]
    else:
        rules = [moved_rule(rule, start, new_start) if changes.moves else rule for rule in rules_in(master)]

    def moved(moment: Moment) -> Moment:
        return like(new_start, wall(on_clock(start, moment)) + by) if changes.moves else moment

    if changes.moves or changes.rules is not None:
        lines = with_rules(master, rules, start, moved)
        excluded = [occurrence_key(moved(each)) for each in exceptions.cancelled]
        kind = "" if isinstance(new_start, datetime) else ";VALUE=DATE"
        lines += [f"EXDATE{kind}:{','.join(excluded)}"] if excluded and rules else []
        body["recurrence"] = lines if rules or changes.rules is None else None
    kept: list[Kept] = []
    lost: list[JSON] = []
    same_kind = isinstance(new_start, datetime) == isinstance(start, datetime)
    for raw in exceptions.changed:
        at = moved(on_clock(start, original(raw)))
        if not same_kind or (changes.rules is not None and not _has(rules, new_start, at)):
            lost.append(raw)
            continue
        own = _own_fields(raw, old or master) | _own_times(raw, old or master)
        if target is not None and raw["id"] == target["id"]:
            own = {name: value for name, value in own.items() if name not in body}
            if changes.moves and old is None:
                own |= {"start": write_moment(first), "end": write_moment(last)}
        if old is None and not changes.moves and changes.rules is None:
            own = {name: value for name, value in fields.items() if name not in own}
        kept.append(Kept(str(raw["id"]), at, own))
    removed = tuple(str(raw["id"]) for raw in lost)
    return Plan(body, tuple(each for each in kept if each.body), tuple(map(_lost, lost)), removed)


def _has(rules: Sequence[str], start: Moment, at: Moment) -> bool:
    return any(wall(at) in set(dates(rule, start, wall(at))) for rule in rules)


def _lost(raw: JSON) -> str:
    title, start = str(raw.get("summary", "")), times(raw)[0]
    return (
        f"The changed occurrence {title[:60]!r} of {day_text(original(raw))} (now on {day_text(start)}) "
        "is not in the new series: it is removed."
    )


def plan_following(
    master: JSON, at: Moment, changes: EventChanges, exceptions: Exceptions, target: JSON
) -> Plan:
    """The series that continues another one from an occurrence on."""
    start, end = times(master)
    later = {key: value for key, value in master.items() if key not in OWN_FIELDS}
    later["start"] = write_moment(at)
    later["end"] = write_moment(shifted(at, wall(end) - wall(start)))
    rules = [split_rule(rule, start, at)[1] for rule in rules_in(master)]
    later["recurrence"] = with_rules(master, rules, start, lambda each: None if before(each, at) else each)
    coming = exceptions.since(at)
    if coming.cancelled:
        kind = "" if isinstance(start, datetime) else ";VALUE=DATE"
        keys = ",".join(map(occurrence_key, coming.cancelled))
        later["recurrence"].append(f"EXDATE{kind}:{keys}")
    plan = plan_all(later, changes, replace(coming, cancelled=()), target, master)
    body, lost = {**later, **plan.body}, list(plan.lost)
    solution = ((master.get("conferenceData") or {}).get("conferenceSolution") or {}).get("key") or {}
    if solution.get("type") == "hangoutsMeet":
        request = {"requestId": secrets.token_hex(16), "conferenceSolutionKey": {"type": "hangoutsMeet"}}
        body["conferenceData"] = {"createRequest": request}
        lost.append("The changed occurrences get a new meeting link.")
    elif master.get("conferenceData"):
        lost.append("The changed occurrences have no meeting link: add it again.")
    return replace(plan, body=_without_nulls(body), lost=tuple(lost))


def rules_before(master: JSON, at: Moment) -> JSON:
    """The patch that ends a series before an occurrence."""
    start = times(master)[0]
    rules = [split_rule(rule, start, at)[0] for rule in rules_in(master)]
    return {"recurrence": with_rules(master, rules, start, lambda each: each if before(each, at) else None)}


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(each) for key, each in value.items() if each is not None}
    return value
