"""The dashboard that a tool takes a picture of in the chat."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser

_NIGHTS = (23, 25, 24, 27, 26, 18, 17, 24, 25, 26, 25, 27)
_WIDTH, _HEIGHT = 1360, 380


def draw_chart(browser: Browser, file: Path) -> None:
    """Exports per night, of which the last two are missing."""
    file.parent.mkdir(parents=True, exist_ok=True)
    page = browser.new_page(viewport={"width": _WIDTH, "height": _HEIGHT})
    page.set_content(f"<body style='margin:0'>{_picture()}")
    page.screenshot(path=file)
    page.close()


def _picture() -> str:
    bars = "".join(_bar(number, height) for number, height in enumerate(_NIGHTS))
    missing = "".join(_missing(number) for number in (12, 13))
    labels = "".join(_label(number) for number in range(14))
    lines = "".join(f"<path d='M90 {y}H1330' stroke='#ececea'/>" for y in (120, 190, 260))
    title = "<text x='34' y='40' font-size='24' font-weight='600'>Exports per night</text>"
    dates = "<text x='1330' y='40' font-size='20' fill='#65675f' text-anchor='end'>1–14 Nov</text>"
    head = "<rect width='1360' height='62' fill='#f5f6f2'/><path d='M0 62H1360' stroke='#ddd'/>"
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{_WIDTH}' height='{_HEIGHT}'"
        f" font-family='sans-serif'>{head}{title}{dates}{lines}{bars}{missing}"
        f"<path d='M90 330H1330' stroke='#999'/>{labels}</svg>"
    )


def _bar(number: int, height: int) -> str:
    at, tall = 110 + number * 88, height * 7
    return f"<rect x='{at}' y='{330 - tall}' width='56' height='{tall}' fill='#3f6fb5'/>"


def _missing(number: int) -> str:
    at = 110 + number * 88
    return (
        f"<rect x='{at}' y='280' width='56' height='50' fill='none' stroke='#c23b33' stroke-dasharray='7 5'/>"
    )


def _label(number: int) -> str:
    colour = "#c23b33" if number > 11 else "#65675f"
    return (
        f"<text x='{138 + number * 88}' y='358' font-size='18' fill='{colour}' text-anchor='middle'>"
        f"{number + 1}</text>"
    )
