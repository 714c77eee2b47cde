"""A program whose accessibility tree has as many elements as wanted: `large_program.py COUNT [slow]`.

It answers from its cache as GTK does; with `slow` it has no cache and takes its time for each element. All
elements are at the same place, where it names the first of several, as Qt does.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

from dbus_fast import Message, MessageType, Variant
from dbus_fast.aio import MessageBus

ATSPI = "org.a11y.atspi."
ROOT = "/org/a11y/atspi/accessible/root"
NULL = "/org/a11y/atspi/null"
STATES = [1 << 8 | 1 << 11 | 1 << 24 | 1 << 25 | 1 << 30, 0]
PLACE = [10, 10, 80, 40]
APPLICATION, PANEL, BUTTON = 75, 39, 43
ROW = 100
"""Buttons in each panel."""


async def main(count: int, slow: bool) -> None:
    session = await MessageBus(bus_address=os.environ["DBUS_SESSION_BUS_ADDRESS"]).connect()
    place = ("org.a11y.Bus", "/org/a11y/bus")
    address = (await session.call(Message(*place, interface="org.a11y.Bus", member="GetAddress"))).body[0]
    bus = await MessageBus(bus_address=address).connect()
    name = str(bus.unique_name)
    items = make_items(name, count)

    def answer(message: Message) -> Any:
        if message.message_type is not MessageType.METHOD_CALL or message.destination != name:
            return None
        if slow and message.member != "GetItems":
            asyncio.get_running_loop().call_later(0.05, lambda: bus.send(reply(message, items, slow)))
            return True
        return reply(message, items, slow)

    bus.add_message_handler(answer)
    embed = [[name, ROOT]]
    await bus.call(Message(f"{ATSPI}Registry", ROOT, f"{ATSPI}Socket", "Embed", signature="(so)", body=embed))
    print("ready", flush=True)
    await bus.wait_for_disconnect()


def make_items(name: str, count: int) -> dict[str, list[Any]]:
    """The cached items by path."""
    panels = (count - 1) // (ROW + 1) + 1
    items: dict[str, list[Any]] = {}

    def add(path: str, parent: str, at: int, children: int, title: str, role: int) -> None:
        items[path] = [
            [name, path], [name, ROOT], [name, parent], at, children,
            [f"{ATSPI}Accessible", f"{ATSPI}Component"], title, role, "", STATES,
        ]  # fmt: skip

    add(ROOT, NULL, 0, panels, "large", APPLICATION)
    for panel in range(panels):
        add(f"/p{panel}", ROOT, panel, ROW, f"panel {panel}", PANEL)
        for button in range(ROW):
            add(f"/p{panel}/b{button}", f"/p{panel}", button, 0, f"button {panel}-{button}", BUTTON)
    return items


def reply(message: Message, items: dict[str, list[Any]], slow: bool) -> Message:
    item = items.get(message.path or "")
    if message.member == "GetItems" and not slow:
        return Message.new_method_return(message, "a((so)(so)(so)iiassusau)", [list(items.values())])
    if item is None:
        return Message.new_error(message, "org.freedesktop.DBus.Error.UnknownObject", "no such element")
    if message.member == "GetChildren":
        children = [each[0] for each in items.values() if each[2][1] == message.path]
        return Message.new_method_return(message, "a(so)", [children])
    if message.member == "GetAccessibleAtPoint":
        first = next((each[0] for each in items.values() if each[2][1] == message.path), [item[0][0], NULL])
        return Message.new_method_return(message, "(so)", [first])
    if message.member == "GetExtents":
        return Message.new_method_return(message, "(iiii)", [PLACE])
    if message.member == "Contains":
        return Message.new_method_return(message, "b", [True])
    if message.member == "Get" and message.body[1] in ("Parent", "ToolkitName"):
        known = {"Parent": Variant("(so)", item[2]), "ToolkitName": Variant("s", "Qt")}
        return Message.new_method_return(message, "v", [known[message.body[1]]])
    if message.member == "GetRole":
        return Message.new_method_return(message, "u", [item[7]])
    if message.member == "GetState":
        return Message.new_method_return(message, "au", [item[9]])
    if message.member == "Get" and message.body[1] == "Name":
        return Message.new_method_return(message, "v", [Variant("s", item[6])])
    return Message.new_error(message, "org.freedesktop.DBus.Error.UnknownMethod", "not supported")


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), "slow" in sys.argv))
