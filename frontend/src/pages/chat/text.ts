/** Every text of the chat page: labels, placeholders, notes on how a turn ended, approval scopes ("Allow for this
 * chat"), modes, suggested first questions. */

import { plural } from "../../ui/amounts";

export const TEXT = {
  chats: "Chats",
  newChat: "New chat",
  searchChats: "Search chats",
  searchField: "Search all chats",
  noChats: "No chats yet. Your chats appear here.",
  nothingFound: "No chats found.",
  today: "Today",
  earlier: "Earlier",
  found: "Found",
  conversation: "Conversation",
  messages: "Messages",
  newest: "Jump to latest",
  empty: "What would you like to do?",
  emptyAbout: (tools: number) =>
    tools === 0
      ? "No tools are ready yet. The model answers without tools until you add a server."
      : `${plural(tools, "tool is", "tools are")} ready. The best matches are offered with each message, and you are asked before anything changes.`,
  needsModel: "Needs a model",
  addModel: "Add a model",
  useDemo: "Use demo",
  demoWorks: "The demo model works without an account.",
  offered: "Offered this turn",
  offeredNone: "Nothing offered yet. With each message, the best matching tools appear here, each with its reason.",
  whyThese: "Why these?",
  ranking: "See the full ranking",
  fork: "Fork",
  forkHere: "Fork from here",
  edit: "Edit and resend",
  editing: "Editing a message. Sending it creates a fork; this chat stays unchanged.",
  saveAsWorkflow: "Save as workflow",
  rename: "Rename",
  exportMarkdown: "Export as Markdown",
  exportJson: "Export as JSON",
  delete: "Delete",
  more: "More",
  title: "Title",
  save: "Save",
  cancel: "Cancel",
  deleted: (title: string) => `Deleted “${title}”.`,
  forked: "This is the fork. The chat it came from is unchanged.",
  restored: (title: string) => `Restored “${title}”.`,
  gone: "Chat not found. It was deleted, or the address is wrong.",
  toChats: "To the chats",
  stop: "Stop",
  stopping: "Stopping…",
  stopped: "Stopped. Nothing is left running.",
  interrupted: "Interrupted. The text so far is kept.",
  callInterrupted: "Toolcrib stopped during this call. It may or may not have taken effect.",
  continueAnswer: "Continue",
  continued: "Continued",
  send: "Send",
  ask: "Ask something…",
  next: "Answer above, or write your next message…",
  working: "Working. You can write your next message…",
  queued: "This message is sent when the answer is complete.",
  attach: "Attach an image",
  takeAway: "Remove picture",
  cannotSee: (model: string) => `${model} cannot see pictures. Send without it, or choose another model.`,
  pictureMade: (before: string, after: string) => `${before}, reduced to ${after}`,
  notPicture: "Only pictures can be attached: PNG, JPEG, GIF or WebP.",
  chooseModel: "Choose a model",
  otherModel: "Another model…",
  modelName: "Vendor and model, such as anthropic:claude-sonnet-4-5",
  chooseMode: "Approval mode",
  turnOff: "Turn off approvals?",
  nothingAsks: "Calls run without approval. Rules that deny still apply. This applies to messages sent from this tab.",
  turnOffNow: "Turn off approvals",
  notInView: "It was read earlier in this chat.",
  brokeOff: "The answer was cut off here.",
  replaceKey: "Replace key",
  tryAgain: "Try again",
  budget: "The limit of rounds was reached. This is the result so far.",
  cutAtLimit:
    "The answer reached the model's output limit. Ask it to continue, or set a higher limit in Settings (maxTokens).",
  refused: "The model refused to answer.",
  filtered: "The vendor's content filter stopped the answer.",
  unknownStop: "The answer may be incomplete.",
  costUnknown: "cost unknown",
  shortened: (time: string) => `Earlier rounds were shortened${time ? ` at ${time}` : ""} to fit. Open work was kept.`,
  show: "Show",
  hide: "Hide",
  thinking: "Thinking",
  tryingIn: (seconds: number) => `Retrying in ${seconds} s.`,
  trying: "Retrying…",
  again: "The answer was cut off and requested again.",
  details: "Details",
  runAgain: "Run again",
  rawCall: "Raw call",
  call: "Call",
  rawJson: "Raw JSON",
  copy: "Copy",
  open: "Open",
  showEntries: (count: number) => `Show all ${count.toLocaleString("en-US")} entries`,
  cut: (shown: number, all: number) =>
    `The model received the first ${shown.toLocaleString("en-US")} of ${all.toLocaleString("en-US")} characters and can ask for more.`,
  told: "The model was notified and continued without it.",
  noAnswer: (time: string) => `No answer in ${time}. The call was cancelled and the model was notified.`,
  allowLonger: "Allow 10 min for this tool",
  longer: (tool: string) => `${tool} may now take up to 10 min.`,
  yourNote: (note: string) => `Your note to the model: “${note}”`,
  deniedWithoutNote: "You denied it without a note.",
  byHand: "Run by you. The model has not seen it.",
  arguments: "Arguments",
  otherArguments: "Other arguments",
  noArguments: "No arguments.",
  result: "Result",
  nothing: "Empty result.",
  restMissing: "Only the beginning is shown: the rest of the result could not be loaded.",
  pin: "Pin",
  ban: "Block",
  pinned: "Pinned",
  banned: "Blocked in this chat.",
  undo: "Undo",
  allowFor: "Allow for",
  allowWhat: "Allow",
  liftFor: "Allow, and stop asking because of untrusted content:",
  writesRule: "Creates the rule",
  noRule: "No rule is created.",
  allows: "Allows",
  thisCall: "This call only.",
  untilEnd: (what: string) => `${what} until this chat ends`,
  whyAsks: "Why you're asked:",
  whyAsksFlow: "Always asks here:",
  deny: "Deny",
  denyHint: "You can add a note for the model when you deny",
  denyNote: "Note for the model (optional)",
  denySend: "Deny and notify the model",
  back: "Back",
  sendAnswer: "Send answer",
  decline: "Decline",
  yourAnswer: (server: string) => `Your answer is sent to ${server}. Never enter a password here.`,
  openAddress: "Open link",
  sampling: "This would be sent:",
  letAsk: "Allow",
  where: "Show source",
  sessionRefused: "Destructive commands are still refused.",
  oneLine: (lines: number) => `${plural(lines, "line")} changed`,
  newFile: "new file",
  unread: (what: string) => `Parts of it cannot be checked before it runs: ${what}.`,
  onlyReads: "read-only",
  inFolder: (folder: string) => `In ${folder}`,
} as const;

