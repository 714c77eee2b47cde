/** The models in the menu of a chat and their order, known without asking a vendor; the text when no model is found.
 * Pure. */

import type { Models } from "../../api/types";

const DEMO = "demo";

/** The chosen one, those that are here, those that chats have used, and the demo last. */
export function knownModels(models: Models | undefined, used: readonly string[], now: string): string[] {
  const ready = new Set((models?.vendors ?? []).filter((one) => one.ready).map((one) => one.vendor));
  const here = (models?.vendors ?? []).flatMap((one) => one.models.map((name) => `${one.vendor}:${name}`));
  const before = used.filter((name) => ready.has(name.split(":")[0] ?? ""));
  const all = [now, models?.model ?? "", ...here, ...before].filter((name) => name !== "" && name !== DEMO);
  return [...new Set(all), DEMO];
}

/** What was looked for and not found, when there is no model. */
export function lookedFor(models: Models | undefined): string {
  const local = models?.vendors.find((one) => one.vendor === "ollama");
  const here = local?.ready
    ? "Ollama has no model yet"
    : `no Ollama at ${(local?.address ?? "").replace(/^https?:\/\/|\/v1$/g, "") || "this computer"}`;
  return `No API key found in the environment or the keyring, and ${here}.`;
}
