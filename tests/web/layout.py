"""Looks for faults of layout: controls that lie over something else, content wider than its place, texts that
are cut without their whole, targets that are too small, and motion where none is wanted."""

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
    if (control.closest(".canvas-zoom")) continue; // Over steps that move below it.
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


_DETAILS = """() => {
  const found = [];
  const hit = (x, y) => document.elementFromPoint(x, y);
  const related = (at, one) => at !== null && (one.contains(at) || one.closest("label")?.contains(at));
  const told = (one) => `<${one.tagName.toLowerCase()} class="${one.getAttribute("class") ?? ""}"> `
    + (one.getAttribute("aria-label") ?? one.textContent).trim().slice(0, 60);
  for (const one of document.body.querySelectorAll("*")) {
    if (!one.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const style = getComputedStyle(one);
    const box = one.getBoundingClientRect();
    const cut = style.textOverflow === "ellipsis" && one.scrollWidth > one.clientWidth + 1;
    if (cut && one.textContent.trim()) {
      one.dispatchEvent(new PointerEvent("pointerover", { bubbles: true })); // As a pointer that rests on it.
      if (!one.closest("[title]:not([title=''])")) found.push(`${told(one)} is cut, its whole is nowhere`);
    }
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    const inView = y > 80 && y < innerHeight - 80 && related(hit(x, y), one); // Clear of the bars.
    if (one.matches("[role=switch], [role=radio], input[type=checkbox]") && inView)
      if (![-11.5, 11.5].every((by) => related(hit(x, y + by), one)))
        found.push(`${told(one)} is a target of less than 24 px`);
    const times = `${style.transitionDuration},${style.animationDuration}`.split(",").map(parseFloat);
    if (times.some((seconds) => seconds > 0)) found.push(`${told(one)} moves`);
  }
  return [...new Set(found)];
}"""


def faults_of_layout(page: Page) -> list[str]:
    """What lies where it should not, in words."""
    found: list[str] = page.evaluate(_LOOK)
    return found


def faults_of_details(page: Page) -> list[str]:
    """Cut texts, small targets and motion, in words."""
    found: list[str] = page.evaluate(_DETAILS)
    return found


def settle(page: Page) -> None:
    """After a change of size: two frames, in which the page has measured itself."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
