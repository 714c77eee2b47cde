/** Which kinds of account a bundled server can use, by the module in its entry. Pure. */

import type { Result } from "../../api/client";

type Provider = Pick<Result<"account_providers">[number], "provider" | "services">;

/** The names of the providers; none for a server that uses no accounts. */
export function providersFor(entry: string, providers: readonly Provider[]): string[] {
  const service = moduleOf(entry).split(".").at(-1) ?? "";
  if (!service) return [];
  return providers.filter((one) => one.services.includes(service)).map((one) => one.provider);
}

function moduleOf(entry: string): string {
  try {
    const { module } = JSON.parse(entry) as { module?: unknown };
    return typeof module === "string" ? module : "";
  } catch {
    return ""; // Not JSON: with comments, or not loaded yet.
  }
}
