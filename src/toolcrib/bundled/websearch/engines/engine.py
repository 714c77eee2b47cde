"""What a search engine is given and returns, and what its module offers. Also size and time limits of a
request to an engine, errors for a wrong key, and the pause after a rate limit (429), with Retry-After or
without.

A module of this folder has

* `TITLE`, its name in results,
* `RANK`: of the engines that are configured, the lowest rank is asked first,
* `INTERVAL`, seconds between two requests,
* `is_configured(settings)`,
* `search(query, settings)`, a coroutine of a list of `Hit`; raises `EngineFailed`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol

from toolcrib.bundled.websearch.settings import WebSettings
from toolcrib.errors import ToolcribError
from toolcrib.serverkit import network
from toolcrib.serverkit.network import FetchLimits, NetworkPolicy
from toolcrib.serverkit.network.limits import load_client

if TYPE_CHECKING:
    from toolcrib.serverkit.network import Fetched
Period = Literal["day", "week", "month", "year"]
LIMITS = FetchLimits(max_bytes=5_000_000, deadline=20.0)
_LONGEST_WAIT = 3600.0


@dataclass(frozen=True)
class SearchQuery:
    """What to search for."""

    text: str
    limit: int
    site: str = ""
    period: Period | None = None
    """The shortest period that includes `after`."""
    after: date | None = None

    @property
    def with_site(self) -> str:
        """The text with the operator that most engines understand."""
        return f"{self.text} site:{self.site}" if self.site else self.text


@dataclass(frozen=True)
class Hit:
    """One result, not cleaned yet."""

    title: str
    url: str
    snippet: str
    published: str = ""


class EngineFailed(Exception):
    """The engine did not answer the query; the message says why, without the query and without keys."""

    def __init__(self, reason: str, retry_after: float = 0.0) -> None:
        super().__init__(reason)
        self.retry_after = retry_after
        """Seconds for which not to ask again."""


class EngineModule(Protocol):
    """A module of the folder."""

    TITLE: str
    RANK: int
    INTERVAL: float

    def is_configured(self, settings: WebSettings) -> bool: ...

    async def search(self, query: SearchQuery, settings: WebSettings) -> list[Hit]: ...


async def request_json(
    url: str,
    policy: NetworkPolicy,
    *,
    headers: Mapping[str, str] | None = None,
    body: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The JSON object that an API answers; raises `EngineFailed`."""
    fields = {"Accept": "application/json", **(headers or {})}
    content = None
    if body is not None:
        fields["Content-Type"] = "application/json"
        content = json.dumps(body).encode()
    await load_client()
    try:
        answer = await network.fetch(
            url,
            policy,
            limits=LIMITS,
            headers=fields,
            method="GET" if body is None else "POST",
            content=content,
        )
    except ToolcribError as error:
        raise EngineFailed(error.message.rstrip(".")) from None
    _check_status(answer)
    try:
        found = json.loads(answer.content)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise EngineFailed("it did not answer with JSON")
    return found


def text_field(entry: Any, *names: str) -> str:
    """The first of these fields that is a text."""
    values = [entry.get(name) for name in names] if isinstance(entry, dict) else []
    return next((value for value in values if isinstance(value, str) and value), "")


def hits_of(entries: Sequence[Any], url: str, snippet: str, *published: str) -> list[Hit]:
    """The results in these entries; each of them has its title, and the rest under the given names."""
    return [
        Hit(
            title=text_field(entry, "title"),
            url=text_field(entry, url),
            snippet=text_field(entry, snippet),
            published=text_field(entry, *published),
        )
        for entry in entries
    ]


def entries_of(answer: Any, *path: str) -> list[dict[str, Any]]:
    """The objects of a list inside an answer; empty if it has another shape."""
    for name in path:
        answer = answer.get(name) if isinstance(answer, dict) else None
    return [entry for entry in answer if isinstance(entry, dict)] if isinstance(answer, list) else []


def _check_status(answer: Fetched) -> None:
    if answer.status in (401, 403):
        raise EngineFailed(f"it refused the request ({answer.status}); check its key and settings")
    if answer.status == 429:
        raise EngineFailed("its rate limit is reached", retry_after=_retry_after(answer) or 30.0)
    if answer.status >= 500:
        raise EngineFailed(f"it failed ({answer.status})", retry_after=_retry_after(answer))
    if answer.status >= 300:
        raise EngineFailed(f"it answered with status {answer.status}")


def _retry_after(answer: Fetched) -> float:
    """Seconds, from a number or a date; at most an hour."""
    given = answer.headers.get("retry-after", "").strip()
    if given.isdigit():
        return min(float(given), _LONGEST_WAIT)
    try:
        until = parsedate_to_datetime(given)
    except (TypeError, ValueError):
        return 0.0
    now = datetime.now(UTC)
    return min(max(0.0, (until - now).total_seconds()), _LONGEST_WAIT) if until.tzinfo else 0.0
