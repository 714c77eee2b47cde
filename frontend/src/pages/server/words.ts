/** Every sentence of the page of one server. */

export const WORDS = {
  test: "Test connection",
  restart: "Restart",
  off: "Turn off",
  on: "Turn on",
  tools: "Tools",
  offered: "What a model may be offered",
  noTools: "No tools. They stand here as soon as it has been connected once.",
  held: "Held",
  log: "Log",
  live: "Live",
  paused: "Paused",
  pause: "Pause",
  resume: "Go on",
  logFilter: "Filter, e.g. level:error or robots",
  noLog: "It has written nothing yet.",
  noMatch: "No line fits the filter.",
  readLast: "Read the last 10 lines",
  runsAs: "Runs as",
  versions: "Versions",
  nothingUpdates: "Nothing updates by itself",
  notInstalled: "Toolcrib did not install it, so it keeps no versions of it.",
  approve: "Approve new definition…",
  keepHeld: "Keep it held",
  difference: "Definition difference",
  ifKnown: "If you know why it changed:",
} as const;

export function junkWords(lines: number): string {
  return lines === 1 ? "1 line on stdout was not protocol." : `${lines.toLocaleString("en-US")} lines on stdout were not protocol.`;
}

/** What a server says of its own tool; a hint, never trusted. */
export function saysIt(annotations: Record<string, unknown>): string {
  const words: string[] = [];
  if (annotations["readOnlyHint"] === true) words.push("reads");
  else if (annotations["destructiveHint"] === true) words.push("may destroy");
  else if (annotations["readOnlyHint"] === false) words.push("writes");
  if (annotations["openWorldHint"] === true) words.push("open world");
  return words.join(", ");
}
