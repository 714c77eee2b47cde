"""Words into a filter of calls: `server:git outcome:failed who:gateway`; other words are looked for."""

from __future__ import annotations

import shlex
from datetime import UTC, datetime, timedelta

from toolcrib.errors import UsageError
from toolcrib.schema.tools import Outcome
from toolcrib.store.audit_search import CallFilter
from toolcrib.suggestions import did_you_mean

OUTCOMES: dict[str, tuple[Outcome, ...]] = {
    "done": ("ok",),
    "failed": ("tool_error", "invalid", "unavailable", "failed", "timeout"),
    "denied": ("denied",),
    "stopped": ("cancelled",),
    "timeout": ("timeout",),
}
"""The page's words; the record's own are known too."""
_OWN: tuple[Outcome, ...] = (
    *("ok", "tool_error", "invalid", "denied", "timeout", "cancelled", "unavailable", "failed"),
)
WHO = {"chat": "agent", "terminal": "cli"}
"""Where the page has another word than the record."""
KEYS = ("server", "tool", "who", "outcome", "rule", "chat", "since")
_SPANS = {"min": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}


def read_filter(text: str, now: datetime | None = None) -> CallFilter:
    """What the words mean; raises `UsageError` for a value that cannot be meant."""
    given: dict[str, list[str]] = {key: [] for key in KEYS}
    texts: list[str] = []
    for word in _words(text):
        key, colon, value = word.partition(":")
        if colon and key.lower() in given:
            if value:
                given[key.lower()].append(value)
        else:
            texts.append(word)
    outcomes = given["outcome"]
    return CallFilter(
        tools=_tools(given["tool"]),
        servers=tuple(given["server"]),
        principals=tuple(_principal(value) for value in given["who"]),
        sessions=tuple(given["chat"]),
        outcomes=tuple(one for value in outcomes if value != "asked" for one in _outcomes(value)),
        rules=tuple(given["rule"]),
        texts=tuple(texts),
        asked="asked" in outcomes,
        since=_since(given["since"][-1], now or datetime.now(UTC)) if given["since"] else None,
    )


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()  # a quotation mark that is not closed yet


def _tools(values: list[str]) -> tuple[str, ...]:
    """By the public name, or by the tool's own, whosever it is."""
    return tuple(pattern for value in values for pattern in (value, f"*__{value}"))


def _principal(value: str) -> str:
    first, colon, name = value.partition(":")
    return f"{WHO.get(first, first)}{colon}{name}"


def _outcomes(value: str) -> tuple[Outcome, ...]:
    if value in OUTCOMES:
        return OUTCOMES[value]
    own = [one for one in _OWN if one == value]
    if own:
        return tuple(own)
    hint = did_you_mean(value, [*OUTCOMES, "asked"], otherwise=f"Use one of: {', '.join(OUTCOMES)}, asked.")
    raise UsageError(f"No call ends {value!r}.", hint=hint)


def _since(value: str, now: datetime) -> datetime:
    if value == "today":
        return now.astimezone().replace(hour=0, minute=0, second=0, microsecond=0).astimezone(UTC)
    for unit, span in _SPANS.items():
        number = value.removesuffix(unit)
        if number != value and number.isdecimal():
            return now - min(int(number), 10_000) * span
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise UsageError(
            f"{value!r} is no time.", hint="Write today, 30min, 2h, 7d or a date such as 2026-11-15."
        ) from None
    return moment if moment.tzinfo else moment.astimezone(UTC)
