"""Walks a page with the Tab key: each stop must be seen, and show that it has the focus."""

from __future__ import annotations

from collections.abc import Iterator

from playwright.sync_api import Page

MOST = 60
"""Stops that are looked at; a list of a thousand rows repeats itself."""
_BEGIN = """() => {
  const LOOKS = ["outlineStyle", "outlineWidth", "outlineColor", "boxShadow", "borderColor",
    "backgroundColor"];
  const told = (one) => `<${one.tagName.toLowerCase()} class="${one.getAttribute("class") ?? ""}"> `
    + (one.getAttribute("aria-label") ?? one.textContent).trim().slice(0, 40);
  const near = (one) => {
    // A field is framed by what is around it, a row by a part that covers it, a step by what it draws.
    const ones = [...one.children].slice(0, 1).concat(one);
    while (ones.length < 6 && ones.at(-1).parentElement) ones.push(ones.at(-1).parentElement);
    return ones;
  };
  const styles = (one) => [null, "::before", "::after"].map((part) => getComputedStyle(one, part));
  const looks = (style) => LOOKS.map((name) => style[name]).join();
  const look = (ones) => ones.flatMap(styles).map(looks).join();
  /** What is wrong with this stop, and whether the round is over. */
  window.lookAtStop = () => {
    const found = [];
    const now = document.activeElement;
    if (now === document.body || now?.dataset.seen === "yes") return { found, over: true };
    now.dataset.seen = "yes";
    const box = now.getBoundingClientRect();
    const outside = box.bottom < 1 || box.top > innerHeight - 1 || box.right < 1 || box.left > innerWidth - 1;
    if (outside || box.width < 1) found.push(`${told(now)} has the focus out of sight`);
    const ones = near(now);
    const focused = look(ones);
    now.blur();
    if (look(ones) === focused) found.push(`${told(now)} looks the same with the focus and without it`);
    now.focus({ preventScroll: true });
    return { found, over: false };
  };
}"""


def faults_of_focus(page: Page) -> Iterator[str]:
    """What is wrong with the stops of the Tab key, from the place where the page put the focus."""
    page.evaluate(_BEGIN)
    for _ in range(MOST):
        page.keyboard.press("Tab")
        stop = page.evaluate("lookAtStop()")
        yield from stop["found"]
        if stop["over"]:
            return
