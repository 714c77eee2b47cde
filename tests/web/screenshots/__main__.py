"""`python -m tests.web.screenshots`: every page, wide and narrow, light and dark, of a real crib."""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page

from tests.web.browsing import NARROW, ROOT, WIDE, sign_in
from tests.web.running import Crib
from tests.web.screenshots.browser import photographer
from tests.web.screenshots.chart import draw_chart
from tests.web.screenshots.person import Person
from tests.web.screenshots.story import Shown, story
from tests.web.screenshots.views import PATIENCE, VIEWS, WELCOME, View

FOLDER = ROOT / ".cache" / "screenshots"
TALL = 1560
SIZES = {"1440": WIDE, "390": NARROW}
THEMES = ("light", "dark")
KEPT = ROOT / "docs" / "pictures"
IN_README = ("servers", "chat")
SETTLE = 700
"""Milliseconds for pictures and late numbers to come; nothing depends on it."""


def _new_folder() -> Path:
    """With a name that looks well in a picture, where it is free."""
    folder = Path(tempfile.gettempdir()) / "ada"
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        return Path(tempfile.mkdtemp(prefix="ada-"))
    return folder


@contextmanager
def _room() -> Iterator[Path]:
    folder = _new_folder()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _crib(folder: Path) -> Crib:
    home = folder / ".toolcrib"
    home.mkdir()
    return Crib(home)


def photograph(browser: Browser, shown: Shown, views: list[View], out: Path) -> None:
    """Take all pictures of these views."""
    for size, viewport in SIZES.items():
        for theme in THEMES:
            context = browser.new_context(viewport=viewport, color_scheme=theme, reduced_motion="reduce")
            context.set_default_timeout(PATIENCE)
            page = sign_in(context.new_page(), shown.crib.sign_in_address())
            for view in views:
                if not (view.tall and size == "390"):
                    _take(page, shown, view, out, size, theme)
            context.close()


def _take(page: Page, shown: Shown, view: View, out: Path, size: str, theme: str) -> None:
    viewport = SIZES[size]
    page.set_viewport_size({**viewport, "height": TALL} if view.tall else viewport)
    page.goto(f"{shown.crib.base}{view.path(shown)}")
    view.ready(page)
    page.wait_for_timeout(SETTLE)
    name = view.name.removesuffix("-tall")
    file = out / f"{name}-{size}{'-tall' if view.tall else ''}-{theme}.png"
    page.screenshot(path=file)
    print(file.relative_to(ROOT) if file.is_relative_to(ROOT) else file, flush=True)


def main() -> None:
    """Take them."""
    parser = argparse.ArgumentParser(prog="python -m tests.web.screenshots", description=__doc__)
    parser.add_argument("--out", type=Path, default=FOLDER)
    parser.add_argument("--only", action="append", default=[], help="the name of a view; may be repeated")
    parser.add_argument("--readme", action="store_true", help="put the two of the README into docs/pictures")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    chosen = [view for view in VIEWS if not given.only or view.name in given.only]
    if chosen:
        with _room() as room, photographer(room) as browser:
            person = Person(room)
            draw_chart(browser, person.picture)
            with story(_crib(room), person) as told:
                photograph(browser, told.shown, chosen, given.out)
    if not given.only or WELCOME.name in given.only:
        with _room() as room, photographer(room) as browser:
            _photograph_welcome(browser, room, given.out)
    if given.readme:
        _keep(given.out)


def _keep(out: Path) -> None:
    KEPT.mkdir(parents=True, exist_ok=True)
    for name in IN_README:
        shutil.copyfile(out / f"{name}-1440-light.png", KEPT / f"{name}.png")


def _photograph_welcome(browser: Browser, room: Path, out: Path) -> None:
    person = Person(room)
    person.move_in()
    crib = _crib(room)
    crib.environment.update(HOME=str(person.folder), TOOLCRIB_TRUST_CONFIG="0", ANTHROPIC_API_KEY="not-a-key")
    crib.start()
    try:
        photograph(browser, Shown(crib), [WELCOME], out)
    finally:
        crib.stop()


if __name__ == "__main__":
    main()
