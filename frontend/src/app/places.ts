/** The pages of the navigation: order, titles, icons, shortcut keys, and which are tabs in a narrow window. The first
 * part of the path names a folder of `pages/`, except for one server. */

import type { IconName } from "../ui/Icon";

export interface Place {
  page: string;
  path: string;
  title: string;
  icon: IconName;
  /** The key after `g` that leads there. */
  key: string;
  /** Whether it is in the tab bar of a narrow window; the others are behind More. */
  tab: boolean;
}

export const PLACES: readonly Place[] = [
  { page: "chat", path: "/chat", title: "Chat", icon: "chat", key: "c", tab: true },
  { page: "servers", path: "/servers", title: "Servers", icon: "servers", key: "s", tab: true },
  { page: "tools", path: "/tools", title: "Tools", icon: "tools", key: "t", tab: true },
  { page: "workflows", path: "/workflows", title: "Workflows", icon: "workflows", key: "w", tab: false },
  { page: "activity", path: "/activity", title: "Activity", icon: "activity", key: "a", tab: true },
  { page: "connect", path: "/connect", title: "Connect", icon: "connect", key: "n", tab: false },
  { page: "settings", path: "/settings", title: "Settings", icon: "settings", key: "e", tab: false },
];

/** The folder of the page at this path. */
export function pageAt(path: string): string {
  const [first = "", second = ""] = path.split("/").slice(1);
  if (first === "servers" && second) return "server";
  return first || "chat";
}

/** The place of the rail that a path belongs to. */
export function placeAt(path: string): Place | undefined {
  const page = pageAt(path);
  const owner = page === "server" || page === "add" ? "servers" : page;
  return PLACES.find((place) => place.page === owner);
}
