"""A text editor of Qt: find and replace, settings with tabs, saving under another name."""

from __future__ import annotations

from tests.bundled.desktop.tasks.agent import Agent
from tests.bundled.desktop.tasks.task import Task

EDITOR = {"role": "text", "attributes": {"multi_line": "true", "visible": "true"}}


class ReplaceInQt(Task):
    """Replace every red by blue with the replacement bar; then save."""

    async def setup(self) -> None:
        self.file = self.world.file("colours.txt", "red green red\n")
        self.app = str(self.world.start("featherpad", str(self.file)).pid)

    async def steps(self, agent: Agent) -> None:
        await agent.find(self.app, role="page tab", text="colours.txt")
        window = (await agent.window(self.app, "colours.txt"))["id"]
        await agent.click(self.app, role="push button", text="Replace")
        await agent.find(self.app, role="label", text="Replace with:")
        fields = await agent.find_all(self.app, role="text", attributes={"visible": "true"})
        search, replacement = sorted(fields, key=lambda field: field["bounds"]["y"])[-2:]
        await agent.write_id(search["id"], "red")
        await agent.write_id(replacement["id"], "blue")
        await agent.press("F10", window)
        await agent.press("ctrl+s", window)

    async def check(self) -> None:
        await self.world.contains(self.file, "blue green blue\n")


class ChangeSettings(Task):
    """Turn line numbers on by default, and put the tabs at the bottom (South)."""

    async def setup(self) -> None:
        self.process = self.world.start("featherpad")
        self.app = str(self.process.pid)

    async def steps(self, agent: Agent) -> None:
        await agent.find(self.app, role="page tab", text="Untitled")
        await agent.click(self.app, role="menu item", text="Preferences")
        await agent.window(self.app, "Preferences")
        await agent.write(self.app, "South", role="combo box", text="North")
        await agent.click(self.app, role="page tab", text="Text")
        await agent.tick(self.app, "Always show line numbers")
        await agent.click(self.app, role="push button", text="Close", attributes={"visible": "true"})

    async def check(self) -> None:
        settings = self.world.home_of(self.process) / ".config" / "featherpad" / "fp.conf"

        def is_set() -> bool:
            lines = settings.read_text().splitlines() if settings.exists() else []
            return {"lineNumbers=true", "tabPosition=1"} <= set(lines)

        await self.world.until(is_set)


class SaveUnderAnotherName(Task):
    """Save the file as copy.txt and leave the original alone."""

    async def setup(self) -> None:
        self.file = self.world.file("original.txt", "same\n")
        self.app = str(self.world.start("featherpad", str(self.file)).pid)

    async def steps(self, agent: Agent) -> None:
        await agent.find(self.app, role="page tab", text="original.txt")
        window = (await agent.window(self.app, "original.txt"))["id"]
        await agent.press("ctrl+end", window)
        await agent.type("changed", window)
        await agent.press("ctrl+shift+s", window)
        dialog = await agent.window(self.app, "Save")
        await agent.find(self.app, role="push button", text="Save")
        fields = await agent.find_all(self.app, role="text", text="original.txt")
        await agent.write_id(fields[0]["id"], str(self.world.folder / "copy.txt"))
        await agent.press("enter", dialog["id"])

    async def check(self) -> None:
        await self.world.contains(self.world.folder / "copy.txt", "same\nchanged")
        await self.world.contains(self.file, "same\n")
