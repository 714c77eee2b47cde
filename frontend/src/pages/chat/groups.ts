/** How a turn is split for drawing: cards that follow one another join into one block, Markdown into paragraphs,
 * streamed text into whole sentences. Pure. */

import type { CallView, ItemView } from "./view";

export type Group = { kind: "cards"; key: string; calls: CallView[] } | { kind: "one"; key: string; item: ItemView };

export function grouped(items: readonly ItemView[]): Group[] {
  const groups: Group[] = [];
  for (const item of items) {
    if (item.kind !== "call" || item.asking) {
      groups.push({ kind: "one", key: item.key, item });
      continue;
    }
    const last = groups.at(-1);
    if (last?.kind === "cards") last.calls.push(item);
    else groups.push({ kind: "cards", key: `c${item.key}`, calls: [item] });
  }
  return groups;
}

/** The parts of a text that are drawn for themselves, so that only the last one changes while words come. */
export function blocks(text: string): string[] {
  const found: string[] = [];
  let block: string[] = [];
  let fence = "";
  for (const line of text.split("\n")) {
    const within = fence !== "";
    const mark = /^\s*(```+|~~~+)/.exec(line)?.[1] ?? "";
    if (mark && !fence) fence = mark;
    else if (mark && line.trim() === mark && mark.startsWith(fence)) fence = "";
    const begins = line.trim() !== "" && !/^(\s|[-*+] |\d+[.)] |\||>)/.test(line);
    if (!within && begins && block.at(-1)?.trim() === "") {
      found.push(block.join("\n"));
      block = [];
    }
    block.push(line);
  }
  return [...found, block.join("\n")];
}

/** Up to the end of the last whole sentence. */
export function sentences(text: string): string {
  const end = /^[\s\S]*[.!?:;](?=\s|$)|^[\s\S]*\n/.exec(text);
  return end?.[0] ?? "";
}
