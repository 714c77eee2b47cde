/** Finding a tool by what people type: in its name, its server, its title and its description. Pure. */

import type { ToolInfo } from "../../../api/types";

const MOST = 50;
/** How alike two names must be to be offered instead of each other, from 0 to 1. */
const ALIKE = 0.5;

/** Those that match every word, the best first: the name itself, its beginning, a part of it, the description. */
export function findTools(tools: readonly ToolInfo[], words: string): ToolInfo[] {
  const wanted = wordsOf(words);
  const ranked = tools.flatMap((tool) => {
    const rank = rankOf(tool, wanted);
    return rank === null ? [] : [{ tool, rank }];
  });
  return ranked
    .sort((one, other) => one.rank - other.rank || one.tool.name.localeCompare(other.tool.name))
    .slice(0, MOST)
    .map(({ tool }) => tool);
}

/** The tool that may be meant by a name that no tool has. */
export function closestTool(tools: readonly ToolInfo[], name: string): ToolInfo | undefined {
  const [found] = findTools(tools, name);
  if (found) return found;
  const alike = tools.map((tool) => ({ tool, alike: likeness(tool.name, name) }));
  const best = alike.reduce((one, other) => (other.alike > one.alike ? other : one), { tool: tools[0], alike: 0 });
  return best.alike >= ALIKE ? best.tool : undefined;
}

/** `demo · add`; a name that no tool has as it is. */
export function toolLabel(name: string): string {
  const [server, ...rest] = name.split("__");
  return rest.length > 0 ? `${server} · ${rest.join("__")}` : name;
}

function rankOf(tool: ToolInfo, wanted: readonly string[]): number | null {
  const own = wordsOf(tool.original_name).join(" ");
  const name = wordsOf(tool.name).join(" ");
  const phrase = wanted.join(" ");
  if (own === phrase || name === phrase) return 0;
  if (own.startsWith(phrase)) return 1;
  if (wanted.every((word) => name.includes(word))) return 2;
  const all = `${name} ${String(tool.annotations["title"] ?? "")} ${tool.description}`.toLowerCase();
  return wanted.every((word) => all.includes(word)) ? 3 : null;
}

function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[\s_·./-]+/)
    .filter(Boolean);
}

/** The part of their pairs of letters that two names share. */
function likeness(one: string, other: string): number {
  const [first, second] = [pairsOf(one), pairsOf(other)];
  const shared = [...first].filter((pair) => second.has(pair)).length;
  return (2 * shared) / Math.max(1, first.size + second.size);
}

function pairsOf(name: string): Set<string> {
  const text = name.toLowerCase();
  return new Set([...text.slice(1)].map((letter, index) => `${text[index]}${letter}`));
}
