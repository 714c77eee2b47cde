/** The addresses of chats, servers, workflows and other things that were opened last, kept in this browser. */

const PLACE = "toolcrib.recent";
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
