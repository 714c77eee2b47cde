"""A recurrence rule in words, for users."""

from __future__ import annotations

from collections.abc import Sequence

from toolcrib.bundled.calendar.rules import UnreadableRule, read_rule

_UNITS = {
    "SECONDLY": "second",
    "MINUTELY": "minute",
    "HOURLY": "hour",
    "DAILY": "day",
    "WEEKLY": "week",
    "MONTHLY": "month",
    "YEARLY": "year",
}
_DAYS = {"MO": "Mon", "TU": "Tue", "WE": "Wed", "TH": "Thu", "FR": "Fri", "SA": "Sat", "SU": "Sun"}
_ORDER = {"1": "first", "2": "second", "3": "third", "4": "fourth", "5": "fifth", "-1": "last"}
_WORDED = {"FREQ", "INTERVAL", "BYDAY", "BYMONTHDAY", "COUNT", "UNTIL", "WKST"}


def rule_words(rules: Sequence[str]) -> str:
    """`every 2 weeks on Mon, Wed, 10 times`; the rule itself if words would not say all of it."""
    return "; ".join(map(_one, rules))


def _one(rule: str) -> str:
    try:
        parts = read_rule(rule)
    except UnreadableRule:
        return rule
    days = [_day(each) for each in parts.get("BYDAY", "").split(",") if each]
    if set(parts) - _WORDED or not all(days):
        return rule
    number, unit = parts.get("INTERVAL", "1"), _UNITS[parts["FREQ"]]
    words = f"every {unit}" if number == "1" else f"every {number} {unit}s"
    if days:
        words += f" on {', '.join(days)}"
    if "BYMONTHDAY" in parts:
        words += f" on day {parts['BYMONTHDAY'].replace('-1', 'last')}"
    if "COUNT" in parts:
        words += f", {parts['COUNT']} times"
    if "UNTIL" in parts:
        until = parts["UNTIL"]
        words += f", until {until[:4]}-{until[4:6]}-{until[6:8]}"
    return words


def _day(text: str) -> str:
    name, number = _DAYS.get(text[-2:], ""), text[:-2].removeprefix("+")
    if not number:
        return name
    return f"the {_ORDER[number]} {name}" if name and number in _ORDER else ""
