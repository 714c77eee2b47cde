"""The calculator of GNOME, which uses GTK 4."""

from __future__ import annotations

from tests.bundled.desktop.tasks.agent import Agent
from tests.bundled.desktop.tasks.task import Task


class Calculator(Task):
    expected = ""

    async def setup(self) -> None:
        self.app = str(self.world.start("gnome-calculator").pid)

    async def check(self) -> None:
        await self.world.until(lambda: self.world.clipboard() == self.expected)


class MultiplyWithButtons(Calculator):
    """Compute 12 × 34 with the buttons, and copy the result."""

    expected = "408"

    async def steps(self, agent: Agent) -> None:
        for key in ("1", "2", "×", "3", "4", "="):
            await agent.click(self.app, role="push button", text=key)
        await agent.find(self.app, text_contains="408")
        await agent.press("ctrl+c", (await agent.window(self.app))["id"])


class TypeAnExpression(Calculator):
    """Type 2^10+1, and copy the result."""

    expected = "1025"

    async def steps(self, agent: Agent) -> None:
        await agent.find(self.app, role="push button", text="=")
        window = (await agent.window(self.app))["id"]
        await agent.type("2^10+1", window)
        await agent.press("enter", window)
        await agent.find(self.app, text_contains="1025")
        await agent.press("ctrl+c", window)
