"""Windows in the way, windows that move, elements that go: the wrong one must never be clicked."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import threading

from tests.bundled.desktop.tasks.agent import Agent, Refused
from tests.bundled.desktop.tasks.task import Task

QUESTION = ("zenity", "--question", "--text=Continue?")
YES = {"role": "push button", "text": "Yes"}


class ClickInACoveredWindow(Task):
    """Say Yes in a dialog that another dialog covers completely, without touching that one."""

    async def setup(self) -> None:
        self.covered = self.world.start(*QUESTION)
        await self.world.window_of(self.covered)
        self.cover = self.world.start("zenity", "--question", "--text=Delete?", "--width=800", "--height=600")
        await self.world.window_of(self.cover)

    async def steps(self, agent: Agent) -> None:
        await agent.find(str(self.cover.pid), **YES)
        await agent.click(str(self.covered.pid), **YES)

    async def check(self) -> None:
        assert await self.world.exit_of(self.covered) == 0
        assert self.cover.poll() is None


class ClickInAMovingWindow(Task):
    """Say Yes in a dialog that keeps moving."""

    async def setup(self) -> None:
        self.process = self.world.start(*QUESTION)
        self.window = await self.world.window_of(self.process)
        self.stopped = threading.Event()
        self.moves = 0

    async def steps(self, agent: Agent) -> None:
        moving = asyncio.create_task(asyncio.to_thread(self._move))
        app = str(self.process.pid)
        try:
            await self._click(agent, app)
        finally:
            self.stopped.set()
            await moving

    async def _click(self, agent: Agent, app: str) -> None:
        """Once more if the window did not stand still for long enough, as the reply then says."""
        try:
            await agent.click(app, **YES)
        except Refused as refusal:
            if "The window has moved" not in str(refusal):
                raise
            await agent.click(app, **YES)

    def _move(self) -> None:
        """From outside of the server, and not forever."""
        with contextlib.suppress(subprocess.SubprocessError):
            while self.moves < 10 and not self.stopped.wait(0.05):
                self.moves += 1
                self.world.move(self.window, 60 + 97 * self.moves % 700, 60 + 61 * self.moves % 400)

    async def check(self) -> None:
        assert self.moves > 0
        assert await self.world.exit_of(self.process) == 0


class RefuseAStaleElement(Task):
    """The button that was found has gone, and another dialog is in its place: nothing may be clicked."""

    async def setup(self) -> None:
        self.gone = self.world.start("zenity", "--question", "--text=Keep?")

    async def steps(self, agent: Agent) -> None:
        button = await agent.find(str(self.gone.pid), **YES)
        self.gone.kill()
        await self.world.exit_of(self.gone)
        self.heir = self.world.start("zenity", "--question", "--text=Keep?")
        await agent.find(str(self.heir.pid), **YES)
        refusal = await agent.refused(agent.click_id(button["id"]))
        assert "no longer exists" in refusal, refusal

    async def check(self) -> None:
        assert self.heir.poll() is None
        self.heir.terminate()
        assert await self.world.exit_of(self.heir) != 0


class WaitUntilEnabled(Task):
    """Press OK once the progress bar is full; it is disabled before."""

    async def setup(self) -> None:
        self.process = self.world.start("zenity", "--progress", "--text=Working", stdin=subprocess.PIPE)

    async def steps(self, agent: Agent) -> None:
        app = str(self.process.pid)
        found = await agent.find(app, role="push button", text="OK")
        assert "disabled" in found["states"]
        assert self.process.stdin is not None
        threading.Timer(1.0, self._finish).start()
        await agent.click(app, role="push button", text="OK", attributes={"enabled": "true"})

    def _finish(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"100\n")
        self.process.stdin.flush()

    async def check(self) -> None:
        assert await self.world.exit_of(self.process) == 0


class ChooseBetweenEqualTitles(Task):
    """Two windows have the same title: answer the one that asks about the printer."""

    async def setup(self) -> None:
        self.printer = self.world.start("zenity", "--question", "--title=Setup", "--text=Use the printer?")
        self.scanner = self.world.start("zenity", "--question", "--title=Setup", "--text=Use the scanner?")

    async def steps(self, agent: Agent) -> None:
        for process in (self.printer, self.scanner):
            await agent.find(str(process.pid), **YES)
        for window in await agent.windows("Setup"):
            app = str(window["application"])
            if await agent.find_all(app, wait=0, text_contains="printer"):
                await agent.click(app, **YES)

    async def check(self) -> None:
        assert await self.world.exit_of(self.printer) == 0
        assert self.scanner.poll() is None
