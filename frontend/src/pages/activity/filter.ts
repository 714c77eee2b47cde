/** The menus of the filter of calls: outcomes, who, times ("Last 7 days"), and the text that they write into the
 * filter field. What the text means is decided by the host. Pure. */

export interface Option {
  value: string;
  name: string;
}

export const OUTCOMES: readonly Option[] = [
  { value: "", name: "Any outcome" },
  { value: "done", name: "Done" },
  { value: "failed", name: "Failed" },
  { value: "denied", name: "Denied" },
  { value: "stopped", name: "Stopped" },
  { value: "asked", name: "Needed approval" },
];

export const WHO: readonly Option[] = [
  { value: "", name: "Anyone" },
  { value: "chat", name: "Chats" },
  { value: "page", name: "This page" },
  { value: "gateway", name: "Gateway" },
  { value: "workflow", name: "Workflows" },
  { value: "python", name: "Python" },
  { value: "terminal", name: "Terminal" },
];

export const SINCE: readonly Option[] = [
  { value: "", name: "Any time" },
  { value: "1h", name: "Last hour" },
  { value: "today", name: "Today" },
  { value: "7d", name: "Last 7 days" },
];

/** What a key of the filter says, or nothing. */
export function said(words: string, key: string): string {
  const found = words.split(/\s+/).find((word) => word.toLowerCase().startsWith(`${key}:`));
  return found ? found.slice(key.length + 1) : "";
}

/** The words with another value for a key; an empty one takes it out. */
export function saying(words: string, key: string, value: string): string {
  const others = words.split(/\s+/).filter((word) => word && !word.toLowerCase().startsWith(`${key}:`));
  return [...others, ...(value ? [`${key}:${value}`] : [])].join(" ");
}
