/** What was found on this computer, in words: models and their order, "Found 9 servers in …". */

import type { FoundSource, ModelList, Models, Vendor } from "../../api/types";

export interface Choice {
  /** What the setting would be. */
  model: string;
  name: string;
  about: string;
  /** How it comes to be here; the demo always is. */
  tag: "found" | "added" | "";
}

const DEMO = "demo";

/** Found ones first, with where they were found; the demo last. */
export function choices(models: Models | undefined, lists: readonly ModelList[] = []): Choice[] {
  const vendors = (models?.vendors ?? []).filter((vendor) => vendor.vendor !== DEMO);
  const local = vendors.flatMap((vendor) => vendor.models.map((name) => localChoice(vendor, name)));
  const keyed = vendors.filter((vendor) => vendor.key !== null && vendor.usual !== "").map(keyedChoice);
  const own = vendors
    .filter((vendor) => vendor.protocol !== "" && vendor.ready)
    .flatMap((one) => ownChoice(one, lists));
  return [...own, ...local, ...keyed, { model: DEMO, name: DEMO, about: "scripted, no account, real tools", tag: "" }];
}

function localChoice(vendor: Vendor, name: string): Choice {
  return { model: `${vendor.vendor}:${name}`, name, about: `in ${vendor.title}, on this computer`, tag: "found" };
}

function keyedChoice(vendor: Vendor): Choice {
  const model = `${vendor.vendor}:${vendor.usual}`;
  const where = vendor.place === "environment" ? "is set" : "is stored";
  return { model, name: model, about: `${vendor.key} ${where}`, tag: "found" };
}

/** An address in the settings, by the model that it was tested with, else the first of its list. */
function ownChoice({ vendor, tried, address }: Vendor, lists: readonly ModelList[]): Choice[] {
  const first = lists.find((list) => list.vendor === vendor)?.models[0];
  const model = tried?.model ?? (first && `${vendor}:${first.name}`);
  return model ? [{ model, name: model, about: `at ${address.replace(/^https?:\/\//, "")}`, tag: "added" }] : [];
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
