"""Pages in Chromium, served from loopback and checked by what they sent."""

from __future__ import annotations

import secrets
from typing import Any

from tests.bundled.desktop.tasks.agent import Agent
from tests.bundled.desktop.tasks.task import Task

SEND = """
<script>
  const send = fields => fetch('/sent/{name}', {{method: 'POST', body: new URLSearchParams(fields)}})
</script>"""


class Page(Task):
    """A page with a title of its own, and the fields that it must send."""

    html = ""
    expected: dict[str, list[str]] = {}  # noqa: RUF012

    async def setup(self) -> None:
        self.name = f"page-{secrets.token_hex(4)}"
        self.prepare()
        html = f"<title>{self.name}</title>{SEND.format(name=self.name)}{self.html}"
        self.world.browser.open(self.name, html.replace("NAME", self.name))

    def prepare(self) -> None:
        """What the page refers to, before the browser asks for it."""

    async def open(self, agent: Agent) -> str:
        """Wait for its window; returns the browser's id."""
        window = await agent.window(title=self.name)
        self.window = window["id"]
        await agent.focus(self.window)
        return str(window["application"])

    def part(self, **selector: Any) -> dict[str, Any]:
        """An element of the page, not of another window of the browser."""
        return {**selector, "attributes": {"visible": "true"}}

    async def check(self) -> None:
        received = self.world.browser.website.received
        try:
            sent = await self.world.until(lambda: received.get(self.name))
        finally:
            self.world.close_window(self.window)
        assert sent == self.expected, sent


class OrderInAWebForm(Page):
    """Order a large pizza for Jiří 山田, as a gift, paid in cash with a tip of 5."""

    html = """
    <form action="/sent/NAME" method=post>
      <p><label>Full name <input name=who></label>
      <p><label>Size <select name=size><option>small<option>medium<option>large</select></label>
      <p><label><input type=checkbox name=gift value=yes> It is a gift</label>
      <p><label><input type=radio name=pay value=card> By card</label>
         <label><input type=radio name=pay value=cash> In cash</label>
      <p><label>Tip <input type=range name=tip min=0 max=20 value=0></label>
      <p><button>Place the order</button>
    </form>"""
    expected = {"who": ["Jiří 山田"], "size": ["large"], "gift": ["yes"], "pay": ["cash"], "tip": ["5"]}  # noqa: RUF012

    async def steps(self, agent: Agent) -> None:
        app = await self.open(agent)
        await agent.write(app, "Jiří 山田", **self.part(role="entry", text="Full name"))
        await agent.write(app, "large", **self.part(role="combo box", text="Size"))
        await agent.write(app, "true", **self.part(role="check box", text="It is a gift"))
        await agent.write(app, "true", **self.part(role="radio button", text="In cash"))
        await agent.write(app, "5", **self.part(role="slider", text="Tip"))
        await agent.click(app, **self.part(role="push button", text="Place the order"))


class ActOnOneRowOfATable(Page):
    """Archive the invoice of March, one of thirty rows with the same button."""

    rows = "".join(
        f"<tr><td>Invoice {number}<td><button aria-label='Archive invoice {number}' "
        f"onclick='send({{row: {number}}})'>Archive</button>"
        for number in range(1, 31)
    )
    html = f"<table>{rows}</table>"
    expected = {"row": ["3"]}  # noqa: RUF012

    async def steps(self, agent: Agent) -> None:
        app = await self.open(agent)
        await agent.click(app, **self.part(role="push button", text="Archive invoice 3"))


class WaitForASlowElement(Page):
    """Press Continue, which appears after a while and takes the place of another button."""

    html = """
    <p id=place><button onclick="send({pressed: 'cancel'})">Cancel</button>
    <script>
      setTimeout(() => place.innerHTML =
        `<button onclick="send({pressed: 'continue'})">Continue</button>`, 1500)
    </script>"""
    expected = {"pressed": ["continue"]}  # noqa: RUF012

    async def steps(self, agent: Agent) -> None:
        app = await self.open(agent)
        await agent.click(app, **self.part(role="push button", text="Continue"))


