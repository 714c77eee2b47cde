"""A task of the benchmark alone: one look at a window, enough to know what can be done in it."""

from __future__ import annotations

from tests.bundled.desktop.tasks.task import Task

NAMES = ("File", "Edit", "Search", "View", "Document", "Help")


class SeeAWindow(Task):
    """Which menus does the editor have?"""

    seen = ""

    async def setup(self) -> None:
        process = self.world.start("mousepad")
        self.app = str(process.pid)
        self.title = "Mousepad"
        await self.world.window_of(process)

    async def check(self) -> None:
        missing = [name for name in NAMES if name not in self.seen]
        assert not missing, f"not seen: {missing}"
