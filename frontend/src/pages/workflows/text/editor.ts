/** Texts of the editor: bar, groups of the palette, menu of a step, running, review, problems, conflict, versions,
 * schedule. */

import { plural } from "../../../ui/amounts";

export const BAR = {
  run: "Run",
  save: "Save",
  saved: "Saved",
  saving: "Saving…",
  schedule: "Triggers",
  versions: "Versions",
  step: "Step",
  pause: "Pause",
  resume: "Resume",
  stop: "Stop run",
  stopping: "Stopping…",
  canvas: "Canvas",
  list: "List",
  trace: "Details",
  view: "View",
  more: "More",
  undo: "Undo",
  redo: "Redo",
  plan: "Describe a change…",
  export: "Export",
  duplicate: "Duplicate…",
  remove: "Remove",
  tidy: "Arrange automatically",
  unsaved: "Not saved",
  leaveRun: "Back to the editor",
  runOf: (run: string) => `run ${run}`,
  shownRun: (run: string) => `This is run ${run}, with the steps as they were when it started.`,
};

export const PALETTE = {
  title: "Steps to add",
  search: "Add a step",
  label: "Find a step",
  nothing: "No step matches.",
  groups: { do: "Do", decide: "Decide", wait: "Wait", desktop: "Desktop" },
};

export const ADD = {
  title: "Add a step",
  after: (name: string) => `After “${name}”`,
  output: "Where",
  outputs: { next: "next", done: "after it" } as Record<string, string>,
  connect: "Connect",
  connectTitle: (name: string) => `Connect “${name}”`,
  from: "Output",
  to: "Leads to",
  choose: "Choose a step",
  nowhere: "Nowhere",
  done: "Done",
  cancel: "Cancel",
};

export const STEPS = {
  label: "Steps",
  step: "Step",
  loose: "Not connected",
  empty: "Add the first step: press n.",
  off: "Turned off",
  add: "Add after…",
  connect: "Connect…",
  duplicate: "Duplicate",
  remove: "Delete",
  turnOff: "Turn off",
  turnOn: "Turn on",
  setBreakpoint: "Pause before this step",
  clearBreakpoint: "Do not pause before this step",
  rerun: "Run again from here",
  actions: (name: string) => `Actions for ${name}`,
  leads: (output: string, to: string) => `${output} → ${to}`,
  place: (items: readonly number[], visit: number) =>
    [items.length > 0 ? `item ${items.join(".")}` : "", visit > 1 ? `visit ${visit}` : ""].filter(Boolean).join(", "),
  pasted: (count: number) => `Pasted ${plural(count, "step")}.`,
  copied: (count: number) => `Copied ${plural(count, "step")}.`,
  removed: (count: number) => `Deleted ${plural(count, "step")}.`,
};

export const START = {
  title: (name: string) => `Run ${name}`,
  run: "Run",
  starting: "Starting…",
  notSaved: "The workflow could not be saved, so it was not started.",
  close: "Close",
};

export const REVIEW = {
  title: "What it does",
  about: "This workflow was made elsewhere. As far as its file tells, it:",
  nothing: "This workflow was made elsewhere. It calls no tools and runs no code.",
  confirm: "Confirm and run",
  open: "Open",
};

export const PROBLEMS = {
  title: (count: number) => plural(count, "problem"),
  go: "Go there",
  all: (count: number) => `Show all ${count}`,
  fewer: "Show fewer",
};

export const CONFLICT = {
  title: "This workflow was changed elsewhere",
  about: "Your version and the stored one differ. Nothing is lost until you choose.",
  mine: "Save mine",
  theirs: "Use the stored one",
  strip: "This workflow was changed elsewhere while you were editing it.",
  show: "Show both",
};

export const VERSIONS = {
  title: "Versions",
  current: "current",
  show: "Show changes",
  restore: "Restore",
  restored: (time: string) => `Restored the version of ${time}. Save to keep it.`,
  none: "No earlier versions.",
};

export const SCHEDULE = {
  title: "Triggers",
  none: "No triggers. This workflow starts only when you run it.",
  add: "Add a schedule",
  address: "The address of the webhook. It contains its token, so it is shown only once.",
  cron: "When",
  cronAbout: "A phrase such as weekdays at 07:30, or a cron expression such as 30 7 * * 1-5.",
  timezone: "Time zone",
  save: "Save and turn on",
  on: (name: string) => `On: ${name}`,
  next: (time: string) => `next ${time}`,
  off: "off",
  saved: "Saved the schedule.",
  failed: (time: string, why: string) => `Not started at ${time}: ${why}`,
  again: "Start now",
  started: (run: string) => `Started run ${run}.`,
  moreFailed: "See all of them with: toolcrib workflow triggers",
  types: { schedule: "Schedule", webhook: "Webhook", folder: "Watched folder" } as Record<string, string>,
};
