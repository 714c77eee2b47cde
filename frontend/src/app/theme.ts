/** Light or dark: the user's choice, else the system's, following its changes; and the text size. Both are kept in
 * this browser. */

import { useSyncExternalStore } from "react";

export type Theme = "system" | "light" | "dark";

const PLACE = "toolcrib.theme";
const SIZE = "toolcrib.text-size";
const system = matchMedia("(prefers-color-scheme: dark)");
const watchers = new Set<() => void>();

function apply(): void {
  const chosen = theme();
  const dark = chosen === "system" ? system.matches : chosen === "dark";
  document.documentElement.dataset["theme"] = dark ? "dark" : "light";
  watchers.forEach((watcher) => watcher());
}

system.addEventListener("change", apply);

export function theme(): Theme {
  const kept = localStorage.getItem(PLACE);
  return kept === "light" || kept === "dark" ? kept : "system";
}

export function setTheme(chosen: Theme): void {
  if (chosen === "system") localStorage.removeItem(PLACE);
  else localStorage.setItem(PLACE, chosen);
  apply();
}

/** The other one of what is seen now. */
export function switchTheme(): void {
  setTheme(document.documentElement.dataset["theme"] === "dark" ? "light" : "dark");
}

export function useTheme(): Theme {
  return useSyncExternalStore((watcher) => {
    watchers.add(watcher);
    return () => void watchers.delete(watcher);
  }, theme);
}

export function textSize(): number {
  const kept = Number(localStorage.getItem(SIZE));
  return kept >= 100 && kept <= 130 ? kept : 100;
}

export function setTextSize(percent: number): void {
  localStorage.setItem(SIZE, String(percent));
  document.documentElement.style.fontSize = `${percent}%`;
}
