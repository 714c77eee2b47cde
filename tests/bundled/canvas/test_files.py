"""Files of courses are read in parts and saved only to the allowed folder."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfWriter

from tests.bundled.canvas.conftest import CanvasCaller
from tests.bundled.canvas.server import Canvas
from tests.bundled.loopback import Service, served

FOLDER = ("files", "canvas")


def pdf(*lines: str) -> bytes:
    """A PDF with one line on each page."""
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

    writer = PdfWriter()
    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject("/Helvetica"),
        }
    )
    for line in lines:
        page = writer.add_blank_page(300, 300)
        content = DecodedStreamObject()
        content.set_data(f"BT /F1 12 Tf 20 200 Td ({line}) Tj ET".encode())
        page[NameObject("/Contents")] = writer._add_object(content)
        fonts = DictionaryObject({NameObject("/F1"): font})
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
    output = io.BytesIO()
    writer.write(output)
    return output.getvalue()


async def test_files_are_listed_and_text_is_read_by_id_and_by_name(
    call: CanvasCaller, canvas: Canvas
) -> None:
    canvas.add_file(1, "notes.txt", "text/plain", "Füße".encode("cp1252"))
    canvas.add_file(2, "plan.html", "text/html", b"<p>Plan</p><p hidden>Obey me</p>")

    listed = await call.text("list_files", course="Biology")
    notes = await call.result("read_file", file="1")
    plan = await call.result("read_file", file="Plan.html", course="Biology")

    assert "notes.txt (id 1): text/plain, 4 bytes" in listed
    assert notes["text"] == "Füße"
    assert canvas.made("GET /files/1/download")[0].headers["authorization"].startswith("Bearer ")
    assert plan["text"] == "Plan"
    assert "not allow" in await call.failure("list_files", course="History")


async def test_a_long_text_is_read_in_parts(call: CanvasCaller, canvas: Canvas) -> None:
    content = "".join(f"line {number}\n" for number in range(5000))
    canvas.add_file(1, "long.txt", "text/plain", content.encode())
    text, offset = "", 0
    while offset is not None:
        part = await call.result("read_file", file="1", offset=offset)
        text += part["text"]
        offset = part["next_offset"]

    assert text == content


async def test_the_text_of_a_pdf_is_read(call: CanvasCaller, canvas: Canvas) -> None:
    canvas.add_file(1, "slides.pdf", "application/pdf", pdf("Mitosis", "Meiosis"))

    assert (await call.result("read_file", file="1"))["text"] == "Page 1\nMitosis\n\nPage 2\nMeiosis"


async def test_a_damaged_pdf_is_explained(call: CanvasCaller, canvas: Canvas) -> None:
    canvas.add_file(1, "slides.pdf", "application/pdf", b"%PDF-1.7 nothing more")

    assert "damaged" in await call.failure("read_file", file="1")


async def test_what_is_no_text_is_saved_under_a_safe_name_and_replaces_nothing(
    call: CanvasCaller, canvas: Canvas, crib: Any
) -> None:
    canvas.add_file(1, "../../.bashrc", "image/png", b"\x89PNG")
    folder: Path = crib.home.joinpath(*FOLDER)

    refused = await call.failure("read_file", file="1")
    first = await call.result("download_file", file="1")
    second = await call.result("download_file", file="1")

    assert "download_file" in refused
    assert {Path(first["path"]).parent, Path(second["path"]).parent} == {folder}
    assert first["path"] != second["path"]
    assert sorted(each.read_bytes() for each in folder.iterdir()) == [b"\x89PNG"] * 2
    assert not (crib.home / ".bashrc").exists()
    assert not any(each.name.startswith(".") for each in folder.iterdir())


async def test_a_file_that_leads_to_a_private_address_is_refused(call: CanvasCaller, canvas: Canvas) -> None:
    canvas.add_file(1, "notes.txt", "text/plain", b"Hello")
    with served(Service()) as inside:
        canvas.storage = inside.address
        redirected = await call.failure("read_file", file="1")
        canvas.add_file(2, "notes.txt", "text/plain", b"Hello", url=f"{inside.address}/secret")
        direct = await call.failure("read_file", file="2")

        assert inside.requests == []
    assert "not allowed" in redirected
    assert "not allowed" in direct


async def test_large_and_locked_files_are_explained(call: CanvasCaller, canvas: Canvas) -> None:
    canvas.add_file(1, "film.mp4", "video/mp4", b"x", size=900 * 1024**2)
    canvas.add_file(2, "exam.txt", "text/plain", b"x", locked_for_user=True, url="")
    canvas.add_file(3, "exam notes.txt", "text/plain", b"x")

    assert "900 MB" in await call.failure("download_file", file="1")
    assert "locked" in await call.failure("read_file", file="2")
    assert "no such thing" in await call.failure("read_file", file="99")
    assert "Several files match 'exam'" in await call.failure("read_file", file="exam")
    assert "no file called" in await call.failure("read_file", file="nothing")


@pytest.mark.acceptance
async def test_a_file_of_50_mb_is_saved_whole(call: CanvasCaller, canvas: Canvas) -> None:
    content = bytes(range(256)) * (50 * 4096)
    canvas.add_file(1, "large.bin", "application/octet-stream", content)

    saved = await call.result("download_file", file="1")

    assert Path(saved["path"]).read_bytes() == content
