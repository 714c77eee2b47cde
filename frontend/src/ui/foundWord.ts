/** Scrolls to a word that was looked for, and marks it until another one is. */

const NAME = "found";

/** Bring the first place with this word into view; the beginning of the element if it has none. */
export function showPlace(element: Element, word: string): void {
  const range = word ? rangeOf(element, word.toLowerCase()) : null;
  const marks = "highlights" in CSS ? CSS.highlights : null;
  marks?.delete(NAME);
  if (!range) {
    element.scrollIntoView({ block: "start" });
    return;
  }
  marks?.set(NAME, new Highlight(range));
  (range.startContainer.parentElement ?? element).scrollIntoView({ block: "center" });
}

function rangeOf(element: Element, word: string): Range | null {
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const at = (node.textContent ?? "").toLowerCase().indexOf(word);
    if (at < 0) continue;
    const range = document.createRange();
    range.setStart(node, at);
    range.setEnd(node, Math.min(at + word.length, node.textContent?.length ?? at));
    return range;
  }
  return null;
}
