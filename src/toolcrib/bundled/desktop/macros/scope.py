"""What the actions of a running macro act on: the desktop, the application, the variables. Decides how long
an action waits for its element, and how speed changes pauses."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from toolcrib.bundled.desktop.backend import Backend, Element, Window
from toolcrib.bundled.desktop.elements.outline import line
from toolcrib.bundled.desktop.elements.search import ElementSearch, search, wait_for
from toolcrib.bundled.desktop.elements.selector import parse_selector
from toolcrib.bundled.desktop.elements.snapshots import Snapshots
from toolcrib.bundled.desktop.failures import AmbiguousElement, ElementNotFound, WindowNotFound
from toolcrib.bundled.desktop.macros.variables import Variables, read_selector
from toolcrib.bundled.desktop.pictures import Pictures
from toolcrib.bundled.desktop.window_lookup import choose_application

ELEMENT_PATIENCE = 10.0
"""Seconds for an element to appear before it is acted on."""
LONGEST_WAIT = 300.0
QUIET, PATIENCE = 0.06, 0.8
"""Seconds without a change after which an action counts as done, and the longest wait for that."""


@dataclass(frozen=True)
class MacroScope:
    backend: Backend
    snapshots: Snapshots
    pictures: Pictures
    application: str = ""
    """Where to look for elements unless an action names another; empty for that of the active window."""
    speed: float = 1.0
    variables: Variables = field(default_factory=Variables)

    async def process(self, application: str = "") -> int:
        return await choose_application(self.backend, application or self.application or None)

    async def find(self, selector: str, application: str = "") -> tuple[int, ElementSearch]:
        process = await self.process(application)
        return process, await search(self.backend, process, read_selector(selector))

    async def only_element(
        self, selector: str, application: str = "", patience: float = ELEMENT_PATIENCE
    ) -> tuple[int, Element]:
        """The one element that matches, waited for; raises `ToolFailure` for none or several."""
        process = await self.process(application)
        found = await wait_for(
            self.backend, process, read_selector(selector), min(max(0.0, patience), LONGEST_WAIT)
        )
        candidates = found.meant
        if len(candidates) == 1:
            return process, candidates[0]
        snapshot = self.snapshots.add(found.tree)
        choices = "\n".join(line(element, snapshot.id_of(element)) for element in candidates[:10])
        problem = f"{len(candidates) or 'No'} elements match {selector}, so nothing was done."
        if not choices:
            raise ElementNotFound(problem)
        raise AmbiguousElement(problem, f"Make the selector match one of these:\n{choices}")

    async def element(self, element_id: str) -> tuple[int, Element]:
        """The element of an id, if it is still the same."""
        snapshot, found = await self.snapshots.resolve(self.backend, element_id)
        return snapshot.tree.application, found

    async def window(self, application: str = "") -> Window:
        """The window that gets the keys, active: that of the application, or the active one."""
        process = await self.process(application)
        windows = [window for window in await self.backend.windows.list() if window.application == process]
        if not windows:
            raise WindowNotFound(f"The application {process} has no window.")
        active = next((window for window in windows if window.active), None)
        return active or await self.backend.windows.focus(windows[-1].id)

    async def typed(self, window: Window, text: str) -> None:
        """Wait until the focused field contains the text: some programs handle a shortcut before it."""
        if window.application is None:
            return
        selector = parse_selector({"attributes": {"focused": "true", "editable": "true"}})
        with self.backend.events.listen() as changes:
            for _ in range(8):
                found = await search(self.backend, window.application, selector)
                shown = [element.text for element in found.matches if element.text is not None]
                if not shown or any(text.strip() in content for content in shown):
                    return
                await changes.next(0.1)

    @contextlib.asynccontextmanager
    async def settling(self) -> AsyncIterator[None]:
        """Around an action: ends when the program has stopped changing, as after each tool."""
        with self.backend.events.listen() as changes:
            yield
            await changes.settled(QUIET, PATIENCE)

    async def pause(self, seconds: float) -> None:
        """Wait, shorter at a higher speed."""
        await asyncio.sleep(min(max(0.0, seconds), LONGEST_WAIT) / self.speed)
