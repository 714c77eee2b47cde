"""A text editor of GTK 3: typing, menus, dialogs, tabs."""

from __future__ import annotations

import os
import signal
from typing import Any

from tests.bundled.desktop.tasks.agent import Agent
from tests.bundled.desktop.tasks.task import Task

EDITOR: dict[str, Any] = {"role": "text", "attributes": {"multi_line": "true", "visible": "true"}}
NAME_FIELD: dict[str, Any] = {"role": "text", "attributes": {"single_line": "true", "visible": "true"}}


def visible_button(text: str) -> dict[str, Any]:
    return {"role": "push button", "text": text, "attributes": {"visible": "true"}}


class TypeAndSave(Task):
    """Type three lines in several scripts, and save them as note.txt through the dialog."""

    text = "Line one\nŽluťoučký kůň – 日本語 – Привет\n🚀 done"

    async def setup(self) -> None:
        self.app = str(self.world.start("mousepad").pid)

    async def steps(self, agent: Agent) -> None:
        await agent.find(self.app, **EDITOR)
        window = (await agent.window(self.app))["id"]
        assert (await agent.type(self.text, window))["verified"]
        await agent.press("ctrl+s", window)
        await agent.write(self.app, str(self.world.folder / "note.txt"), **NAME_FIELD)
        await agent.click(self.app, **visible_button("Save"))

    async def check(self) -> None:
        await self.world.contains(self.world.folder / "note.txt", self.text)


class OpenWithTheFileChooser(Task):
    """Open letter.txt through File > Open, add a line, and save."""

    async def setup(self) -> None:
        self.file = self.world.file("letter.txt", "Dear reader,\n")
        self.app = str(self.world.start("mousepad").pid)

    async def steps(self, agent: Agent) -> None:
        await agent.find(self.app, **EDITOR)
        await agent.click(self.app, role="menu item", text="Open...")
        dialog = await agent.window(self.app, "Open File")
        await agent.press("ctrl+l", dialog["id"])
        await agent.write(self.app, str(self.file), **NAME_FIELD)
        await agent.click(self.app, **visible_button("Open"))
        window = await agent.window(self.app, "letter.txt")
        await agent.press("ctrl+end", window["id"])
        await agent.type("it works.", window["id"])
        await agent.press("ctrl+s", window["id"])

    async def check(self) -> None:
        await self.world.contains(self.file, "Dear reader,\nit works.")


class FindAndReplace(Task):
    """Replace every cat by dog, but not in concatenate, with the dialog; then save."""

    async def setup(self) -> None:
        self.file = self.world.file("pets.txt", "cat concatenate cat\ncat\n")
        self.app = str(self.world.start("mousepad", str(self.file)).pid)

    async def steps(self, agent: Agent) -> None:
        window = (await agent.window(self.app, "pets.txt"))["id"]
        await agent.find(self.app, **EDITOR)
        await agent.press("ctrl+r", window)
        await agent.tick(self.app, "Match whole word")
        fields = await agent.find_all(self.app, **NAME_FIELD)
        search, replacement = sorted(fields, key=lambda field: field["bounds"]["y"])[:2]
        await agent.write_id(search["id"], "cat")
        await agent.write_id(replacement["id"], "dog")
        while "cat" in (await agent.find(self.app, **EDITOR))["value"].split():
            await agent.click(self.app, **visible_button("Replace"))
        await agent.press("ctrl+s", window)

    async def check(self) -> None:
        await self.world.contains(self.file, "dog concatenate dog\ndog\n")


class ConvertWithASubmenu(Task):
    """Select all and convert it to upper case through the menus; then save."""

    async def setup(self) -> None:
        self.file = self.world.file("shout.txt", "quiet words\n")
        self.app = str(self.world.start("mousepad", str(self.file)).pid)

    async def steps(self, agent: Agent) -> None:
        await agent.window(self.app, "shout.txt")
        await agent.find(self.app, text_contains="quiet words")
        await agent.click(self.app, role="menu item", text="Select All")
        await agent.click(self.app, role="menu item", text="To Uppercase")
        await agent.click(self.app, role="menu item", text="Save")

    async def check(self) -> None:
        await self.world.contains(self.file, "QUIET WORDS\n")


