/** Texts about a server's screen: states, "Stop input", and what is shown after input was stopped. */

export const TEXT = {
  screen: "Screen",
  live: "Live",
  idle: "Not started",
  stopped: "Stopped",
  own: "In use",
  stop: "Stop input",
  resume: "Allow input again",
  notStarted: "The display starts with the first call.",
  yours: "This server works on your own display, which is not shown here.",
  stopKey: (key: string) => `Press ${key} on that display to stop all input.`,
  stoppedBy: (by: string) =>
    `All input was stopped with ${by}. Calls that click or type are refused until you allow it.`,
  stoppedHere: "All input is stopped. Calls that click or type are refused until you allow it.",
  picture: (server: string) => `The screen of ${server}`,
  larger: "Enlarge",
} as const;

/** `ctrl+alt+escape` as it is written on keys. */
export function keyNames(chord: string): string {
  return chord
    .split("+")
    .map((part) => part.slice(0, 1).toUpperCase() + part.slice(1))
    .join(" + ");
}
