/** The sentences of the Activity page. */

import type { CallCounts } from "../../api/types";
import { plural } from "../../ui/amounts";

export const WORDS = {
  title: "Activity",
  tabs: { calls: "Calls", rules: "Rules", waiting: "Waiting", requests: "Model requests" },
  filter: "Filter, e.g. server:git outcome:failed",
  filterLabel: "Filter calls",
  outcome: "Outcome",
  who: "Who",
  when: "When",
  export: "Export",
  empty: "No calls yet. Every call will stand here: who asked, which rule allowed it, which server answered, how long it took.",
  nothing: "No call fits these words.",
  clear: "Show all",
  newer: (count: number) => plural(count, "new call"),
  older: "Older calls",
  loadingOlder: "Loading…",
  columns: { time: "Time", outcome: "Outcome", call: "Call", who: "Who asked", allowed: "Allowed by", took: "Took" },
  waitsForYou: "waits for you",
  path: "How this call went",
  choose: "Choose a call to see how it went: who asked, what the gate said, which server answered.",
  near: "Rules near this call",
  all: (count: number) => (count === 1 ? "The one rule" : `All ${count} rules`),
  noneNear: "No rule of yours speaks of this tool.",
  fromMode: (mode: string) => `from mode “${mode}”`,
  never: "never needed yet",
  again: "Try it again",
  used: (count: number, last: string) => `used ${count.toLocaleString("en-US")}×, last ${last}`,
  waitingEmpty: "Nothing. When something waits for your word, it stands here.",
  requestsEmpty: "No questions to a model yet. Each turn of a chat will stand here with its tokens and its cost.",
  requests: { time: "Time", chat: "Chat", model: "Model", rounds: "Rounds", input: "Sent", output: "Received", cost: "Cost" },
  gone: "It was answered, or what asked it has ended.",
};

export function summary(counts: CallCounts | undefined): string {
  if (!counts) return " ";
  const { total, asked, denied, failed, days } = counts;
  return `${plural(total, "call")} in ${days} days. ${asked} asked, ${denied} denied, ${failed} failed.`;
}

export const RULES = {
  mode: (mode: string) => `Where no rule decides, the mode does: ${mode}.`,
  add: "Add rule",
  edit: "Edit",
  remove: "Delete",
  more: "More",
  on: (number: number) => `Rule ${number} is in force`,
  removed: (words: string) => `Deleted “${words}”.`,
  turnedOff: (number: number) => `Rule ${number} is off.`,
  turnedOn: (number: number) => `Rule ${number} is in force.`,
  asleep: (when: string) => `Asleep: the tool changed${when ? ` on ${when}` : ""}.`,
  notLoaded: (reason: string) => `Not loaded. ${reason}`,
  empty: "No rules yet. “Always” in a question writes one, and you can write them here.",
  builtIn: "Rules that come with Toolcrib",
  what: "What would happen?",
  whatAbout: "Takes a call and says what the gate would do. Nothing runs and nobody is asked.",
  tool: "Tool",
  arguments: "Arguments, as JSON",
  asWho: "Asked by",
  ask: "Tell me",
  decisions: { allow: "It would run.", ask: "You would be asked.", deny: "It would be refused." },
  byMode: (mode: string) => `The mode “${mode}” decides.`,
  byOwn: "A rule of yours decides.",
  byRule: (number: number) => `Rule ${number} decides.`,
  byBuiltIn: (name: string) => `The rule “${name}”, which comes with Toolcrib, decides.`,
  addTitle: "Add a rule",
  editTitle: "Edit the rule",
  effect: "What it says",
  effects: { allow: "Allow", ask: "Ask", deny: "Deny" },
  server: "Server",
  serverAbout: "A name, or a pattern such as git*. * for any.",
  toolAbout: "The tool's own name, or a pattern such as delete_*. * for any.",
  conditions: "When",
  addCondition: "Add a condition",
  argument: "Argument",
  is: "is",
  like: "is like",
  value: "Value",
  removeCondition: "Remove this condition",
  closed: "and nothing else is given",
  project: "Only in this folder",
  projectAbout: "Empty for everywhere.",
  why: "Why, in your words",
  save: "Save rule",
  saved: (words: string) => `Saved: ${words}.`,
  cancel: "Cancel",
};

export const BUILT_IN: Record<string, string> = {
  shell: "commands: what only reads runs, what destroys is refused, the rest asks",
  code: "snippets of code and keystrokes ask",
  own_reading: "tools of Toolcrib that only read run",
  protected_files: "a call that names a file which makes programs run, or one of Toolcrib's own, asks",
  untrusted_flow: "after text from outside was read, what writes or sends asks",
  session_mode: "the way into a run of steps without asking asks",
};
