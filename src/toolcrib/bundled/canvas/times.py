"""Times in the user's zone: how dates and times from Canvas (UTC) are shown, and which dates and times a call
may give."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any, Self

from toolcrib.errors import UsageError
from toolcrib.serverkit.context import ToolFailure


@dataclass(frozen=True)
class Times:
    zone: tzinfo | None = None
    """None for the zone of this machine."""

    @classmethod
    def of(cls, name: str) -> Self:
        """With a zone by its name; raises `UsageError`."""
        if not name:
            return cls()
        from zoneinfo import ZoneInfo

        try:
            return cls(ZoneInfo(name))
        except (KeyError, ValueError, OSError):
            raise UsageError(f"{name[:60]!r} is not a time zone.", hint="Such as Europe/Berlin.") from None

    def now(self) -> datetime:
        return datetime.now(UTC).astimezone(self.zone)

    def shown(self, text: Any) -> str:
        """A time of Canvas as the user reads it; empty if there is none."""
        moment = read_time(text)
        if moment is None:
            return ""
        local = moment.astimezone(self.zone)
        return f"{local:%a} {local.isoformat(sep=' ', timespec='minutes')}"

    def day(self, text: Any) -> str:
        """A day of Canvas, which is the same in every zone."""
        try:
            return f"{date.fromisoformat(str(text)):%a %Y-%m-%d}"
        except ValueError:
            return str(text)

    def start(self, text: str) -> datetime:
        """A time or the beginning of a day that a call names; raises `ToolFailure`."""
        return self._read(text, time.min)

    def end(self, text: str) -> datetime:
        """A time or the end of a day that a call names; raises `ToolFailure`."""
        return self._read(text, time(23, 59, 59))

    def _read(self, text: str, within_day: time) -> datetime:
        words = {"today": 0, "tomorrow": 1, "yesterday": -1}
        text = text.strip()
        try:
            if text.lower() in words:
                return self._at(self.now().date() + timedelta(days=words[text.lower()]), within_day)
            if len(text) == 10:
                return self._at(date.fromisoformat(text), within_day)
            moment = datetime.fromisoformat(text)
        except ValueError:
            raise ToolFailure(
                f"{text[:60]!r} is not a date or time.", "Such as 2026-05-01 or 2026-05-01T14:00."
            ) from None
        return moment if moment.tzinfo else self._local(moment)

    def _at(self, day: date, within_day: time) -> datetime:
        return self._local(datetime.combine(day, within_day))

    def _local(self, moment: datetime) -> datetime:
        return moment.replace(tzinfo=self.zone) if self.zone else moment.astimezone()


def read_time(text: Any) -> datetime | None:
    """A time of Canvas."""
    try:
        moment = datetime.fromisoformat(str(text))
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    except ValueError:
        return None
