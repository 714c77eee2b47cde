"""The page answers at once, however much there is: no task of its own takes longer than 200 ms."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest

from tests.web.browsing import DEADLINE_MS, WIDE, browsing, sign_in
from tests.web.large import fill
from tests.web.running import Crib
from tests.web.tour import walk

LIMIT_MS = 200
SETTLE_MS = 500
_WATCH = """
  window.longTasks = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.longTasks.push(entry.duration);
  }).observe({ type: "longtask", buffered: true });
"""

pytestmark = pytest.mark.soak


def test_no_task_takes_long_with_fifty_servers_two_thousand_tools_a_long_chat_and_a_long_log() -> None:
    home = Path(tempfile.mkdtemp(prefix="tc-"))
    crib = Crib(home)
    longest: dict[str, float] = {}
    try:
        chat = fill(crib)
        with browsing() as browser:
            context = browser.new_context(viewport=WIDE)
            context.set_default_timeout(DEADLINE_MS)
            context.add_init_script(_WATCH)
            page = sign_in(context.new_page(), crib.sign_in_address())
            for step in walk(page, crib.base, chat):
                page.wait_for_timeout(SETTLE_MS)
                longest[step] = max(page.evaluate("window.longTasks.splice(0)"), default=0.0)
                print(f"{step:20} {longest[step]:5.0f} ms")
    finally:
        crib.stop()
        shutil.rmtree(home, ignore_errors=True)

    assert {step: ms for step, ms in longest.items() if ms > LIMIT_MS} == {}
