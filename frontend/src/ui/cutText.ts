/** Shows the whole of a text that ends in an ellipsis when the pointer rests on it; a screen reader has it anyway. */

const OWN = new WeakSet<Element>();

export function showCutText(page: Document): void {
  page.addEventListener("pointerover", (event) => {
    const target = event.target;
    if (!(target instanceof HTMLElement)) return;
    // Only what is pointed at is measured: a list may have thousands of rows.
    for (let one: HTMLElement | null = target, level = 0; one && level < 3; one = one.parentElement, level += 1)
      describe(one);
  });
}

function describe(element: HTMLElement): void {
  if ((element.title && !OWN.has(element)) || getComputedStyle(element).textOverflow !== "ellipsis") return;
  const isCut = element.scrollWidth > element.clientWidth;
  if (!isCut && !element.title) return;
  OWN.add(element);
  element.title = isCut ? element.innerText : "";
}
