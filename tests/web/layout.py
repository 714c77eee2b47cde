"""Looks for faults of layout: controls that lie over something else, and content wider than its place."""

from __future__ import annotations

from playwright.sync_api import Page

_LOOK = """() => {
  const CONTROLS = "button, a[href], input, textarea, select, [role=switch], [role=radio], [role=tab]";
  const told = (one) => {
    const name = one.getAttribute("aria-label") ?? one.textContent.trim().slice(0, 40);
    return `<${one.tagName.toLowerCase()} class="${one.getAttribute("class") ?? ""}"> ${name}`;
  };
  const related = (one, other) => one.contains(other) || other.contains(one);
  const meet = (one, other) => one.left < other.right - 1 && other.left < one.right - 1
    && one.top < other.bottom - 1 && other.top < one.bottom - 1;
  const bordered = (one) => parseFloat(getComputedStyle(one).borderLeftWidth) > 0;
  /** Whether there is a control, a panel, a picture or words of it where this box is. */
  const shows = (one, box, pinned) => one.matches(`${CONTROLS}, svg, img`) || (!pinned && bordered(one))
    || [...one.childNodes].some((node) => {
      if (node.nodeType !== Node.TEXT_NODE || node.data.trim() === "") return false;
      const range = document.createRange();
      range.selectNodeContents(node);
      return [...range.getClientRects()].some((words) => meet(words, box));
    });
  const found = [];
  const root = document.scrollingElement;
  if (root.scrollWidth > innerWidth) found.push(`the document is ${root.scrollWidth} wide`);
  if (root.scrollHeight > innerHeight) found.push(`the document is ${root.scrollHeight} high`);
  const main = document.getElementById("main");
  if (main && main.scrollWidth > main.clientWidth) found.push(`the page is ${main.scrollWidth} wide`);
  const dialog = [...document.querySelectorAll("[role=dialog], [role=alertdialog]")].at(-1);
  for (const control of (dialog ?? document).querySelectorAll(CONTROLS)) {
    const box = control.getBoundingClientRect();
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    const seen = control.checkVisibility({ opacityProperty: true, visibilityProperty: true });
    if (box.width < 2 || !seen) continue;
    const stack = document.elementsFromPoint(x, y);
    const place = stack.findIndex((one) => related(one, control) && !one.contains(control.parentElement));
    if (place < 0) continue; // Scrolled out of its list, or out of the window.
    const pinned = getComputedStyle(control).position === "absolute"; // To a corner that is kept free for it.
    for (const [index, one] of stack.entries()) {
      if (related(one, control) || !shows(one, box, pinned)) continue;
      // A row that is one large button may have smaller ones in it.
      if (getComputedStyle(one, "::after").position === "absolute") continue;
      found.push(`${told(control)} lies ${index < place ? "under" : "over"} ${told(one)}`);
    }
  }
  return [...new Set(found)];
}"""


def faults_of_layout(page: Page) -> list[str]:
    """What lies where it should not, in words."""
    found: list[str] = page.evaluate(_LOOK)
    return found
