"""Input waits for a page that was seen only just now: Chromium drops what comes before it has painted."""

from __future__ import annotations

import dataclasses
import os

import pytest

from toolcrib.bundled.desktop.backend import Element, ElementTree
from toolcrib.bundled.desktop.elements.web_pages import FIRST_PAINT, MAX_BROWSERS, LoadedPages

BROWSER = 7


class Clock:
    def __init__(self) -> None:
        self.time = 100.0
        self.slept = 0.0

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.slept += seconds
        self.time += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    monkeypatch.setattr(os, "getloadavg", lambda: (0.0, 0.0, 0.0))
    return Clock()


@pytest.fixture
def pages(clock: Clock) -> LoadedPages:
    return LoadedPages(now=clock.now, sleep=clock.sleep)


def page(number: int, *states: str) -> Element:
    return Element(("browser", str(number)), None, "document web", "Page", states=frozenset(states))


def tree(*elements: Element) -> ElementTree:
    return ElementTree(BROWSER, elements)


async def test_a_page_that_was_just_seen_gets_input_only_after_it_was_painted(
    pages: LoadedPages, clock: Clock
) -> None:
    pages.note(tree(page(1)))
    clock.time += 0.2
    pages.note(tree(page(1)))
    await pages.accept_input(BROWSER)
    assert clock.slept == pytest.approx(FIRST_PAINT - 0.2)
    await pages.accept_input(BROWSER)
    assert clock.slept == pytest.approx(FIRST_PAINT - 0.2)


async def test_the_time_counts_from_the_end_of_loading(pages: LoadedPages, clock: Clock) -> None:
    pages.note(tree(page(1, "busy")))
    clock.time += 5
    pages.note(tree(page(1)))
    await pages.accept_input(BROWSER)
    assert clock.slept == pytest.approx(FIRST_PAINT)


async def test_other_programs_and_known_pages_do_not_wait(pages: LoadedPages, clock: Clock) -> None:
    pages.note(tree(page(1)))
    await pages.accept_input(BROWSER + 1)
    clock.time += 5
    pages.note(dataclasses.replace(tree(), complete=False))
    pages.note(tree(page(1)))
    await pages.accept_input(BROWSER)
    assert clock.slept == 0


async def test_only_the_last_browsers_are_remembered(pages: LoadedPages, clock: Clock) -> None:
    for application in range(MAX_BROWSERS + 1):
        pages.note(ElementTree(application, (page(1),)))
    await pages.accept_input(0)
    assert clock.slept == 0
