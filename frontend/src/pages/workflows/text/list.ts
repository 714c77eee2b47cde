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
  plan: "Describe a workflow",
  templates: "Templates",
  filter: "Filter workflows",
  nothing: (text: string) => `No workflow matches “${text}”.`,
  columns: { name: "Name", state: "State", next: "Next start", runs: "Last 14 runs", took: "Duration" },
  never: "Not run yet",
  steps: (count: number) => plural(count, "step"),
  problems: (count: number) => `${plural(count, "problem")} to fix`,
  noStart: "When you run it",
  off: "Off",
  empty:
    "A workflow repeats a task without a model deciding each step. Save a chat as one, start from a template, or describe what should happen.",
  ways: {
    chat: "From a chat",
    chatAbout: "Open a chat and choose “Save as workflow” in its menu.",
    template: "From a template",
    templateAbout: "Start with a ready-made workflow and change it.",
    plan: "Describe a workflow",
    planAbout: "A model drafts the steps. You check them before anything is saved.",
    blank: "Draw it yourself",
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
  nameAbout: "The file and the command have this name too.",
  becomes: (name: string) => `Saved as ${name}. The file and the command have this name too.`,
  shape: "Use at least one letter or digit.",
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
  title: "Describe a workflow",
  changeTitle: "Describe a change",
  field: "What should happen",
  placeholder:
    "Every morning, collect the bills of the last day, ask me about those over 500 and add the rest to ledger.csv",
  changePlaceholder: "Also send me a message if a bill is missing its number",
  draft: "Draft",
  drafting: "Drafting…",
  doubts: "Check this first",
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
