/** Texts of the list of workflows: columns, ways to begin, errors of names, describing a workflow and its draft. */

import { plural } from "../../../ui/amounts";

export const LIST = {
  title: "Workflows",
  summary: (count: number, waiting: number) =>
    `${plural(count, "workflow")}.${waiting > 0 ? ` ${plural(waiting, "run")} waiting for you.` : ""}`,
  create: "New workflow",
  openChat: "Open Chat",
  importFile: "Import a file",
  import: "Import",
  plan: "Describe it",
  templates: "Templates",
  filter: "Filter workflows",
  nothing: (text: string) => `No workflow matches “${text}”.`,
  columns: { name: "Name", state: "State", next: "Next start", runs: "Last 14 runs", took: "Duration" },
  never: "Not run yet",
  steps: (count: number) => plural(count, "step"),
  problems: (count: number) => `${plural(count, "problem")} to fix`,
  noStart: "By hand",
  off: "Off",
  empty:
    "A chat that solved a task can be kept. Save one as a workflow, start from a template, or say what should happen.",
  ways: {
    chat: "From a chat",
    chatAbout: "Open a chat and choose “Save as workflow” in its menu.",
    template: "From a template",
    templateAbout: "Start with a ready-made workflow and change it.",
    plan: "Say what should happen",
    planAbout: "A model drafts the steps; you check them before anything is saved.",
    blank: "Draw it yourself",
    blankAbout: "Begin with an empty canvas.",
  },
  removed: (name: string) => `Removed “${name}”.`,
  restored: (name: string) => `Restored “${name}”.`,
  imported: (name: string) => `Imported “${name}”.`,
  tooLarge: "This file is too large for a workflow: at most 5 MB.",
  more: "Actions",
  open: "Open",
  export: "Export",
  duplicate: "Duplicate",
  remove: "Remove",
  actions: (name: string) => `Actions for ${name}`,
};

export const CREATE = {
  title: "New workflow",
  name: "Name",
  nameAbout: "Lowercase letters, digits, - and _. The file and the command use it.",
  shape: "Use lowercase letters, digits, - and _, and begin with a letter or digit.",
  taken: "A workflow with this name already exists.",
  create: "Create",
  copy: "Duplicate workflow",
  template: "Start from a template",
  use: "Use this template",
  chooseFile: "Import a file",
  fromChat: "Save the chat as a workflow",
  nameTaken: (name: string) => `“${name}” already exists. Choose another name.`,
  none: "No templates.",
};

export const PLAN = {
  title: "Say what should happen",
  changeTitle: "Describe a change",
  field: "What should happen",
  placeholder:
    "Every morning, collect the bills of the last day, ask me about those over 500 and add the rest to ledger.csv",
  changePlaceholder: "Also send me a message if a bill is missing its number",
  draft: "Draft",
  drafting: "Drafting…",
  doubts: "Please check",
  added: "Added",
  removed: "Removed",
  changed: "Changed",
  unchanged: "The draft changes nothing.",
  take: "Use this draft",
  again: "Try again",
  discard: "Discard",
  applied: "The draft is in the editor. Save to keep it.",
  connections: (count: number) => plural(count, "connection"),
};
