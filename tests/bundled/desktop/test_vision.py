"""What is seen on a real display: screenshots, text with and without accessibility, and images."""

from __future__ import annotations

import base64
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy
import pytest
import xcffib
import xcffib.randr

from tests.bundled.desktop.conftest import Programs, eventually, window_of
from toolcrib.bundled.desktop.backend import Backend, Window
from toolcrib.bundled.desktop.geometry import Rect
from toolcrib.bundled.desktop.headless import HeadlessDisplay
from toolcrib.bundled.desktop.session import DesktopSession, SessionSettings
from toolcrib.bundled.desktop.tools import offer_profile
from toolcrib.serverkit.server import ToolServer

TERMINAL = Rect(20, 40, 600, 300)
DIALOG = Rect(660, 60, 420, 220)
SHOWN = "Quarterly report\\nInvoice 2041 is well-known\\nGrand total: 731 EUR\\n"


class Sight:
    """Calls tools as a model would, and decodes their pictures."""

    def __init__(self, server: ToolServer, terminal: Window, dialog: Window) -> None:
        self._server = server
        self.terminal = terminal
        self.dialog = dialog

    async def call(self, tool: str, **arguments: Any) -> Any:
        result = await self._server.tools[tool].call(arguments)
        assert not result["isError"], result["content"][0]["text"]
        return result

    async def data(self, tool: str, **arguments: Any) -> Any:
        return (await self.call(tool, **arguments))["structuredContent"]

    async def refused(self, tool: str, **arguments: Any) -> str:
        result = await self._server.tools[tool].call(arguments)
        assert result["isError"], result
        return str(result["content"][0]["text"])

    async def picture(self, tool: str, **arguments: Any) -> tuple[Any, numpy.ndarray]:
        result = await self.call(tool, **arguments)
        image = next(block for block in result["content"] if block["type"] == "image")
        data = numpy.frombuffer(base64.b64decode(image["data"]), numpy.uint8)
        decoded = cv2.imdecode(data, cv2.IMREAD_COLOR)
        assert decoded is not None
        return result["structuredContent"], decoded


@pytest.fixture
def shown(programs: Programs) -> list[subprocess.Popen[bytes]]:
    """A terminal, which offers no elements, and a dialog, which does."""
    script = f"printf '{SHOWN}'; sleep 600"
    return [
        programs.start(
            "xterm", "-fa", "DejaVu Sans Mono", "-fs", "10", "-T", "ledger", "-e", "sh", "-c", script
        ),
        programs.start("zenity", "--question", "--title=Choice", "--text=Delete the old draft?"),
    ]


