/** The addresses of chats, servers, workflows and other things that were opened last, and the model that was chosen
 * last, kept in this browser. */

const PLACE = "toolcrib.recent";
const MODEL = "toolcrib.chat.model";
const KEPT = 12;

export function recentPaths(): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(PLACE) ?? "[]");
    return Array.isArray(kept) ? kept.filter((path) => typeof path === "string") : [];
  } catch {
    return [];
  }
}

export function keepRecent(path: string): void {
  localStorage.setItem(PLACE, JSON.stringify([path, ...recentPaths().filter((one) => one !== path)].slice(0, KEPT)));
}

/** The model that a new chat starts with; empty if none was chosen here. */
export function recentModel(): string {
  return localStorage.getItem(MODEL) ?? "";
}

export function keepModel(model: string): void {
  localStorage.setItem(MODEL, model);
}
