"""The desktop nodes of workflows drive real programs through the bundled server's tools."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path

from tests.bundled.desktop.conftest import Programs, eventually
from tests.bundled.desktop.full_tools import FullTools
from tests.features.workflows.nodes.worlds import NodeWorld, visit
from toolcrib.features.workflows.checks import run_check
from toolcrib.graph.node_type import NodeCall
from toolcrib.schema.tools import ToolResult
from toolcrib.schema.workflows import Check


def world_of(full: FullTools) -> NodeWorld:
    async def call(use: NodeCall) -> ToolResult:
        return await full.result(use.tool, **use.arguments)

    return NodeWorld(call)


async def test_nodes_fill_in_a_form_and_press_its_button(
    full: FullTools, programs: Programs, tmp_path: Path
) -> None:
    with (tmp_path / "answer").open("wb") as output:
        process = programs.start("zenity", "--entry", "--title=Form", "--text=Your name", stdout=output)
    await full.element(process, role="button", text="OK")
    world = world_of(full)

    windows = await visit(world, "ListWindows", {"app_name": str(process.pid)})
    await visit(world, "FocusWindow", {"method": "pid", "value": "{{w.windows[0].pid}}"}, w=windows)
    shot = await visit(world, "TakeScreenshot", {"mode": "window", "include_ocr": False})
    await visit(world, "TypeText", {"text": "Ada"})
    found = await visit(world, "FindText", {"search_text": "Your name", "scope": str(process.pid)})
    title = await run_check(Check(type="window_title", value="f?rm"), world, {})
    absent = await run_check(
        Check(type="text_absent", value="{{x.text}}"), world, {"x": {"text": "Your name"}}
    )
    clicked = await visit(world, "Click", {"target": "OK", "scope": str(process.pid)})

    assert windows["windows"][0]["title"] == "Form"
    assert (shot["picture"], world.kept[0][1]) == ("artifact-1", "image/jpeg")
    assert found["found"]
    assert title.passed
    assert absent.fails
    assert clicked["text"] == "OK"
    assert await asyncio.to_thread(process.wait, 30) == 0
    assert (tmp_path / "answer").read_text() == "Ada\n"


async def test_a_picture_of_a_button_is_found_and_clicked(full: FullTools, programs: Programs) -> None:
    process = programs.start("zenity", "--question", "--title=Which", "--text=Continue?")
    button = await full.element(process, role="button", text="Yes")
    world = world_of(full)
    await visit(world, "FocusWindow", {"method": "pid", "value": process.pid})
    region = {key: button["bounds"][key] for key in ("x", "y", "width", "height")}

    async def look() -> bool:
        await visit(world, "TakeScreenshot", {"mode": "region", "region": region, "extra": {"format": "png"}})
        picture = base64.b64encode(world.kept[-1][0]).decode()
        found = await visit(world, "FindImage", {"template_image": picture})
        return bool(found["found"])

    await eventually(look)
    picture = base64.b64encode(world.kept[-1][0]).decode()
    await visit(world, "Click", {"image": picture})

    assert await asyncio.to_thread(process.wait, 30) == 0
