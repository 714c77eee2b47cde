"""What is measured: operations with the time they may take, and who does them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from benchmarks.desktop_latency.peers import Xa11y, run_program
from benchmarks.desktop_latency.world import World
from toolcrib.bundled.desktop.elements import acting
from toolcrib.bundled.desktop.elements.observing import observe
from toolcrib.bundled.desktop.elements.search import read_tree, search
from toolcrib.bundled.desktop.elements.selector import parse_selector
from toolcrib.bundled.desktop.separate_presses import INTERVAL

OURS = "toolcrib"
BUTTON = parse_selector({"role": "button"})
TEXT = "The quick brown fox jumps over the lazy dog, and 12 wolves look on. Pack my box with 5 dozen jugs ok"
Operation = Callable[[], Awaitable[float]]
"""Returns the CPU seconds of the program that did it."""


@dataclass(frozen=True)
class Case:
    name: str
    target: float
    """Milliseconds that it may take on a quiet machine with two cores."""
    operations: dict[str, Operation]
    prepare: Callable[[], Awaitable[object]] | None = None


def cases(world: World, xa11y: Xa11y) -> Sequence[Case]:
    return (
        _list_windows(world),
        _read("mousepad", 30, world, xa11y),
        _read("gedit", 200, world, xa11y),
        _read("featherpad", 150, world, xa11y),
        _find(world, xa11y),
        _type(world, xa11y),
        _click(world),
        _click_by_name(world),
    )


def _own(operation: Callable[[], Awaitable[object]]) -> Operation:
    async def measured() -> float:
        before = time.process_time()
        await operation()
        return time.process_time() - before

    return measured


def _list_windows(world: World) -> Case:
    def command(*words: str) -> Operation:
        return lambda: run_program(world.environment, *words)

    others = {"wmctrl": command("wmctrl", "-lGp"), "xdotool": command("xdotool", "search", "--name", "e")}
    return Case("list windows", 5, {OURS: _own(world.backend.windows.list), **others})


def _read(program: str, target: float, world: World, xa11y: Xa11y) -> Case:
    process = world.process(program)
    own = _own(lambda: read_tree(world.backend, process))
    return Case(f"tree of {program}", target, {OURS: own, "xa11y": lambda: xa11y.run("tree", process)})


def _find(world: World, xa11y: Xa11y) -> Case:
    process = world.process("mousepad")
    own = _own(lambda: search(world.backend, process, BUTTON))
    return Case("find buttons in mousepad", 30, {OURS: own, "xa11y": lambda: xa11y.run("find", process)})


def _type(world: World, xa11y: Xa11y) -> Case:
    """Until the program has all of it."""
    window = world.windows["mousepad"].id

    async def prepare() -> None:
        await world.backend.windows.focus(window)
        await world.backend.accessibility.write(world.area.ref, "")

    def arriving(operation: Operation) -> Operation:
        async def measured() -> float:
            used = await operation()
            async with asyncio.timeout(60):
                while await world.text() != TEXT:  # noqa: ASYNC110 - it is in another program
                    await asyncio.sleep(0.002)
            return used

        return measured

    own = _own(lambda: world.backend.input.type_text(TEXT, window))
    words = ("xdotool", "type", "--delay", "0", TEXT)
    operations = {
        OURS: arriving(own),
        "xdotool": arriving(lambda: run_program(world.environment, *words)),
        "xa11y": arriving(lambda: xa11y.run("type", TEXT)),
    }
    return Case(f"type {len(TEXT)} characters", 250, operations, prepare)


def _click(world: World) -> Case:
    """Ours includes both readings of the tree and the difference; xdotool only clicks."""
    process, area = world.process("mousepad"), world.area
    assert area.rect is not None
    at = area.rect.centre

    async def click() -> None:
        async with observe(world.backend, process):
            await acting.click(world.backend, process, area, "single")

    words = ("xdotool", "mousemove", str(at.x), str(at.y), "click", "1")
    operations = {OURS: _own(click), "xdotool": lambda: run_program(world.environment, *words)}
    return Case("click, with what changed", 50, operations, lambda: _separate_clicks(world))


def _click_by_name(world: World) -> Case:
    """The whole tool: the element is found by a selector, clicked, and what changed is reported."""
    tool = world.server.tools["click_element"]
    attributes = {"multi_line": "true", "editable": "true", "visible": "true"}
    arguments = {"parent": str(world.process("mousepad")), "selector": {"attributes": attributes}}

    async def click() -> None:
        result = await tool.call(arguments)
        if result["isError"]:
            raise ValueError(result["content"][0]["text"])

    return Case("find and click, as above", 50, {OURS: _own(click)}, lambda: _separate_clicks(world))


async def _separate_clicks(world: World) -> None:
    """A click right after another one at the same place would wait for this long."""
    await world.backend.windows.focus(world.windows["mousepad"].id)
    await asyncio.sleep(INTERVAL)
