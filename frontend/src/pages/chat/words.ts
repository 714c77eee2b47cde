/** Every sentence of the chat page. */

import { plural } from "../../ui/amounts";

export const WORDS = {
  chats: "Chats",
  newChat: "New chat",
  searchChats: "Search chats",
  searchField: "Words in any chat",
  noChats: "No chats yet. What you ask is kept here.",
  nothingFound: "No chat holds these words.",
  today: "Today",
  earlier: "Earlier",
  found: "Found",
  conversation: "Conversation",
  messages: "Messages",
  newest: "Newest",
  empty: "What shall we do?",
  emptyAbout: (tools: number) =>
    tools === 0
      ? "No tools are ready yet. The model answers without them; add a server to hand it some."
      : `${plural(tools, "tool is", "tools are")} ready. The right few are handed out with each question, and you are asked before anything is changed.`,
  needsModel: "Needs a model",
  addModel: "Add a model",
  useDemo: "Use demo",
  demoWorks: "The demo model works without an account.",
  offered: "Offered this turn",
  offeredNone: "Nothing is offered yet. With each question the tools that fit it best stand here, each with its reason.",
  whyThese: "Why these",
  ranking: "See the full ranking",
  fork: "Fork",
  forkHere: "Fork from here",
  edit: "Edit and ask again",
  editing: "Editing a question. Sending it makes a fork; this chat stays as it is.",
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
  restored: (title: string) => `“${title}” is back.`,
  gone: "This chat is not here. It was deleted, or the address is wrong.",
  toChats: "To the chats",
  stop: "Stop",
  stopping: "Stopping…",
  stopped: "Stopped. Nothing is left running.",
  interrupted: "Interrupted. What was written so far is kept.",
  callInterrupted: "Toolcrib ended during this call. It may or may not have had an effect.",
  continueAnswer: "Continue",
  continued: "Continued",
  send: "Send",
  ask: "Ask something…",
  next: "Answer above, or add something for the next round…",
  working: "Working. Write the next question meanwhile…",
  queued: "This is sent when the answer has ended.",
  attach: "Attach an image",
  takeAway: "Take the picture away",
  cannotSee: (model: string) => `${model} cannot see pictures. Send without it, or choose another model.`,
  pictureMade: (before: string, after: string) => `${before}, made smaller to ${after}`,
  notPicture: "Only pictures can be attached: PNG, JPEG, GIF or WebP.",
  chooseModel: "Choose a model",
  otherModel: "Another model…",
  modelName: "Vendor and model, such as anthropic:claude-sonnet-4-5",
  chooseMode: "When to ask",
  turnOff: "Turn off asking?",
  nothingAsks: "Nothing will ask. Rules that deny still deny. This holds for what you send from this tab.",
  turnOffNow: "Turn off asking",
  notInView: "It was read earlier in this chat.",
  brokeOff: "The answer broke off here.",
  replaceKey: "Replace key",
  tryAgain: "Try again",
  budget: "The rounds for one question were used up; this is what was found until then.",
  cutAtLimit: "The answer was cut off by the output limit of the model. Ask it to go on, or set a higher limit in the settings (maxTokens).",
  refused: "The model refused to answer.",
  filtered: "The vendor's filter ended the answer.",
  shortened: (time: string) => `Earlier rounds were shortened${time ? ` at ${time}` : ""} to fit. Open work was kept.`,
  show: "Show",
  hide: "Hide",
  thinking: "Thinking",
  tryingIn: (seconds: number) => `Trying again in ${seconds} s.`,
  trying: "Trying again…",
  again: "The answer broke off and was asked for again.",
  details: "Details",
  runAgain: "Run again",
  rawCall: "Raw call",
  rawJson: "Raw JSON",
  copy: "Copy",
  open: "Open",
  showAll: "Show all",
  cut: (shown: number, all: number) =>
    `The model got the first ${shown.toLocaleString("en-US")} of ${all.toLocaleString("en-US")} characters and can ask for more.`,
  told: "The model was told and went on without it.",
  noAnswer: (time: string) => `No answer in ${time}, the call was cancelled. The model was told.`,
  allowLonger: "Allow 10 min for this tool",
  longer: (tool: string) => `${tool} may take 10 min from now on.`,
  yourWord: (word: string) => `Your word to the model: “${word}”`,
  deniedWithoutWord: "You denied it without a word.",
  byHand: "Run by you. The model does not know of it.",
  arguments: "Arguments",
  noArguments: "It is given nothing.",
  result: "Result",
  nothing: "It answered with nothing.",
  pin: "Pin",
  ban: "Ban",
  pinned: "Pinned",
  banned: "Banned in this chat.",
  undo: "Undo",
  allowFor: "Allow for",
  allowWhat: "Allow",
  liftFor: "Allow, and ask no more about text from outside:",
  writesRule: "Writes the rule",
  noRule: "No rule is written.",
  whyAsks: "Why it asks:",
  whyAsksFlow: "Why it asks, whatever the rules say:",
  deny: "Deny",
  denyHint: "Deny lets you add a word to the model",
  denyWord: "A word to the model (may be empty)",
  denySend: "Deny and tell the model",
  back: "Back",
  sendAnswer: "Send answer",
  decline: "Decline",
  yourAnswer: "Your answer goes to this server. Never type a password here.",
  openAddress: "Open the address",
  sampling: "It would send this:",
  letAsk: "Let it ask",
  where: "Where it came from",
  sessionRefused: "Destructive commands are still refused.",
  oneLine: (lines: number) => `${plural(lines, "line")} changed`,
  newFile: "new file",
  unread: (what: string) => `Not everything in it is known before it runs: ${what}.`,
  onlyReads: "only reads",
  inFolder: (folder: string) => `In ${folder}`,
} as const;

export const SCOPES = {
  once: { name: "Once", button: "Allow once" },
  chat: { name: "This chat", button: "Allow for this chat" },
  project: { name: "This project", button: "Allow for this project" },
  always: { name: "Always", button: "Allow always" },
} as const;

export type ScopeName = keyof typeof SCOPES;

export const BREADTHS = [
  { value: "call", name: "This call" },
  { value: "tool", name: "Any call of this tool" },
] as const;

export type Breadth = (typeof BREADTHS)[number]["value"];

export const LIFTS = {
  tool: "for this tool",
  turn: "until this answer ends",
  session: "in this whole chat",
} as const;

export type LiftName = keyof typeof LIFTS;

export const MODES = [
  { value: "on_miss", name: "Ask on a miss" },
  { value: "always", name: "Ask always" },
  { value: "plan", name: "Only read (plan)" },
  { value: "off", name: "Never ask" },
] as const;

export type ModeName = (typeof MODES)[number]["value"];

/** Questions that work now: with the demo model those that it can reckon, else such as need a tool or two. */
export function samples(model: string): string[] {
  const sums = ["What is 17 plus 25?", "What is 1 divided by 7?"];
  if (model === "demo") return [...sums, "What is 12 plus 30, and what is 22 divided by 7?"];
  return ["What can you do here?", "What is in this folder?", ...sums.slice(1)];
}
