"""The clipboard's tools: every type of content, and the history of what other programs copied."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.bundled.desktop.conftest import Programs, eventually
from tests.bundled.desktop.full_tools import FullTools
from tests.bundled.desktop.test_clipboard import xclip
from toolcrib.bundled.desktop.clipboard_content import (
    LARGEST_ENTRY,
    LARGEST_TOTAL,
    SECRET_HINT,
    TEXT,
    ClipboardHistory,
)

PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 1000
ENCODED = base64.b64encode(PICTURE).decode()


@pytest.mark.parametrize(
    ("content", "target", "expected"),
    [
        ({"type": "text", "text": "Žluť 日本"}, "UTF8_STRING", "Žluť 日本".encode()),
        ({"type": "CONTENT_TYPE_HTML", "html": "<b>x</b>"}, "text/html", b"<b>x</b>"),
        ({"rtf": base64.b64encode(b"{\\rtf1 x}").decode()}, "text/rtf", b"{\\rtf1 x}"),
        ({"type": "image", "image": ENCODED}, "image/png", PICTURE),
        ({"files": {"paths": ["/tmp/a b.txt"]}}, "text/uri-list", b"file:///tmp/a%20b.txt\r\n"),
        ({"type": "url", "url": "https://example.org/"}, "text/uri-list", b"https://example.org/\r\n"),
    ],
)
async def test_other_programs_get_each_type_of_content(
    full: FullTools, programs: Programs, content: dict[str, Any], target: str, expected: bytes
) -> None:
    written = await full.data("write_clipboard", content=content)
    assert written["success"]
    assert written["type"] == next(each for each in content if each != "type")
    assert await xclip(programs, "-o", "-t", target) == expected


async def test_contents_of_the_wrong_form_are_refused(full: FullTools) -> None:
    wrong = [
        ({"type": "text", "html": "x"}, "EMPTY_FIELD"),
        ({"type": "text"}, "EMPTY_FIELD"),
        ({"text": "x", "html": "x"}, "EMPTY_FIELD"),
        ({"type": "music", "text": "x"}, "INVALID_FORMAT"),
        ({"image": "not base64!"}, "INVALID_FORMAT"),
        ({"image": base64.b64encode(b"GIF89a").decode()}, "INVALID_FORMAT"),
        ({"files": {"paths": ["relative"]}}, "INVALID_FORMAT"),
    ]
    for content, reason in wrong:
        assert await full.reason("write_clipboard", content=content) == reason, content
    assert await full.reason("write_clipboard") == "EMPTY_FIELD"
    assert await full.reason("get_clipboard", name="pasteboard") == "INVALID_RESOURCE_NAME"


async def test_a_format_is_added_or_everything_is_cleared(full: FullTools, programs: Programs) -> None:
    await full.data("write_clipboard", text="plain")
    both = await full.data("write_clipboard", html="<i>plain</i>", clear_existing=False)
    assert set(both["available"]) == {TEXT, "text/html"}
    assert await xclip(programs, "-o", "-t", "UTF8_STRING") == b"plain"
    assert (await full.data("clear_clipboard"))["success"]
    assert (await full.data("get_clipboard"))["type"] is None


async def test_the_history_has_what_was_copied_and_no_passwords(full: FullTools, programs: Programs) -> None:
    await full.data("get_clipboard_history")
    long = "Ünïcode 🚀 " * 400_000
    await xclip(programs, "-i", given=b"from another program")
    await kept(full, 1)
    await full.data("write_clipboard", image_base64=ENCODED)
    await kept(full, 2)
    await full.data("write_clipboard", text="hunter2 in a manager")
    await kept(full, 3)
    await xclip(programs, "-i", given=long.encode())
    entries = await kept(full, 4)
    assert [each["content"]["type"] for each in entries] == ["text", "text", "image", "text"]
    assert entries[0]["size"] == len(long.encode())
    assert entries[0]["content"]["text"] == long[:200]
    assert entries[0]["more"] == len(long) - 200
    assert entries[3]["content"]["text"] == "from another program"
    assert entries[3]["source_application"].startswith("applications/")
    whole = await full.result("get_clipboard_history", entry=2)
    assert base64.b64decode(whole["content"][0]["data"]) == PICTURE
    assert await full.reason("get_clipboard_history", entry=99) == "OUT_OF_RANGE"
    page = await full.data("get_clipboard_history", page_size=3)
    rest = await full.data("get_clipboard_history", page_size=3, page_token=page["next_page_token"])
    assert rest["entries"] == [entries[3]]


async def test_what_a_password_manager_copies_is_neither_kept_nor_shown(full: FullTools) -> None:
    await full.data("get_clipboard_history")
    await full.backend.clipboard.write({TEXT: b"correct horse", SECRET_HINT: b"secret"})
    shown = await full.result("get_clipboard")
    assert shown["isError"]
    assert "horse" not in str(shown)
    await full.data("write_clipboard", text="after it")
    assert [each["content"]["text"] for each in await kept(full, 1)] == ["after it"]


async def test_a_password_of_another_program_is_recognised(full: FullTools, programs: Programs) -> None:
    """xclip offers one format, so the program that holds the hint is a second server of ours."""
    other = FullTools(await open_other(programs))
    await full.data("get_clipboard_history")
    await other.backend.clipboard.write({TEXT: b"correct horse", SECRET_HINT: b"secret"})

    async def is_refused() -> bool:
        return bool((await full.result("get_clipboard"))["isError"])

    await eventually(is_refused)
    assert (await full.data("get_clipboard_history"))["entries"] == []
    await other.backend.clipboard.write({})
    other.backend.close()


async def open_other(programs: Programs) -> Any:
    from toolcrib.bundled.desktop.backends.x11 import open_backend

    return await open_backend(programs.target)


async def test_the_history_keeps_to_its_limits() -> None:
    from toolcrib.bundled.desktop.backend import ClipboardContent

    history = ClipboardHistory()
    history._add(ClipboardContent(TEXT, bytes(LARGEST_ENTRY + 1)), None)
    assert (history.entries[0].content, history.entries[0].size) == (None, LARGEST_ENTRY + 1)
    for number in range(200):
        history._add(ClipboardContent(TEXT, number.to_bytes(4) * (LARGEST_ENTRY // 8)), 7)
    held = [each.content for each in history.entries if each.content is not None]
    assert sum(len(each.data) for each in held) <= LARGEST_TOTAL
    assert held[0].data[:4] == (199).to_bytes(4)
    for number in range(200):
        history._add(ClipboardContent(TEXT, str(number).encode()), None)
    assert len(history.entries) == 50


async def kept(full: FullTools, count: int) -> list[dict[str, Any]]:
    """The history once it has so many entries."""

    async def look() -> Any:
        entries = (await full.data("get_clipboard_history"))["entries"]
        return entries if len(entries) >= count else None

    found: list[dict[str, Any]] = await eventually(look)
    assert len(found) == count
    return found
