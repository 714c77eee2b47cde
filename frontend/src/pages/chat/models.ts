/** The models in the menu of a chat and their order, known without asking a vendor; the text when no model is found.
 * Pure. */

import type { ModelList, Models } from "../../api/types";

const DEMO = "demo";

/** So many models of one address are in the menu; all are in the dialog behind it. */
const MOST = 5;

/** The chosen one, those of the addresses in the settings, those that are here, those that chats have used, the usual
 * one of each vendor with a key, and the demo last. */
export function knownModels(
  models: Models | undefined,
  lists: readonly ModelList[],
  used: readonly string[],
  now: string,
): string[] {
  const vendors = (models?.vendors ?? []).filter((one) => one.ready);
  const ready = new Set(vendors.map((one) => one.vendor));
  const own = lists.flatMap((list) => list.models.slice(0, MOST).map((one) => `${list.vendor}:${one.name}`));
  const here = vendors.flatMap((one) => one.models.map((name) => `${one.vendor}:${name}`));
  const before = used.filter((name) => ready.has(name.split(":")[0] ?? ""));
  const usual = vendors.filter((one) => one.key && one.usual).map((one) => `${one.vendor}:${one.usual}`);
  const all = [now, models?.model ?? "", ...own, ...here, ...before, ...usual];
  return [...new Set(all.filter((name) => name !== "" && name !== DEMO)), DEMO];
}

/** What was looked for and not found, when there is no model. */
export function lookedFor(models: Models | undefined): string {
  const local = models?.vendors.find((one) => one.vendor === "ollama");
  const here = local?.ready
    ? "Ollama has no model yet"
    : `no Ollama at ${(local?.address ?? "").replace(/^https?:\/\/|\/v1$/g, "") || "this computer"}`;
  return `No API key found in the environment or the secrets, and ${here}.`;
}
