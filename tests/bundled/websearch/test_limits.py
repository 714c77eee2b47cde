"""Documents made to exhaust a parser end with a clear error, while the server goes on."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.bundled.websearch.website import Answer, Website
from toolcrib.bundled.websearch.extraction import workers
from toolcrib.bundled.websearch.extraction.document import WebDocument
from toolcrib.bundled.websearch.extraction.workers import ExtractionWorkers
from toolcrib.serverkit.context import ToolFailure

PROSE = "The old bridge was closed on Monday after an inspection found cracks in two of its piers. "
GOOD = f"<html><body><article><h1>Good</h1><p>{PROSE * 4}</p></article></body></html>".encode()
URL = "http://x.test/"


@pytest.fixture
async def pool() -> AsyncIterator[ExtractionWorkers]:
    made = ExtractionWorkers()
    yield made
    made.close()


async def test_200_000_nested_elements_end_with_a_clear_error(web: Any, website: Website) -> None:
    url = website.put("/deep", b"<html><body>" + b"<div>" * 200_000 + b"text" + b"</div>" * 200_000)
    assert "nested too deeply" in await web.refused("read_website", url=url)
    assert "# Good" in (await web.read(website.put("/good", GOOD)))["text"]


@pytest.mark.acceptance
async def test_50_megabytes_in_one_line_end_with_a_clear_error(open_web: Any, website: Website) -> None:
    url = website.put("/line", b"<html><body><p>" + b"x" * 50_000_000)
    async with open_web("--max-bytes", "60000000") as web:
        assert "too long" in await web.refused("read_website", url=url)
    async with open_web() as web:
        assert "more than 10,000,000 bytes" in await web.refused("read_website", url=url)


async def test_a_page_that_is_partly_readable_says_what_is_missing(web: Any, website: Website) -> None:
    url = website.put("/deep", GOOD.removesuffix(b"</body></html>") + b"<div>" * 5_000 + b"text")
    found = await web.read(url)
    assert "# Good" in found["text"]
    assert "nested too deeply" in found["note"]


@pytest.mark.acceptance
async def test_a_document_that_takes_all_processor_time_ends_its_process_only(
    pool: ExtractionWorkers,
) -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.05)
            ticks += 1

    ticking = asyncio.create_task(tick())
    attributes = b" ".join(b"a%d=1" % number for number in range(500_000))
    with pytest.raises(ToolFailure, match="too large or too complex"):
        await pool.extract(WebDocument(b"<p " + attributes + b">text</p>", URL))
    ticking.cancel()
    assert ticks > 100
    assert (await pool.extract(WebDocument(GOOD, URL))).text.startswith("# Good")


async def test_a_document_past_the_deadline_ends_its_process(
    pool: ExtractionWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "DEADLINE", 0.01)
    with pytest.raises(ToolFailure, match="too large or too complex"):
        await pool.extract(WebDocument(GOOD, URL))
    monkeypatch.setattr(workers, "DEADLINE", 60.0)
    assert (await pool.extract(WebDocument(GOOD, URL))).text.startswith("# Good")


async def test_a_process_that_dies_is_replaced(pool: ExtractionWorkers) -> None:
    await pool.extract(WebDocument(GOOD, URL))
    (worker,) = pool._idle
    os.kill(worker.process.pid, 9)
    worker.process.wait(60)
    assert (await pool.extract(WebDocument(GOOD, URL))).text.startswith("# Good")


async def test_one_process_reads_many_documents_and_cancelling_ends_it(pool: ExtractionWorkers) -> None:
    await pool.extract(WebDocument(GOOD, URL))
    (first,) = pool._idle
    await pool.extract(WebDocument(GOOD, URL))
    assert pool._idle == [first]

    reading = asyncio.create_task(pool.extract(WebDocument(GOOD * 300, URL)))
    await asyncio.sleep(0)  # it takes the process, and waits for its answer
    assert pool._idle == []
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert first.process.returncode == -9
    assert pool._idle == []


async def test_zip_bombs_in_the_transfer_are_refused(web: Any, website: Website) -> None:
    import gzip

    body = gzip.compress(b"<p>" + b"0" * 20_000_000)
    url = website.put("/bomb", Answer(body, headers={"Content-Encoding": "gzip"}))
    assert "more than 10,000,000 bytes" in await web.refused("read_website", url=url)