class EditOneOfTwoTabs(Task):
    """Two files are open in tabs: add a line to the first, and leave the second as it is."""

    async def setup(self) -> None:
        self.first = self.world.file("first.txt", "one\n")
        self.second = self.world.file("second.txt", "two\n")
        self.app = str(self.world.start("mousepad", str(self.first), str(self.second)).pid)

    async def steps(self, agent: Agent) -> None:
        await agent.click(self.app, role="page tab", text="first.txt")
        window = (await agent.window(self.app, "first.txt"))["id"]
        await agent.press("ctrl+end", window)
        await agent.type("more", window)
        await agent.press("ctrl+s", window)

    async def check(self) -> None:
        await self.world.contains(self.first, "one\nmore")
        await self.world.contains(self.second, "two\n")


class SelectByDragging(Task):
    """Select the first line by dragging from its start to the next one, and copy it."""

    async def setup(self) -> None:
        self.file = self.world.file("lines.txt", "copy this line\nnot this\n")
        self.app = str(self.world.start("mousepad", str(self.file)).pid)

    async def steps(self, agent: Agent) -> None:
        window = (await agent.window(self.app, "lines.txt"))["id"]
        await agent.find(self.app, text_contains="copy this line")
        await agent.focus(window)
        area = (await agent.find(self.app, **EDITOR))["bounds"]
        left, top = area["x"] + 2, area["y"] + 8
        await agent.drag((left, top), (area["x"] + area["width"] - 40, top))
        await agent.press("ctrl+c", window)

    async def check(self) -> None:
        await self.world.until(lambda: self.world.clipboard() == "copy this line")


class SurviveACrash(Task):
    """The editor crashes while a note is written: notice it, open the file again, and finish the note."""

    async def setup(self) -> None:
        self.file = self.world.file("draft.txt", "start\n")
        self.process = self.world.start("mousepad", str(self.file))

    async def steps(self, agent: Agent) -> None:
        app = str(self.process.pid)
        editor = await agent.find(app, **EDITOR)
        await agent.type("lost", (await agent.window(app))["id"])
        os.kill(self.process.pid, signal.SIGSEGV)
        await self.world.exit_of(self.process)
        refusal = await agent.refused(agent.click_id(editor["id"]))
        assert "no longer exists" in refusal, refusal
        again = str(self.world.start("mousepad", str(self.file)).pid)
        window = (await agent.window(again, "draft.txt"))["id"]
        await agent.find(again, text_contains="start")
        await agent.press("ctrl+end", window)
        await agent.type("finished", window)
        await agent.press("ctrl+s", window)

    async def check(self) -> None:
        await self.world.contains(self.file, "start\nfinished")


class RestoreAMinimisedWindow(Task):
    """Minimise the editor, bring it back, and type into it."""

    async def setup(self) -> None:
        self.file = self.world.file("hidden.txt", "")
        self.process = self.world.start("mousepad", str(self.file))
        self.seen_minimised = False

    async def steps(self, agent: Agent) -> None:
        app = str(self.process.pid)
        await agent.find(app, **EDITOR)
        window = await agent.window(app, "hidden.txt")
        await agent.minimise(window)
        self.seen_minimised = "_HIDDEN" in self.world.property(window["id"], "_NET_WM_STATE")
        await agent.focus(window["id"])
        await agent.type("back again", window["id"])
        await agent.press("ctrl+s", window["id"])

    async def check(self) -> None:
        assert self.seen_minimised
        await self.world.contains(self.file, "back again")


class PlaceAWindow(Task):
    """Move the editor to 140,90 and give it a size of 600 by 420."""

    async def setup(self) -> None:
        self.process = self.world.start("mousepad")

    async def steps(self, agent: Agent) -> None:
        app = str(self.process.pid)
        window = await agent.window(app)
        await agent.resize_window(window, 600, 420)
        await agent.move_window(window, 140, 90)

    async def check(self) -> None:
        window = await self.world.window_of(self.process)

        def is_placed() -> bool:
            left, top, width, height = self.world.place(window)
            return abs(left - 140) <= 8 and abs(top - 90) <= 40 and (width, height) == (600, 420)

        await self.world.until(is_placed)