class PressWhileThePageLoads(Page):
    """Press Start on a page that shows it before it can react."""

    html = """
    <button id=start>Start</button><img src='/NAME-late'>
    <script>onload = () => start.onclick = () => send({pressed: 'start'})</script>"""
    expected = {"pressed": ["start"]}  # noqa: RUF012

    def prepare(self) -> None:
        self.world.browser.website.delays[f"{self.name}-late"] = 1.5

    async def steps(self, agent: Agent) -> None:
        app = await self.open(agent)
        await agent.click(app, **self.part(role="push button", text="Start"))


class ScrollDown(Page):
    """Scroll to the end of the page, and press the button there."""

    html = """
    <h1>Long page</h1><div style="height: 3000px"></div>
    <button onclick="send({far: String(scrollY > 1500), turned: String(turned > 1000)})">At the end</button>
    <script>let turned = 0; onwheel = event => turned += event.deltaY</script>"""
    expected = {"far": ["true"], "turned": ["true"]}  # noqa: RUF012

    async def steps(self, agent: Agent) -> None:
        app = await self.open(agent)
        await agent.find(app, **self.part(role="heading", text="Long page"))
        area = (await agent.window(title=self.name))["bounds"]
        await agent.scroll(60, area["x"] + area["width"] / 2, area["y"] + area["height"] / 2)
        await agent.click(app, role="push button", text="At the end")


class DragABox(Page):
    """Drag the box onto the target."""

    html = """
    <style>
      body { margin: 0 } [role=button] { position: absolute; width: 90px; height: 60px; background: #adf }
      #target { left: 500px; top: 200px; width: 160px; height: 120px; background: #fda }
    </style>
    <div id=target role=button aria-label=Target tabindex=0></div>
    <div id=box role=button aria-label=Box tabindex=0 style="left: 40px; top: 40px"></div>
    <script>
      let moving = false, moves = 0
      box.onmousedown = event => { moving = true; event.preventDefault() }
      onmousemove = event => {
        if (!moving) return
        moves++
        box.style.left = event.clientX - 45 + 'px'
        box.style.top = event.clientY - 30 + 'px'
      }
      onmouseup = event => {
        if (!moving) return
        moving = false
        const under = document.elementsFromPoint(event.clientX, event.clientY).includes(target)
        send({dropped: String(under), moved: String(moves > 1)})
      }
    </script>"""
    expected = {"dropped": ["true"], "moved": ["true"]}  # noqa: RUF012

    async def steps(self, agent: Agent) -> None:
        app = await self.open(agent)
        box = await agent.find(app, **self.part(role="push button", text="Box"))
        target = await agent.find(app, **self.part(role="push button", text="Target"))
        await agent.drag_element(box["id"], target["id"])


class ConfirmInANewTab(Page):
    """Follow the link, which opens a new tab, and confirm the question there."""

    html = "<a href='/NAME-next' target=_blank>Continue in a new tab</a>"
    expected = {"confirmed": ["true"]}  # noqa: RUF012

    def prepare(self) -> None:
        website = self.world.browser.website
        asks = "<button onclick=\"send({confirmed: String(confirm('Really?'))})\">Delete</button>"
        website.pages[f"{self.name}-next"] = f"<title>next</title>{SEND.format(name=self.name)}{asks}"

    async def steps(self, agent: Agent) -> None:
        app = await self.open(agent)
        await agent.click(app, **self.part(role="link", text="Continue in a new tab"))
        await agent.click(app, **self.part(role="push button", text="Delete"))
        confirm = await agent.find(app, **self.part(role="push button", text="OK"))
        # Chromium ignores clicks in the first half second of a question; the reply says to click again.
        if not (await agent.click_id(confirm["id"]))["changes"]:
            await agent.click_id(confirm["id"])
