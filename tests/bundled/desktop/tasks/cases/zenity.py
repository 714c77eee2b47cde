"""Dialogs of GTK 3 that print what was chosen: fields, lists, sliders, check boxes."""

from __future__ import annotations

import subprocess

from tests.bundled.desktop.tasks.agent import Agent
from tests.bundled.desktop.tasks.task import Task

OK = {"role": "push button", "text": "OK"}


class Dialog(Task):
    """A dialog with arguments, whose output is compared."""

    arguments: tuple[str, ...] = ()
    expected = ""

    async def setup(self) -> None:
        self.process = self.world.start("zenity", *self.arguments, stdout=subprocess.PIPE)
        self.app = str(self.process.pid)

    async def check(self) -> None:
        output = await self.world.output_of(self.process)
        assert output == self.expected, output
        assert self.process.returncode == 0


class FillInAForm(Dialog):
    """Name Žofie, mail z@x.cz, colour blue; then OK."""

    arguments = (
        "--forms", "--add-entry=Name", "--add-entry=Mail", "--add-combo=Colour",
        "--combo-values=red|green|blue",
    )  # fmt: skip
    expected = "Žofie|z@x.cz|blue"

    async def steps(self, agent: Agent) -> None:
        await agent.find(self.app, **OK)
        fields = await agent.find_all(self.app, role="text")
        name, mail = sorted(fields, key=lambda field: field["bounds"]["y"])
        await agent.write_id(name["id"], "Žofie")
        await agent.write_id(mail["id"], "z@x.cz")
        await agent.write(self.app, "blue", role="combo box")
        await agent.click(self.app, **OK)


class SetASlider(Dialog):
    """Set the volume to 73."""

    arguments = ("--scale", "--text=Volume", "--value=20")
    expected = "73"

    async def steps(self, agent: Agent) -> None:
        await agent.write(self.app, "73", role="slider")
        await agent.click(self.app, **OK)


class TickTwoRows(Dialog):
    """Tick pear and plum in the list."""

    arguments = (
        "--list", "--checklist", "--column=Pick", "--column=Fruit", "--separator=+",
        "FALSE", "apple", "FALSE", "pear", "FALSE", "quince", "FALSE", "plum",
    )  # fmt: skip
    expected = "pear+plum"

    async def steps(self, agent: Agent) -> None:
        for fruit in ("pear", "plum"):
            cells = await agent.find_all(self.app, role="table cell")
            row = next(cell for cell in cells if cell["name"] == fruit)
            box = next(cell for cell in cells if not cell["name"] and _same_row(cell, row))
            await agent.click_id(box["id"])
        await agent.click(self.app, **OK)


class ChooseARowOutOfSight(Dialog):
    """Choose row 55 of a list that shows about ten rows."""

    rows = tuple(text for number in range(60) for text in (str(number), f"row {number}"))
    arguments = ("--list", "--column=Number", "--column=Name", "--print-column=2", "--height=300", *rows)
    expected = "row 55"

    async def steps(self, agent: Agent) -> None:
        await agent.find(self.app, **OK)
        await agent.click(self.app, role="table cell", text="row 55")
        await agent.click(self.app, **OK)


class AgreeBeforeContinuing(Dialog):
    """Tick "I agree", which enables OK; then OK."""

    async def setup(self) -> None:
        terms = self.world.file("terms.txt", "Terms and conditions\n" * 100)
        self.arguments = ("--text-info", f"--filename={terms}", "--checkbox=I agree")
        await super().setup()

    async def steps(self, agent: Agent) -> None:
        await agent.tick(self.app, "I agree")
        await agent.click(self.app, **OK)

    async def check(self) -> None:
        assert await self.world.exit_of(self.process) == 0


class ChooseAFile(Dialog):
    """Choose beta.txt from the list of the file chooser."""

    async def setup(self) -> None:
        for name in ("alpha.txt", "beta.txt", "gamma.txt"):
            self.world.file(name, name)
        self.arguments = ("--file-selection", f"--filename={self.world.folder}/")
        self.expected = str(self.world.folder / "beta.txt")
        await super().setup()

    async def steps(self, agent: Agent) -> None:
        await agent.click(self.app, role="table cell", text="beta.txt")
        await agent.click(self.app, **OK)


class LogIn(Dialog):
    """Log in as ada with the password "s3cret, pass"."""

    arguments = ("--password", "--username")
    expected = "ada|s3cret, pass"

    async def steps(self, agent: Agent) -> None:
        await agent.write(self.app, "s3cret, pass", role="password text")
        fields = await agent.find_all(self.app, role="text")
        await agent.write_id(next(each["id"] for each in fields if each["role"] == "text"), "ada")
        await agent.click(self.app, **OK)


class AnswerWithAKey(Dialog):
    """Decline the question with the Escape key alone."""

    arguments = ("--question", "--text=Delete everything?")

    async def steps(self, agent: Agent) -> None:
        await agent.find(self.app, role="push button", text="No")
        await agent.press("escape", (await agent.window(self.app))["id"])

    async def check(self) -> None:
        assert await self.world.exit_of(self.process) == 1


def _same_row(one: dict[str, object], other: dict[str, object]) -> bool:
    first, second = one["bounds"], other["bounds"]
    return bool(first and second and first["y"] == second["y"])  # type: ignore[index]
