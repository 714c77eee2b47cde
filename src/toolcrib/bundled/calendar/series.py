"""Changes a series as CalDAV stores it: one occurrence, this one and all later ones, or all of them. Decides
which changed occurrences are kept or lost, with the remark about it. Google's part is in `google_events.py`.

Works on the stored object, so that properties which are not understood stay as they are. Zones are those of
the object's own definitions.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo

from icalendar import Calendar, Component

from toolcrib.bundled.calendar.ics import (
    Zones,
    moments,
    new_uid,
    raise_sequence,
    rules_of,
    same_attendees,
    set_fields,
    set_moment,
    set_moments,
    set_rules,
    start_and_end,
    text,
)
from toolcrib.bundled.calendar.identifiers import occurrence_key, read_key
from toolcrib.bundled.calendar.model import (
    EventChanges,
    Moment,
    TimeWindow,
    like,
    on_clock,
    same_length,
    shifted,
    wall,
)
from toolcrib.bundled.calendar.occurrences import Expansion, repeats
from toolcrib.bundled.calendar.results import day_text
from toolcrib.bundled.calendar.rules import checked_rule, moved_rule, split_rule
from toolcrib.serverkit.context import ToolFailure

_OF_SERIES = ("RRULE", "RDATE", "EXDATE")


class StoredSeries:
    """One calendar object that is changed."""

    def __init__(
        self, calendar: Calendar, fallback: tzinfo, organizer: str = "", notify: bool = True
    ) -> None:
        self.calendar = calendar
        self._fallback = fallback
        self._organizer = organizer
        self._notify = notify
        self._zones = Zones(calendar, fallback)
        self.lost: list[str] = []
        """Changed occurrences that the series no longer has, one sentence each."""

    @property
    def master(self) -> Component | None:
        return next((event for event in self._events() if "RECURRENCE-ID" not in event), None)

    @property
    def is_empty(self) -> bool:
        """Whether no occurrence is left."""
        if any("RECURRENCE-ID" in event for event in self._events()):
            return False
        master = self.master
        if master is None:
            return True
        return repeats(master) and not self.first_key()

    def first_key(self) -> str:
        """The key of the first occurrence that is not deleted; empty if there is none."""
        master = self.master
        if master is None or not repeats(master):
            return ""
        members = Expansion(self.calendar, self._fallback).members(master, self._years(master))
        return next((occurrence_key(start) for start, _ in members), "")

    def _years(self, master: Component) -> TimeWindow:
        first = wall(self._times(master)[0]).replace(tzinfo=self._fallback)
        return TimeWindow(first, first + timedelta(days=366 * 30))

    def _events(self) -> list[Component]:
        return [component for component in self.calendar.subcomponents if component.name == "VEVENT"]

    def override(self, key: str) -> Component | None:
        """The component that replaces an occurrence."""
        for event in self._events():
            original = self._zones.moment(event.get("RECURRENCE-ID"))
            if original is not None and key in (
                occurrence_key(original),
                occurrence_key(self._on_clock(original)),
            ):
                return event
        return None

    def _on_clock(self, moment: Moment) -> Moment:
        """The original start in the zone of the series."""
        master = self.master
        start = self._zones.moment(master.get("DTSTART")) if master is not None else None
        return on_clock(start, moment)

    def original(self, key: str) -> Moment:
        """The original start of an occurrence; raises `ToolFailure` if the series has no such one."""
        wanted = self._on_clock(read_key(key))
        override = self.override(key)
        if override is not None:
            found = self._zones.moment(override["RECURRENCE-ID"])
            return found if found is not None else wanted
        master = self.master
        if master is not None and repeats(master):
            first = wall(wanted).replace(tzinfo=self._fallback)
            around = TimeWindow(first - timedelta(days=2), first + timedelta(days=2))
            for member, _ in Expansion(self.calendar, self._fallback).members(master, around):
                if occurrence_key(member) == key:
                    return member
        raise ToolFailure(
            "The series has no occurrence at this time.", "It may have been moved or deleted: look again."
        )

    def times(self, key: str) -> tuple[Moment, Moment]:
        """Start and end of an occurrence, or of the event itself."""
        event = self.override(key) if key else None
        if event is not None:
            return self._times(event)
        master = self._needed_master()
        start, end = self._times(master)
        if not key:
            return start, end
        original = self.original(key)
        return original, shifted(original, wall(end) - wall(start))

    def _needed_master(self) -> Component:
        master = self.master
        if master is None:
            raise ToolFailure("Only one occurrence of this series is in the calendar.", "Use scope `this`.")
        return master

    def _times(self, event: Component) -> tuple[Moment, Moment]:
        times = start_and_end(event, self._zones)
        if times is None:
            raise ToolFailure("The start of the event cannot be read.", "Correct it in another program.")
        return times

    def change_one(self, key: str, changes: EventChanges) -> Component:
        """Change one occurrence; returns its component."""
        event = self.override(key) or self._new_override(key)
        start, end = self._times(event)
        self._move(event, changes, start, end)
        set_fields(event, changes, self._organizer, self._notify)
        raise_sequence(event)
        return event

    def _new_override(self, key: str) -> Component:
        master = self._needed_master()
        start, end = self.times(key)
        event = copy.deepcopy(master)
        for name in _OF_SERIES:
            event.pop(name, None)
        set_moment(event, "RECURRENCE-ID", start)
        set_moment(event, "DTSTART", start)
        set_moment(event, "DTEND", end)
        self.calendar.add_component(event)
        return event

    def _move(self, event: Component, changes: EventChanges, start: Moment, end: Moment) -> None:
        if not changes.moves:
            return
        first, last = changes.times(start, end)
        set_moment(event, "DTSTART", first)
        set_moment(event, "DTEND", last)

    def change_all(self, key: str, changes: EventChanges) -> None:
        """Change the whole series, or an event that does not repeat. Others that were changed stay so."""
        master = self._needed_master()
        target = self.override(key) if key else None
        old = copy.deepcopy(master)
        if changes.moves:
            self._move_all(master, key, changes)
        if changes.rules is not None:
            start = self._times(master)[0]
            set_rules(master, [checked_rule(rule, start) for rule in changes.rules])
            if not changes.rules:
                set_moments(master, "RDATE", ())
        set_fields(master, changes, self._organizer, self._notify)
        raise_sequence(master)
        for event in self._events():
            if event is not master:
                wanted = changes if event is target else _unless_own(event, old, changes)
                set_fields(event, wanted, self._organizer, self._notify)
                raise_sequence(event)
        if changes.rules is not None or not repeats(master):
            self._drop_strays(master)

    def _move_all(self, master: Component, key: str, changes: EventChanges) -> None:
        start = self._times(master)[0]
        from_start, from_end = self.times(key)
        first, last = changes.times(from_start, from_end)
        by = wall(first) - wall(from_start)
        new_start = like(first, wall(start) + by)
        rules = (
            [moved_rule(rule, start, new_start) for rule in rules_of(master)]
            if changes.rules is None
            else None
        )
        keeps_kind = isinstance(first, datetime) == isinstance(start, datetime)
        dates = {
            name: [moment for moment, _ in moments(master, name, self._zones)] for name in ("EXDATE", "RDATE")
        }
        overrides = [(event, self._zones.moment(event["RECURRENCE-ID"])) for event in self._overrides()]
        set_moment(master, "DTSTART", new_start)
        set_moment(master, "DTEND", like(first, wall(new_start) + (wall(last) - wall(first))))
        if rules is not None:
            set_rules(master, rules)

        def moved(moment: Moment) -> Moment:
            return like(new_start, wall(on_clock(start, moment)) + by)

        for name, given in dates.items():
            if name in master:
                set_moments(master, name, [moved(moment) for moment in given])
        for event, original in overrides:
            if original is not None and keeps_kind:
                self._move_override(event, original, moved)
                if key and occurrence_key(original) == key:
                    set_moment(event, "DTSTART", first)
                    set_moment(event, "DTEND", last)
            else:
                self._lose(event, original)

    def _lose(self, event: Component, original: Moment | None) -> None:
        """Remove an override for which there is no occurrence."""
        self.calendar.subcomponents.remove(event)
        when = day_text(original) if original is not None else "an unknown day"
        self.lost.append(
            f"The changed occurrence {text(event, 'SUMMARY')[:60]!r} of {when} (now on "
            f"{day_text(self._times(event)[0])}) is not in the new series: it is removed."
        )

    def _move_override(self, event: Component, original: Moment, moved: Callable[[Moment], Moment]) -> None:
        start, end = self._times(event)
        if occurrence_key(start) == occurrence_key(original):  # it was not moved itself
            set_moment(event, "DTSTART", moved(start))
            set_moment(event, "DTEND", moved(end))
        set_moment(event, "RECURRENCE-ID", moved(original))

    def _overrides(self) -> list[Component]:
        return [event for event in self._events() if "RECURRENCE-ID" in event]

    def _drop_strays(self, master: Component) -> None:
        """Overrides of occurrences that the series no longer has."""
        for event in self._overrides():
            original = self._zones.moment(event["RECURRENCE-ID"])
            self.calendar.subcomponents.remove(event)
            try:
                self.original(occurrence_key(original) if original is not None else "")
            except ToolFailure:
                self.calendar.add_component(event)
                self._lose(event, original)
                continue
            self.calendar.add_component(event)

    def remove_one(self, key: str) -> None:
        """Delete one occurrence."""
        original = self.original(key)
        event = self.override(key)
        if event is not None:
            self.calendar.subcomponents.remove(event)
        master = self.master
        if master is not None:
            known = [moment for moment, _ in moments(master, "EXDATE", self._zones)]
            set_moments(master, "EXDATE", [*known, self._on_clock(original)])
            raise_sequence(master)

    def starts_at(self, key: str) -> bool:
        """Whether an occurrence is the first one of its series."""
        master = self.master
        return master is None or occurrence_key(self._times(master)[0]) == key

    def remove_following(self, key: str) -> None:
        """End the series before an occurrence."""
        original = self.original(key)
        master = self._needed_master()
        start = self._times(master)[0]
        set_rules(master, [split_rule(rule, start, original)[0] for rule in rules_of(master)])
        self._keep_dates(master, lambda moment: self._before(moment, original))
        raise_sequence(master)

    def split(self, key: str, changes: EventChanges) -> StoredSeries:
        """End the series before an occurrence, and make a new one of the rest with the changes."""
        original = self.original(key)
        later = StoredSeries(copy.deepcopy(self.calendar), self._fallback, self._organizer, self._notify)
        later._begin_at(original)
        chosen = later.override(key)
        if changes.moves and chosen is not None:
            set_moment(chosen, "DTSTART", original)
            set_moment(chosen, "DTEND", same_length(original, *self.times(key)))
        later.change_all(key, _from_occurrence(changes, self.times(key), original))
        self.remove_following(key)
        return later

    def _begin_at(self, original: Moment) -> None:
        master = self._needed_master()
        start, end = self._times(master)
        rules = [split_rule(rule, start, original)[1] for rule in rules_of(master)]
        set_moment(master, "DTSTART", original)
        set_moment(master, "DTEND", shifted(original, wall(end) - wall(start)))
        set_rules(master, rules)
        self._keep_dates(master, lambda moment: not self._before(moment, original))
        uid = new_uid()
        for event in self._events():
            event.pop("UID", None)
            event.add("UID", uid)

    def _before(self, moment: Moment, limit: Moment) -> bool:
        return wall(self._on_clock(moment)) < wall(self._on_clock(limit))

    def _keep_dates(self, master: Component, wanted: Callable[[Moment], bool]) -> None:
        for name in ("EXDATE", "RDATE"):
            kept = [moment for moment, _ in moments(master, name, self._zones) if wanted(moment)]
            if name in master:
                set_moments(master, name, kept)
        for event in self._overrides():
            original = self._zones.moment(event["RECURRENCE-ID"])
            if original is None or not wanted(original):
                self.calendar.subcomponents.remove(event)


def _from_occurrence(changes: EventChanges, times: tuple[Moment, Moment], original: Moment) -> EventChanges:
    """New times relative to the original start, for an occurrence that had been moved."""
    if changes.start is None or occurrence_key(times[0]) == occurrence_key(original):
        return changes
    end = changes.end if changes.end is not None else same_length(changes.start, *times)
    return replace(changes, end=end)


def _unless_own(event: Component, master: Component, changes: EventChanges) -> EventChanges:
    """The changes without fields in which an occurrence already differs from its series."""

    def same(name: str) -> bool:
        return str(event.get(name, "")) == str(master.get(name, ""))

    return replace(
        changes,
        title=changes.title if same("SUMMARY") else None,
        location=changes.location if same("LOCATION") else None,
        description=changes.description if same("DESCRIPTION") else None,
        attendees=changes.attendees if same_attendees(event, master) else None,
    )
