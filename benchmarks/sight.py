"""What the desktop server sees: screenshots, text and images, beside RapidOCR with its own settings.

python -m benchmarks.sight [--rounds N] [--json]

Everything runs on a display of its own with windows whose text is known. Wall-clock time is the median, CPU
time the lowest of all rounds: on a busy machine only the CPU time can be compared.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import cv2
import numpy

from toolcrib.bundled.desktop.backend import Backend, Window
from toolcrib.bundled.desktop.backends.x11 import open_backend
from toolcrib.bundled.desktop.geometry import Rect
from toolcrib.bundled.desktop.headless import HeadlessDisplay
from toolcrib.bundled.desktop.session import DesktopSession, SessionSettings
from toolcrib.bundled.desktop.tools import offer_profile
from toolcrib.bundled.desktop.vision.engines.rapid import words_of
from toolcrib.bundled.desktop.vision.engines.tesseract import TesseractEngine
from toolcrib.bundled.desktop.vision.text import OcrWord
from toolcrib.serverkit.server import ToolServer

DEADLINE = 30.0
SENTENCES = """
The quick brown fox jumps over the lazy dog while seven wizards judge my vow
Please confirm your order before Friday and keep the receipt for your records
Every window can be moved resized or closed without losing unsaved changes
Choose a language for the interface then restart the program to apply it
Enter the number of copies and select the printer that should be used
No connection could be made because the server did not answer in time
""".strip().splitlines()
LAYOUT = {
    "text": Rect(20, 40, 640, 480),
    "terminal": Rect(690, 40, 570, 320),
    "question": Rect(700, 420, 420, 220),
}
Step = Callable[[], Awaitable[Any]]


async def measure(rounds: int) -> dict[str, Any]:
    """All numbers, by name."""
    display = await asyncio.to_thread(HeadlessDisplay.start, (1280, 800))
    try:
        backend = await open_backend(display.target)
        with _programs(display) as started:
            windows = {name: await _placed(backend, started[name], rect) for name, rect in LAYOUT.items()}
            return await _all(backend, windows, rounds)
    finally:
        display.close()


async def _all(backend: Backend, windows: dict[str, Window], rounds: int) -> dict[str, Any]:
    server = _server(backend)

    async def call(tool: str, **arguments: Any) -> Any:
        result = await server.tools[tool].call(arguments)
        assert not result["isError"], result["content"][0]["text"]
        return result["structuredContent"]

    button = await _until(lambda: call("find_text", text="Yes", window=windows["question"].id))
    icon = await _icon(backend, button["matches"][0]["bounds"])
    region = {"x": 690, "y": 400, "width": 480, "height": 320}
    steps: dict[str, Step] = {
        "grab of the screen": backend.capture.screen,
        "screenshot as JPEG": lambda: call("take_screenshot"),
        "find_image, screen": lambda: call("find_image", template_image_base64=icon),
        "find_image, 480x320": lambda: call("find_image", template_image_base64=icon, region=region),
        "find_text, elements": lambda: call("find_text", text="Yes", window=windows["question"].id),
    }
    results = {name: await _timed(step, rounds) for name, step in steps.items()}
    pictures = {
        "OCR, window 640x480": (await backend.capture.window(windows["text"].id)).pixels,
        "OCR, screen 1280x800": (await backend.capture.screen()).pixels,
    }
    truth = " ".join(SENTENCES).split()
    for name, pixels in pictures.items():
        for engine, read in _readers().items():
            found = await asyncio.to_thread(read, pixels)
            measured = await _timed(partial(asyncio.to_thread, read, pixels), 3)
            results[f"{name}, {engine}"] = {**measured, "recall": _recall(found, truth)}
    return results


def _readers() -> dict[str, Callable[[numpy.ndarray], list[OcrWord]]]:
    ours = TesseractEngine()
    readers: dict[str, Callable[[numpy.ndarray], list[OcrWord]]] = {
        "tesseract": lambda pixels: list(ours.read(pixels, ["eng"], DEADLINE).words)
    }
    try:
        from rapidocr import RapidOCR
    except ImportError:
        return readers
    theirs = RapidOCR(params={"Global.log_level": "warning"})
    readers["rapidocr"] = lambda pixels: list(words_of(theirs(pixels)))
    return readers


def _recall(found: list[OcrWord], truth: list[str]) -> float:
    seen = Counter(_bare(word.text) for word in found)
    wanted = Counter(map(_bare, truth))
    return sum(min(count, seen[word]) for word, count in wanted.items()) / len(truth)


def _bare(word: str) -> str:
    return re.sub(r"\W", "", word.casefold())


async def _timed(step: Step, rounds: int) -> dict[str, float]:
    await step()
    walls, cpus = [], []
    for _ in range(rounds):
        wall, cpu = time.perf_counter(), time.process_time()
        await step()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return {"wall_ms": statistics.median(walls) * 1e3, "cpu_ms": min(cpus) * 1e3}


def _server(backend: Backend) -> ToolServer:
    session = DesktopSession(SessionSettings())

    async def opened(context: object = None) -> Backend:
        return backend

    session.backend = opened  # type: ignore[method-assign]
    server = ToolServer("desktop", "0")
    offer_profile(server, session, "full")
    return server


@contextmanager
def _programs(display: HeadlessDisplay) -> Iterator[dict[str, subprocess.Popen[bytes]]]:
    folder = Path(tempfile.mkdtemp(prefix="toolcrib-sight-"))
    (folder / "text.txt").write_text("\n".join(SENTENCES))
    commands = {
        "text": ["zenity", "--text-info", "--filename=text.txt", "--font=DejaVu Sans 10", "--title=Text"],
        "terminal": ["xterm", "-fa", "DejaVu Sans Mono", "-fs", "10", "-e", "sh", "-c", "ls -l /; sleep 999"],
        "question": ["zenity", "--question", "--text=Delete the old draft?"],
    }
    environment = {**display.target.environment, "HOME": str(folder)}
    started = {
        name: subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            process_group=display.target.process_group,
        )
        for name, command in commands.items()
    }
    try:
        yield started
    finally:
        for process in started.values():
            process.kill()
            process.wait()
        shutil.rmtree(folder, ignore_errors=True)


async def _placed(backend: Backend, process: subprocess.Popen[bytes], rect: Rect) -> Window:
    async def look() -> Window | None:
        listed = await backend.windows.list()
        return next((each for each in listed if each.application == process.pid), None)

    async with asyncio.timeout(DEADLINE):
        while (window := await look()) is None:  # noqa: ASYNC110 - a new program has no event
            await asyncio.sleep(0.05)
    return await backend.windows.place(window.id, rect)


async def _until(look: Callable[[], Awaitable[Any]]) -> Any:
    async with asyncio.timeout(DEADLINE):
        while not (found := await look())["found"]:  # noqa: ASYNC110 - a new program has no event
            await asyncio.sleep(0.05)
    return found


async def _icon(backend: Backend, bounds: dict[str, int]) -> str:
    part = Rect(bounds["x"] + 8, bounds["y"] + 2, min(48, bounds["width"] - 16), bounds["height"] - 4)
    shot = await backend.capture.screen(part)
    return base64.b64encode(cv2.imencode(".png", shot.pixels)[1].tobytes()).decode()


def table(results: dict[str, Any]) -> str:
    lines = [f"{'':34} {'wall ms':>8} {'CPU ms':>8} {'recall':>7}"]
    for name, each in results.items():
        recall = f"{each['recall']:7.1%}" if "recall" in each else ""
        lines.append(f"{name:34} {each['wall_ms']:8.1f} {each['cpu_ms']:8.1f} {recall}")
    return "\n".join([*lines, f"load {os.getloadavg()[0]:.1f}"])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    results = asyncio.run(measure(options.rounds))
    print(json.dumps(results, indent=2) if options.json else table(results))


if __name__ == "__main__":
    main()
