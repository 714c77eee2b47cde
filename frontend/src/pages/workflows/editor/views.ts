/** What the editor can show: its views and its dialogs. */

/** In a narrow window, `trace` is the panel alone. */
export type View = "canvas" | "list" | "trace";

export interface Open {
  what: "run" | "add" | "connect" | "conflict" | "versions" | "plan" | "schedule" | "duplicate";
}
