/** The order of programs on the Connect page, of profiles, and which program is shown first. Pure. */

import type { KnownClient, ProfileShown } from "../../api/types";

/** The best known first; one that is not here comes after them. */
const CLIENTS = [
  "claude-desktop",
  "claude-code",
  "cursor",
  "vscode",
  "windsurf",
  "cline",
  "gemini",
  "codex",
  "goose",
  "zed",
  "copilot",
  "lm-studio",
  "opencode",
  "kiro",
  "qwen",
  "amp",
  "crush",
  "librechat",
];

export function inOrder(clients: readonly KnownClient[]): KnownClient[] {
  const place = ({ client }: KnownClient) => (CLIENTS.indexOf(client) + CLIENTS.length + 1) % (CLIENTS.length + 1);
  return [...clients].sort((one, other) => place(one) - place(other));
}

/** Named profiles in the order of the file, then the one with all tools. */
export function namedFirst(views: readonly ProfileShown[]): ProfileShown[] {
  return [...views.filter((view) => view.name), ...views.filter((view) => !view.name)];
}

/** The client whose steps are shown at first: one that is connected, else one that is here. */
export function firstShown(clients: readonly KnownClient[]): string | undefined {
  return (clients.find((one) => one.connected) ?? clients.find((one) => one.found))?.client;
}
