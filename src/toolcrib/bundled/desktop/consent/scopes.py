"""What a call acts on, for its approval; and whether that is still so when the call runs."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolcrib.bundled.desktop.backend import Backend, Window
from toolcrib.bundled.desktop.choosing import choose_application
from toolcrib.bundled.desktop.consent.purposes import PURPOSES, Purpose
from toolcrib.bundled.desktop.consent.sensitive import of_program, of_window, why_each_time
from toolcrib.bundled.desktop.consent.targets import find_target, find_window
from toolcrib.bundled.desktop.session import DesktopSession
from toolcrib.serverkit.context import ToolFailure

KEPT = 256
"""Calls that were asked about and have not run yet."""
LONGEST_NAME = 80


class TargetChanged(ToolFailure):
    """The call would act on something else than the user was asked about."""

    kind = "target_changed"


@dataclass(frozen=True)
class _Scope:
    key: str
    label: str
    reason: str = ""
    window: Window | None = None

    def as_json(self) -> dict[str, str]:
        return {"key": "" if self.reason else self.key, "label": self.label, "reason": self.reason}


class Scopes:
    """The scopes of one server's calls; `epoch` changes when all approvals end."""

    def __init__(self, session: DesktopSession) -> None:
        self._session = session
        self._asked: OrderedDict[str, _Scope] = OrderedDict()
        self._desktop: Backend | None = None
        self.epoch = 0

    def end_all(self) -> None:
        """Have everything asked again."""
        self.epoch += 1
        self._asked.clear()

    async def scope(self, tool: str, given: Mapping[str, Any]) -> dict[str, str]:
        """For the approval of a call; raises `ToolFailure` if the target is not clear."""
        found = await self._find(PURPOSES[tool], given)
        self._asked[_call(tool, given)] = found
        while len(self._asked) > KEPT:
            self._asked.popitem(last=False)
        return found.as_json()

    async def verify(self, tool: str, given: Mapping[str, Any]) -> None:
        """Raises `TargetChanged` if the call would act on another window than the user was asked about.

        Calls that nobody was asked about pass: then no approval was needed.
        """
        asked = self._asked.pop(_call(tool, given), None)
        if asked is None or asked.window is None:
            return
        now = await self._window_now(PURPOSES[tool], given)
        same = now.application == asked.window.application and (
            now.id == asked.window.id or given.get("selector") is not None
        )
        if same and (asked.reason or not of_window(now)):
            return
        raise TargetChanged(
            "The window changed after the user was asked, so nothing was done.",
            "Look at the windows again, and call the tool with the window that you mean.",
        )

    async def _find(self, purpose: Purpose, given: Mapping[str, Any]) -> _Scope:
        if purpose.kind == "clipboard":
            return _Scope(self._key(purpose.action), purpose.label)
        if purpose.kind == "program":
            return self._program(purpose, given)
        if purpose.kind == "each":
            return _Scope("", purpose.label)
        backend = await self._backend()
        if purpose.kind == "application":
            named = given.get("name") or given.get("application")
            process = await choose_application(backend, None if named is None else str(named))
            name = await application_name(backend, process)
            return _Scope(self._key(purpose.action, process), purpose.label.format(target=name))
        target = await find_target(self._session, backend, purpose, given)
        reason = await why_each_time(backend, purpose, target)
        key = self._key("control", target.window.application, target.window.id)
        label = purpose.label.format(target=window_name(target.window))
        return _Scope(key, label, reason, target.window)

    def _program(self, purpose: Purpose, given: Mapping[str, Any]) -> _Scope:
        name = str(given.get("id") or given.get("name") or "").removeprefix("applications/").strip()
        command = " ".join([name, *map(str, given.get("arguments") or ())])
        label = purpose.label.format(target=command[: LONGEST_NAME * 3])
        return _Scope(self._key("open", command), label, of_program(name))

    async def _window_now(self, purpose: Purpose, given: Mapping[str, Any]) -> Window:
        """Without a second search for a selector, which the tool itself does next."""
        if given.get("selector") is not None:
            return await find_window(await self._backend(), given)
        return (await find_target(self._session, await self._backend(), purpose, given)).window

    async def _backend(self) -> Backend:
        backend = await self._session.backend()
        if backend is not self._desktop:  # ids of windows are given out again after a restart
            self._desktop, self.epoch = backend, self.epoch + 1
        return backend

    def _key(self, *parts: object) -> str:
        return json.dumps([self.epoch, *parts])


def window_name(window: Window) -> str:
    title = window.title if len(window.title) <= LONGEST_NAME else f"{window.title[:LONGEST_NAME]}…"
    return f"“{title}” ({window.window_class or window.application})"


async def application_name(backend: Backend, process: int) -> str:
    listed = await backend.applications.list()
    return next((each.name for each in listed if each.id == process), str(process))


def _call(tool: str, given: Mapping[str, Any]) -> str:
    return json.dumps([tool, dict(given)], sort_keys=True, default=str)
