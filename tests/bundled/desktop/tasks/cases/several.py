"""Tasks with several programs: the clipboard between toolkits, a terminal, a program that is opened first."""

from __future__ import annotations

from tests.bundled.desktop.tasks.agent import Agent
from tests.bundled.desktop.tasks.task import Task

EDITOR = {"role": "text", "attributes": {"multi_line": "true", "visible": "true"}}


class CopyFromGtkToQt(Task):
    """Copy the whole text of the GTK editor into the file that the Qt editor has open, and save it."""

    text = "from GTK: ñandú 漢字 🌍"

    async def setup(self) -> None:
        source = self.world.file("source.txt", self.text)
        self.file = self.world.file("target.txt", "")
        self.source = str(self.world.start("mousepad", str(source)).pid)
        self.target = str(self.world.start("featherpad", str(self.file)).pid)

    async def steps(self, agent: Agent) -> None:
        await agent.find(self.source, text_contains="from GTK")
        await agent.find(self.target, role="page tab", text="target.txt")
        window = (await agent.window(self.source, "source.txt"))["id"]
        await agent.press("ctrl+a", window)
        await agent.press("ctrl+c", window)
        window = (await agent.window(self.target, "target.txt"))["id"]
        await agent.press("ctrl+v", window)
        await agent.press("ctrl+s", window)

    async def check(self) -> None:
        await self.world.contains(self.file, self.text)


class PasteWhatTheAgentWrote(Task):
    """Put a long text on the clipboard, paste it into the editor, and save."""

    text = "\n".join(f"{number}: “quoted” – ünïcode" for number in range(300))

    async def setup(self) -> None:
        self.file = self.world.file("long.txt", "")
        self.app = str(self.world.start("mousepad", str(self.file)).pid)

    async def steps(self, agent: Agent) -> None:
        await agent.find(self.app, **EDITOR)
        window = (await agent.window(self.app, "long.txt"))["id"]
        await agent.copy(self.text)
        await agent.press("ctrl+v", window)
        await agent.find(self.app, text_contains="299: “quoted”")
        await agent.press("ctrl+s", window)

    async def check(self) -> None:
        assert self.world.clipboard() == self.text
        await self.world.contains(self.file, self.text)


class RunACommandInATerminal(Task):
    """Run a command in xterm, which offers no elements."""

    async def setup(self) -> None:
        self.file = self.world.folder / "out.txt"
        self.process = self.world.start("xterm", "-T", "shell", "-e", "/bin/sh")

    async def steps(self, agent: Agent) -> None:
        window = await agent.window(str(self.process.pid), "shell")
        await agent.type(f"echo 'one | two' $((6*7)) > {self.file}; exit\n", window["id"])

    async def check(self) -> None:
        await self.world.contains(self.file, "one | two 42")
        assert await self.world.exit_of(self.process) == 0


class OpenAProgramFirst(Task):
    """Open the calculator of this desktop, add 19 and 23, copy the result, and close the calculator."""

    async def setup(self) -> None:
        pass

    async def steps(self, agent: Agent) -> None:
        opened = await agent.open("gnome-calculator")
        self.app, window = str(opened["application"]), opened["window"]["id"]
        await agent.find(self.app, role="push button", text="=")
        await agent.type("19+23", window)
        await agent.press("enter", window)
        await agent.find(self.app, text_contains="42")
        await agent.press("ctrl+c", window)
        self.seen = self.world.clipboard()
        await agent.close_window(opened["window"])

    async def check(self) -> None:
        assert self.seen == "42"
        await self.world.until(lambda: not self.world.is_running(int(self.app)))