@pytest.fixture
def two_monitors(display: HeadlessDisplay, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The screen in two halves, each a display."""
    monkeypatch.setenv("XAUTHORITY", display.target.environment["XAUTHORITY"])
    connection = xcffib.connect(display.target.display)
    root = connection.get_setup().roots[0].root
    randr = connection(xcffib.randr.key)
    names = [
        connection.core.InternAtom(False, len(name), name).reply().atom
        for name in ("left half", "right half")
    ]
    for number, name in enumerate(names):
        half = xcffib.randr.MonitorInfo.synthetic(name, 0, 0, 0, 640 * number, 0, 640, 800, 170, 210, [])
        randr.SetMonitor(root, half, is_checked=True).check()
    yield
    for name in names:
        randr.DeleteMonitor(root, name, is_checked=True).check()
    connection.disconnect()


@pytest.fixture
async def sight(
    backend: Backend, shown: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> Sight:
    session = DesktopSession(SessionSettings())

    async def opened(context: object = None) -> Backend:
        return backend

    monkeypatch.setattr(session, "backend", opened)
    server = ToolServer("desktop", "0")
    offer_profile(server, session, "full")
    terminal, dialog = [await window_of(backend, process) for process in shown]
    terminal = await backend.windows.place(terminal.id, TERMINAL)
    dialog = await backend.windows.place(dialog.id, DIALOG)
    made = Sight(server, terminal, dialog)

    async def is_drawn() -> bool:
        read = await made.data("find_text", text="Grand total", window=terminal.id)
        buttons = await made.data("find_text", text="Yes", window=dialog.id, method="accessibility")
        return bool(read["found"] and buttons["found"])

    await eventually(is_drawn)
    return made


async def test_text_of_a_program_without_elements_is_found_by_ocr(sight: Sight) -> None:
    found = await sight.data("find_text", text="invoice 2041", app_name="xterm")
    assert found["searched"] == ["accessibility", "ocr"]
    [match] = found["matches"]
    assert (match["source"], match["element"], match["window"]) == ("ocr", None, sight.terminal.id)
    assert match["confidence"] > 0.6
    rect = sight.terminal.rect
    assert rect.x < match["x"] < rect.x + 130
    assert rect.y + 12 < match["y"] < rect.y + 40, "the second line"
    assert (await sight.data("find_text", text="WELL KNOWN", window="ledger"))["count"] == 1
    assert (await sight.data("find_text", text="Invoice", window="ledger", match_mode="exact"))["count"] == 1
    assert not (await sight.data("find_text", text="nvoice", window="ledger", match_mode="exact"))["found"]
    below = {"x": 0, "y": 28, "width": 600, "height": 200}
    assert not (await sight.data("find_text", text="Quarterly", window="ledger", region=below))["found"]
    assert (await sight.data("find_text", text="Grand", window="ledger", region=below))["found"]


async def test_text_of_elements_is_found_at_their_exact_place(sight: Sight) -> None:
    found = await sight.data("find_text", text="yes", app_name="zenity", match_mode="exact")
    assert found["searched"] == ["accessibility"]
    [match] = found["matches"]
    elements = await sight.data("find_elements", parent="zenity", selector={"role": "button", "text": "Yes"})
    assert match["bounds"] == elements["elements"][0]["bounds"]
    assert match["confidence"] == 1
    _, pixels = await sight.picture("capture_element_screenshot", element_id=match["element"], padding=2)
    bounds = match["bounds"]
    assert pixels.shape[:2] == (bounds["height"] + 4, bounds["width"] + 4)
    both = await sight.data("find_text", text="old draft", app_name="zenity", method="both")
    assert both["searched"] == ["accessibility", "ocr"]
    assert [each["source"] for each in both["matches"]] == ["accessibility"], "the same place twice"
    seen = await sight.data("find_text", text="old draft", app_name="zenity", method="ocr")
    label, read = both["matches"][0]["bounds"], seen["matches"][0]
    assert label["x"] < read["x"] < label["x"] + label["width"]
    assert label["y"] < read["y"] < label["y"] + label["height"]


async def test_a_covered_match_says_so_and_a_visible_one_comes_first(sight: Sight, backend: Backend) -> None:
    await backend.windows.place(sight.terminal.id, Rect(640, 40, 600, 300))
    await backend.windows.focus(sight.terminal.id)
    everywhere = await sight.data("find_text", text="Yes")
    assert all(match["covered"] for match in everywhere["matches"])
    inside = await sight.data("find_text", text="Yes", window=sight.dialog.id)
    assert inside["matches"][0]["covered"]
    await backend.windows.focus(sight.dialog.id)
    assert not (await sight.data("find_text", text="Yes"))["matches"][0]["covered"]


async def test_an_image_is_found_in_a_covered_window_and_in_scaled_screenshots(
    sight: Sight, backend: Backend
) -> None:
    await backend.windows.place(sight.terminal.id, Rect(640, 40, 600, 300))
    await backend.windows.focus(sight.terminal.id)
    button = (await sight.data("find_text", text="Yes", window=sight.dialog.id))["matches"][0]["bounds"]
    data, window = await sight.picture("capture_window_screenshot", window=sight.dialog.id)
    left, top = button["x"] - data["origin"]["x"], button["y"] - data["origin"]["y"]
    icon = window[top : top + button["height"], left : left + button["width"]]
    assert not (await sight.data("find_image", template_image_base64=_encoded(icon)))["found"], (
        "it is covered"
    )
    found = await sight.data("find_image", template_image_base64=_encoded(icon), window=sight.dialog.id)
    assert found["matches"][0]["bounds"] == button
    assert found["matches"][0]["covered"]
    assert found["matches"][0]["confidence"] > 0.99
    await backend.windows.focus(sight.dialog.id)
    half, small = await sight.picture("take_screenshot", longest_side=640, format="png")
    x, y = round(button["x"] * half["scale"]), round(button["y"] * half["scale"])
    part = small[y : y + button["height"] // 2, x : x + button["width"] // 2]
    for hint in ({}, {"screenshot": half["screenshot"]}):
        again = await sight.data("find_image", template_image_base64=_encoded(part, ".jpg"), **hint)
        assert abs(again["matches"][0]["x"] - button["x"] - button["width"] / 2) <= 3
        assert again["matches"][0]["scale"] == 0.5


async def test_bad_searches_are_refused_with_the_reason(sight: Sight) -> None:
    noise = numpy.random.default_rng(1).integers(0, 255, (900, 900, 3), numpy.uint8)
    assert "more than the place" in await sight.refused("find_image", template_image_base64=_encoded(noise))
    missing = await sight.data("find_image", template_image_base64=_encoded(noise[:40, :40]))
    assert missing == {"found": False, "count": 0, "space": "screen", "matches": []}
    assert "base64" in await sight.refused("find_image", template_image_base64="?")
    assert "not between" in await sight.refused("find_image", template_image_base64="", threshold=0)
    assert "1 to 1000 characters" in await sight.refused("find_text", text=" - ")
    assert "No application" in await sight.refused("find_text", text="x", app_name="no such program")
    wrong = await sight.refused("find_text", text="x", method="ocr", language="xyz")
    assert "tesseract-ocr-xyz" in wrong
    assert "jpeg, png, tiff" in await sight.refused("capture_screenshot", format="gif")
    assert "There is no display 7" in await sight.refused("capture_screenshot", display=7)
    assert "needs a region" in await sight.refused("take_screenshot", mode="region")
    empty = {"x": 1, "y": 1, "width": 0, "height": 5}
    assert "is empty" in await sight.refused("capture_region_screenshot", region=empty)
    assert "s99e1" in await sight.refused("capture_element_screenshot", element_id="s99e1")


async def test_each_way_to_take_a_screenshot_shows_the_same_pixels(sight: Sight) -> None:
    screen, pixels = await sight.picture("capture_screenshot", display=0)
    assert (screen["width"], screen["height"], screen["scale"]) == (1280, 800, 1)
    whole = sight.terminal.rect
    expected = pixels[whole.y : whole.y + whole.height, whole.x : whole.x + whole.width]
    name = f"applications/{sight.terminal.application}/windows/{sight.terminal.id}"
    inside = {"x": 0, "y": 0, "width": whole.width, "height": whole.height}
    in_window = {**inside, "space": "window", "reference": str(sight.terminal.id)}
    on_screen = {**inside, "x": float(whole.x), "y": float(whole.y)}
    shots = [
        await sight.picture("capture_window_screenshot", window=name, format="IMAGE_FORMAT_PNG"),
        await sight.picture("capture_window_screenshot", window=name, format="tiff", include_shadow=True),
        await sight.picture("capture_region_screenshot", region=on_screen, display=0),
        await sight.picture("capture_region_screenshot", region=in_window),
        await sight.picture("take_screenshot", mode="window", app_name="xterm", format="png"),
        await sight.picture("take_screenshot", mode="region", region=on_screen, format="png"),
        await sight.picture("take_screenshot", app_name="xterm", region=inside, format="PNG"),
    ]
    for data, shot in shots:
        assert data["origin"] == {"x": whole.x, "y": whole.y}
        assert data["region"] == {"x": whole.x, "y": whole.y, "width": whole.width, "height": whole.height}
        assert numpy.array_equal(shot, expected)
    assert [data["format"] for data, _ in shots[:2]] == ["png", "tiff"]
    fine = await sight.call("take_screenshot", mode="screen", quality=95)
    coarse = await sight.call("take_screenshot", mode="screen", quality=10)
    assert len(fine["content"][0]["data"]) > 2 * len(coarse["content"][0]["data"])


@pytest.mark.usefixtures("two_monitors")
async def test_one_of_several_displays_is_captured_with_its_origin(sight: Sight, backend: Backend) -> None:
    displays = {each.name: each.id for each in await backend.displays.list()}
    for name, x in (("left half", 0), ("right half", 640)):

        async def is_its_part(name: str = name, x: int = x) -> bool:
            """Cursors blink, and windows are placed anew for new displays."""
            _, whole = await sight.picture("capture_screenshot")
            data, pixels = await sight.picture("capture_screenshot", display=displays[name])
            assert data["origin"] == {"x": x, "y": 0}
            return bool(numpy.array_equal(pixels, whole[:, x : x + 640]))

        await eventually(is_its_part)
        shot = await sight.data("take_screenshot", mode="screen", display=displays[name], longest_side=400)
        assert (shot["scale"], shot["width"], shot["height"]) == (0.5, 320, 400)
    across = {"x": 600, "y": 100, "width": 100, "height": 50}
    part = await sight.data("capture_region_screenshot", region=across, display=displays["right half"])
    assert part["region"] == {"x": 640, "y": 100, "width": 60, "height": 50}


async def test_a_screenshot_with_ocr_has_each_line_with_its_place(sight: Sight) -> None:
    result = await sight.call("take_screenshot", mode="window", app_name="xterm", include_ocr=True)
    data = result["structuredContent"]
    assert data["ocr_text"].splitlines()[0] == "Quarterly report"
    line = next(each for each in data["ocr_lines"] if "total" in each["text"])
    assert f"@ {line['x']},{line['y']}" in result["content"][1]["text"]
    assert sight.terminal.rect.x < line["x"] < sight.terminal.rect.x + 200
    plain = await sight.data("capture_window_screenshot", window="ledger")
    assert plain["ocr_text"] is None
    read = await sight.data("capture_window_screenshot", window="ledger", include_ocr_text=True, quality=0)
    assert "Grand total: 731 EUR" in read["ocr_text"]
    unread = await sight.call("take_screenshot", window="ledger", include_ocr=True, language="tlh")
    assert unread["structuredContent"]["ocr_text"] is None
    assert "tesseract-ocr-tlh" in unread["content"][1]["text"], "the picture comes all the same"


async def test_text_of_another_window_of_the_application_is_left_out(
    sight: Sight, backend: Backend, programs: Programs
) -> None:
    process = programs.start("mousepad")
    first = await window_of(backend, process)
    await backend.windows.place(first.id, Rect(40, 420, 400, 300))
    await backend.windows.focus(first.id)
    await backend.input.press("ctrl+shift+n", first.id)

    async def another() -> Window | None:
        listed = await backend.windows.list()
        return next(
            (each for each in listed if each.application == process.pid and each.id != first.id), None
        )

    second = await eventually(another)
    assert second is not None
    await backend.windows.place(second.id, Rect(700, 420, 400, 300))

    async def places() -> Any:
        found = await sight.data("find_text", text="Document", app_name=str(process.pid))
        return found["matches"] if len({match["window"] for match in found["matches"]}) == 2 else None

    await eventually(places)
    for window in (first, second):
        found = await sight.data("find_text", text="Document", window=window.id)
        assert {match["window"] for match in found["matches"]} == {window.id}
    await backend.windows.minimise(second.id)
    left = await sight.data("find_text", text="Document", app_name=str(process.pid))
    assert {match["window"] for match in left["matches"]} == {first.id}


@pytest.mark.acceptance
async def test_at_least_98_percent_of_the_words_at_10_points_are_read(
    sight: Sight, backend: Backend, programs: Programs, tmp_path: Path
) -> None:
    lines = [
        "The quick brown fox jumps over the lazy dog while seven wizards judge",
        "Please confirm your order before Friday and keep the receipt for us",
        "Every window can be moved resized or closed without losing changes",
        "Choose a language for the interface then restart the program twice",
    ] * 4
    (tmp_path / "page.txt").write_text("\n".join(lines))
    command = ["zenity", "--text-info", f"--filename={tmp_path}/page.txt", "--font=DejaVu Sans 10"]
    window = await window_of(backend, programs.start(*command))
    await backend.windows.place(window.id, Rect(40, 300, 640, 480))

    async def read() -> list[str]:
        data = await sight.data("capture_window_screenshot", window=window.id, include_ocr_text=True)
        words: list[str] = data["ocr_text"].split()
        return words if len(words) >= 0.95 * wanted.total() else []

    wanted = Counter(" ".join(lines).split())
    seen: Counter[str] = Counter(await eventually(read))
    assert sum(min(count, seen[word]) for word, count in wanted.items()) >= 0.98 * wanted.total()


async def test_text_inside_an_editor_is_found_where_it_is_written(
    sight: Sight, backend: Backend, programs: Programs, tmp_path: Path
) -> None:
    note = tmp_path / "note.txt"
    note.write_text("\n".join([*("filler line",) * 6, "please cancel the subscription", "end"]))
    window = await window_of(backend, programs.start("mousepad", str(note)))
    await backend.windows.place(window.id, Rect(100, 380, 600, 360))

    async def located() -> Any:
        found = await sight.data("find_text", text="cancel the", window=window.id)
        return found if found["found"] and found["matches"][0]["confidence"] == 1 else None

    [match] = (await eventually(located))["matches"]
    assert match["element"], "the editor"
    assert match["source"] == "accessibility"
    assert match["bounds"]["height"] < 30
    above = await sight.data("find_text", text="end", window=window.id, match_mode="exact", method="ocr")
    assert match["y"] < above["matches"][0]["y"] < match["y"] + 40


def _encoded(pixels: numpy.ndarray, suffix: str = ".png") -> str:
    return base64.b64encode(cv2.imencode(suffix, pixels)[1].tobytes()).decode()
