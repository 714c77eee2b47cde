/** What the search dialog (Ctrl K) offers for a text: how names are matched and ordered, how many per group. Pure. */

import type { IconName } from "../ui/Icon";
import type { Shape } from "../ui/Status";

export interface PaletteEntry {
  group: "Actions" | "Go to" | "Ask";
  name: string;
  about: string;
  shape?: Shape;
  icon?: IconName;
  /** Keys that do it from anywhere in the list. */
  keys?: string;
  perform: () => void;
  /** What else can be done with it. */
  more?: PaletteEntry[];
  /** Nothing asks for it: it comes up only when it is looked for. */
  quiet?: boolean;
}

export interface PaletteSources {
  doNow: PaletteEntry[];
  goTo: PaletteEntry[];
  ask: (text: string) => PaletteEntry;
}

const SHOWN = { Actions: 6, "Go to": 6 } as const;

export function paletteEntries(text: string, sources: PaletteSources): PaletteEntry[] {
  const words = text.trim().toLowerCase().split(/\s+/).filter(Boolean);
  const found = [
    ...best(sources.doNow, words).slice(0, SHOWN["Actions"]),
    ...best(sources.goTo, words).slice(0, SHOWN["Go to"]),
  ];
  return words.length ? [...found, sources.ask(text.trim())] : found;
}

function best(entries: PaletteEntry[], words: string[]): PaletteEntry[] {
  if (words.length === 0) return entries.filter((entry) => !entry.quiet);
  const wanted = words.map((word) => ({ word, begins: new RegExp(`(^|[\\s_\\-/])${escape(word)}`) }));
  return entries
    .map((entry) => ({ entry, score: fit(entry, wanted) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .map(({ entry }) => entry);
}

/** How well all words fit; the beginning of a word counts most. */
function fit(entry: PaletteEntry, wanted: readonly Wanted[]): number {
  const name = entry.name.toLowerCase();
  const about = entry.about.toLowerCase();
  let total = 0;
  for (const word of wanted) {
    const score = fitOne(name, word) * 2 || fitOne(about, word);
    if (score === 0) return 0;
    total += score;
  }
  return total;
}

interface Wanted {
  word: string;
  begins: RegExp;
}

function fitOne(text: string, { word, begins }: Wanted): number {
  if (!text.includes(word)) return 0;
  if (text === word) return 4;
  if (text.startsWith(word)) return 3;
  return begins.test(text) ? 2 : 1;
}

function escape(word: string): string {
  return word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
