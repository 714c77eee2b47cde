"""One call's connection to a school's Canvas, and its courses and assignments by name, code or id; errors
list the choices for unknown or ambiguous names. Decides pages of lists: most items at once and in all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from toolcrib.accounts import Account, AccountStore, choose
from toolcrib.accounts.canvas import open_canvas
from toolcrib.accounts.rate_limits import RateLimits
from toolcrib.accounts.rest import Params, RestClient
from toolcrib.accounts.selection import check_writable
from toolcrib.bundled.canvas.times import Times
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.visible_text import one_line
from toolcrib.suggestions import did_you_mean

MAX_ITEMS = 5000
"""Of a list that must be read as a whole."""
MAX_LIMIT = 200
MAX_CHOICES = 10
MAX_CONTEXTS = 10
"""Courses that Canvas accepts in one request for announcements or events."""


class Schools:
    """Opens accounts by name."""

    def __init__(self, store: AccountStore, times: Times) -> None:
        self.times = times
        self._store = store
        self._limits: dict[str, RateLimits] = {}

    @asynccontextmanager
    async def open(self, name: str | None, *, changing: bool = False) -> AsyncIterator[School]:
        """The school of an account; `changing` refuses read-only accounts."""
        account, token = await asyncio.to_thread(self._find, name)
        if changing:
            check_writable(account)
        limits = self._limits.setdefault(account.name, RateLimits())
        async with open_canvas(account, token, limits) as api:
            yield School(account, api, self.times)

    def _find(self, name: str | None) -> tuple[Account, str]:
        account = choose(self._store, "canvas", name)
        return account, self._store.secret(account)


@dataclass(frozen=True)
class Course:
    id: str
    name: str
    raw: dict[str, Any]


@dataclass(frozen=True)
class School:
    account: Account
    api: RestClient
    times: Times

    async def all(self, path: str, params: Params | None = None) -> list[Any]:
        """Every item of a list; raises `ToolFailure` if there are too many."""
        found = await self.api.pages(path, params, limit=MAX_ITEMS)
        if found.more:
            raise ToolFailure(f"There are more than {len(found.items)} items.", "Narrow the request down.")
        return found.items

    async def part(
        self, path: str, params: Params | None, limit: int, offset: int
    ) -> tuple[list[Any], int | None]:
        """A part of a list, reading no more pages than necessary, and the offset of the next part."""
        _check(limit, offset)
        found = await self.api.pages(path, params, limit=offset + limit)
        return found.items[offset:], offset + limit if found.more else None

    async def courses(self, params: Params | None = None) -> list[Course]:
        """Courses of the user; those that are closed by date have no name and are left out."""
        wanted: Params = {
            "enrollment_state": "active",
            "include[]": ["term", "total_scores"],
            **(params or {}),
        }
        found = await self.all("/courses", wanted)
        return [
            Course(str(course["id"]), one_line(str(course["name"])), course)
            for course in found
            if course.get("name")
        ]

    async def course(self, text: str) -> Course:
        """The course with this id, name or code; raises `ToolFailure` listing the choices."""
        text = text.strip()
        if text.isascii() and text.isdigit():
            raw = await self.api.get(f"/courses/{text}", {"include[]": ["term", "total_scores"]})
            return Course(str(raw["id"]), one_line(str(raw.get("name") or text)), raw)
        courses = await self.courses()
        keys = [(course.name, str(course.raw.get("course_code") or "")) for course in courses]
        at = _pick(text, keys, "course", [course.id for course in courses])
        return courses[at]

    async def assignment(self, course: Course, text: str, params: Params | None = None) -> dict[str, Any]:
        """The assignment with this id or name; raises `ToolFailure` listing the choices."""
        text = text.strip()
        if not (text.isascii() and text.isdigit()):
            found = await self.all(f"/courses/{course.id}/assignments")
            names = [(str(item.get("name")),) for item in found]
            text = str(found[_pick(text, names, "assignment", [str(item["id"]) for item in found])]["id"])
        raw: dict[str, Any] = await self.api.get(f"/courses/{course.id}/assignments/{text}", params)
        return raw


def page(items: Sequence[Any], limit: int, offset: int) -> tuple[list[Any], int | None]:
    """A part of a list, and the offset of the next part."""
    _check(limit, offset)
    end = offset + limit
    return list(items[offset:end]), end if end < len(items) else None


def _check(limit: int, offset: int) -> None:
    if not 1 <= limit <= MAX_LIMIT or offset < 0:
        raise ToolFailure(f"limit must be 1 to {MAX_LIMIT}, and offset 0 or more.")


def in_groups(courses: Sequence[Course]) -> list[list[str]]:
    """Context codes of courses, as many as one request may have."""
    codes = [f"course_{course.id}" for course in courses]
    return [codes[at : at + MAX_CONTEXTS] for at in range(0, len(codes), MAX_CONTEXTS)]


def _pick(text: str, keys: Sequence[tuple[str, ...]], what: str, ids: Sequence[str]) -> int:
    """The only item with this name; else the only one whose name contains it."""
    wanted = text.casefold()
    exact = [at for at, names in enumerate(keys) if wanted in [name.casefold() for name in names]]
    found = exact or [at for at, names in enumerate(keys) if any(wanted in name.casefold() for name in names)]
    if len(found) == 1:
        return found[0]
    if found:
        choices = ", ".join(f"{keys[at][0]} ({ids[at]})" for at in found[:MAX_CHOICES])
        raise ToolFailure(f"Several {what}s match {text!r}.", f"Use the id: {choices}.")
    names = [name for names in keys for name in names if name]
    raise ToolFailure(f"There is no {what} called {text!r}.", did_you_mean(text, names))
