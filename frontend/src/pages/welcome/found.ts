/** What was found on this computer, in words: models and their order, the default model of each vendor with a key,
 * "Found 9 servers in …". */

import type { FoundSource, Models, Vendor } from "../../api/types";

export interface Choice {
  /** What the setting would be. */
  model: string;
  name: string;
  about: string;
  found: boolean;
}

const DEMO = "demo";
/** The default model of each vendor with a key. */
const USUAL: Record<string, string> = {
  anthropic: "anthropic:claude-sonnet-4-5",
  openai: "openai:gpt-5-mini",
  gemini: "gemini:gemini-2.5-flash",
};

/** Found ones first, with where they were found; the demo last. */
export function choices(models: Models | undefined): Choice[] {
  const vendors = (models?.vendors ?? []).filter((vendor) => vendor.vendor !== DEMO);
  const local = vendors.flatMap((vendor) => vendor.models.map((name) => localChoice(vendor, name)));
  const keyed = vendors.filter((vendor) => vendor.key !== null && vendor.models.length === 0).flatMap(keyedChoice);
  return [...local, ...keyed, { model: DEMO, name: DEMO, about: "scripted, no account, real tools", found: false }];
}

function localChoice(vendor: Vendor, name: string): Choice {
  return { model: `${vendor.vendor}:${name}`, name, about: `in ${vendor.title}, on this computer`, found: true };
}

function keyedChoice(vendor: Vendor): Choice[] {
  const model = USUAL[vendor.vendor];
  if (!model) return [];
  const where = vendor.place === "environment" ? "is set" : "is stored";
  return [{ model, name: model, about: `${vendor.key} ${where}`, found: true }];
}

/** "Found 9 servers in Claude Desktop (5) and Cursor (3); one is the same in two places." */
export function foundServers(sources: readonly FoundSource[]): { total: number; rest: string } {
  const withServers = sources.filter((source) => source.servers.length > 0);
  const names = new Map<string, number>();
  const places = new Map<string, number>();
  for (const source of withServers) {
    places.set(source.title, (places.get(source.title) ?? 0) + source.servers.length);
    for (const name of source.servers) names.set(name, (names.get(name) ?? 0) + 1);
  }
  const twice = [...names.values()].filter((times) => times > 1).length;
  const where = listed([...places].map(([title, amount]) => `${title} (${amount})`));
  const same = twice === 0 ? "" : twice === 1 ? "; one is the same in two places" : `; ${twice} are in two places`;
  return { total: names.size, rest: ` in ${where}${same}.` };
}

function listed(words: string[]): string {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