export const SCOPES = {
  once: { name: "Once", button: "Allow once" },
  chat: { name: "This chat", button: "Allow for this chat" },
  project: { name: "This project", button: "Allow for this project" },
  always: { name: "Always", button: "Always allow" },
} as const;

export type ScopeName = keyof typeof SCOPES;

export const BREADTHS = [
  { value: "call", name: "This call" },
  { value: "tool", name: "Any call to this tool" },
] as const;

export type Breadth = (typeof BREADTHS)[number]["value"];

export const LIFTS = {
  tool: "for this tool",
  turn: "until this answer ends",
  session: "for the whole chat",
} as const;

export type LiftName = keyof typeof LIFTS;

export const MODES = [
  { value: "on_miss", name: "Ask unless a rule allows it" },
  { value: "always", name: "Always ask" },
  { value: "plan", name: "Plan (read-only)" },
  { value: "off", name: "Never ask" },
] as const;

export type ModeName = (typeof MODES)[number]["value"];

/** Sample messages that work now: calculations with the demo model, else some that need a tool or two. */
export function samples(model: string): string[] {
  const sums = ["What is 17 plus 25?", "What is 1 divided by 7?"];
  if (model === "demo") return [...sums, "What is 12 plus 30, and what is 22 divided by 7?"];
  return ["What can you do here?", "What is in this folder?", ...sums.slice(1)];
}
