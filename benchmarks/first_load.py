"""How many seconds the first visit to a page takes on a slow line, with an empty cache.

    python -m benchmarks.first_load [--rounds N] [--json]

The browser lets 500 kbit/s through and holds each answer back for 400 ms. A page counts as loaded once
it can be used: the field of a chat, the steps of a workflow. It needs the packages of the tests and Chromium.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser

from tests.web.browsing import DEADLINE_MS, WIDE, browsing, sign_in
from tests.web.running import Crib
from tests.web.test_first_load import PAGES, First
from tests.web.traffic import Traffic
from tests.web.workflows import mapped

LATENCY_MS = 400
BYTES_PER_SECOND = 62_500


def visit(browser: Browser, crib: Crib, first: First) -> tuple[float, int]:
    """Seconds and bytes until the page is usable."""
    context = browser.new_context(viewport=WIDE, reduced_motion="reduce")
    page = sign_in(context.new_page(), crib.sign_in_address(), "/nowhere")
    page.goto("about:blank")
    traffic = Traffic(page)
    traffic.slow_down(LATENCY_MS, BYTES_PER_SECOND)
    began = time.perf_counter()
    page.goto(f"{crib.base}{first.path}", wait_until="commit")
    first.found_in(page).wait_for(timeout=DEADLINE_MS)
    taken = time.perf_counter() - began, traffic.bytes()
    context.close()
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tc-") as home, browsing() as browser:
        crib = Crib(Path(home)).setting(agent={"model": "demo"})
        crib.start()
        try:
            crib.run("servers", wait=30)
            crib.run("workflow_save", workflow=mapped("bills"), expected_version=None)
            taken = {
                first.path: [visit(browser, crib, first) for _ in range(options.rounds)] for first in PAGES
            }
        finally:
            crib.stop()
    results = {
        path: {"seconds": statistics.median(s for s, _ in each), "bytes": max(b for _, b in each)}
        for path, each in taken.items()
    }
    if options.json:
        return print(json.dumps(results, indent=2))
    for path, one in results.items():
        print(f"{path:20}{one['seconds']:8.2f} s{one['bytes'] / 1000:8.0f} kB")
    return None


if __name__ == "__main__":
    main()
