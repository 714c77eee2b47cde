/** What the search dialog (Ctrl K) offers for a text: how names are matched (word starts, one wrong letter) and ordered,
 * how many per group. A bare name opens its thing; actions follow. Pure. */

import type { IconName } from "../ui/Icon";
import type { Shape } from "../ui/Status";

export interface PaletteEntry {
  group: "Needs you" | "Recent" | "Go to" | "Actions" | "Ask";
  name: string;
  about: string;
  shape?: Shape;
  icon?: IconName;
  /** The address that it opens. */
  path?: string;
  /** Keys that do it from anywhere in the list. */
  keys?: string;
  perform: () => void;
  /** What else can be done with it. */
  more?: PaletteEntry[];
  /** It comes up only when it is looked for. */
  quiet?: boolean;
}

export interface PaletteSources {
  needs: PaletteEntry[];
  goTo: PaletteEntry[];
  /** What the host found for the text, in its order. */
  found: PaletteEntry[];
  actions: PaletteEntry[];
  /** Addresses that were open before, the latest first. */
  recent: readonly string[];
  ask: (text: string) => PaletteEntry;
}

const MOST = 8;
const RECENT = 5;

export function paletteEntries(text: string, sources: PaletteSources): PaletteEntry[] {
  const words = wordsOf(text);
  if (words.length === 0) return beforeTyping(sources);
  const exact = groupsFor(words, sources, fitExactly);
  const groups = exact.some(({ length }) => length > 0) ? exact : groupsFor(words, sources, fitNearly);
  const [places = [], actions = [], needs = []] = groups;
  const known = new Set(places.map(({ entry }) => entry.path));
  const further = sources.found.filter((entry) => !known.has(entry.path));
  const opened = [...places.map(({ entry }) => entry), ...further].slice(0, MOST);
  const rest = [...needs, ...actions].map(({ entry }) => entry).slice(0, MOST);
  // A name alone opens its thing; an action comes first only where nothing that can be opened fits as well.
  const named = (places[0]?.score ?? 0) >= Math.max(0, ...[...needs, ...actions].map(({ score }) => score));
  const found = named ? [...opened, ...rest] : [...rest, ...opened];
  return [...found, sources.ask(text.trim())];
}

function beforeTyping({ needs, goTo, actions, recent }: PaletteSources): PaletteEntry[] {
  const byPath = new Map(goTo.map((entry) => [entry.path, entry]));
  const visited = recent.flatMap((path): PaletteEntry[] => {
    const entry = byPath.get(path);
    return entry ? [{ ...entry, group: "Recent" }] : [];
  });
  const open = (entry: PaletteEntry) => !entry.quiet;
  return [...needs.slice(0, RECENT), ...visited.slice(0, RECENT), ...goTo.filter(open), ...actions.filter(open)];
}

interface Scored {
  entry: PaletteEntry;
  score: number;
}

type Fit = (text: string, word: string) => number;

function groupsFor(words: readonly string[], sources: PaletteSources, fit: Fit): Scored[][] {
  return [sources.goTo, sources.actions, sources.needs].map((entries) =>
    entries
      .map((entry) => ({ entry, score: score(entry, words, fit) }))
      .filter((one) => one.score > 0)
      .sort((one, other) => other.score - one.score),
  );
}

/** How well all words fit; the name counts twice. */
function score(entry: PaletteEntry, words: readonly string[], fit: Fit): number {
  const name = entry.name.toLowerCase();
  const about = entry.about.toLowerCase();
  let total = name === words.join(" ") ? 3 : 0;
  for (const word of words) {
    const one = fit(name, word) * 2 || fit(about, word);
    if (one === 0) return 0;
    total += one;
  }
  return total;
}

function fitExactly(text: string, word: string): number {
  const at = text.indexOf(word);
  if (at < 0) return 0;
  if (text === word) return 4;
  if (at === 0) return 3;
  return wordsOf(text).some((one) => one.startsWith(word)) ? 2 : 1;
}

/** One letter wrong, missing, too many, or two exchanged, at the beginning of one of its words. */
function fitNearly(text: string, word: string): number {
  if (text.includes(word)) return 2;
  if (word.length < 4) return 0;
  const near = (one: string) => [-1, 0, 1].some((more) => isOneOff(word, one.slice(0, word.length + more)));
  return wordsOf(text).some(near) ? 1 : 0;
}

export function isOneOff(one: string, other: string): boolean {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  const [rest, otherRest] = [one.slice(at), other.slice(at)];
  const exchanged = `${rest[1] ?? ""}${rest[0] ?? ""}${rest.slice(2)}`;
  return (
    rest.slice(1) === otherRest.slice(1) ||
    rest.slice(1) === otherRest ||
    rest === otherRest.slice(1) ||
    exchanged === otherRest
  );
}

function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[\s_\-/.·:]+/)
    .filter(Boolean);
}
