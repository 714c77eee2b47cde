/** Texts of the Settings page that are not the name of a setting: introductions of sections, states of model vendors,
 * names and explanations of approval modes. */

/** Every sentence of the Settings page that is not the name of a setting. */
export const TEXT = {
  title: "Settings",
  about: "Changes are saved immediately. Each one shows the matching command, for use in scripts.",
  find: "Find a setting",
  models: (place: string) =>
    `Keys are stored in ${place === "file" ? "a file that only you can read, since there is no keyring" : "the system keyring"}. Environment variables are used directly and never copied.`,
  asking: "The strictest of the mode, your rules and the command check applies.",
  session:
    "Autonomous sessions are granted in a single chat, for a stated reason, and end with the turn. They are not set here.",
  offAsks: "Calls run without approval. Rules that deny still apply.",
  secrets: "Only names are listed. Values are never shown.",
  noSecrets: "No secrets yet. Servers and models ask for them when needed.",
  unused: "used by no server",
  doctor: "Checks that everything Toolcrib needs is available.",
  nothing: "No settings found.",
  any: "Any other setting",
  anyAbout: "By its name in the file. Enter the value as JSON or text; leave it empty for the default.",
  anyName: "Name of a setting",
  anyValue: "Value",
  anySave: "Save",
} as const;

/** Of the vendors of models. */
export const MODELS = {
  asking: "Testing…",
  looking: "Checking…",
  works: "Works",
  refused: "Rejected",
  failed: "Failed",
  notSet: "Not set",
  notTested: "Not tested",
  notRunning: "Not running",
  noKey: "No key yet",
  demo: "A script; needs no account, calls real tools",
  keyRefused: (when: string) => `The key was rejected ${when} (401). Enter a new one.`,
  installed: (models: string) => `${models} found`,
  tested: (at: string, took: string) => `tested ${at}, ${took}`,
  test: "Test",
  addKey: "Add key",
  replaceKey: "Replace key",
  add: "Add a model…",
  edit: "Edit…",
  remove: "Remove…",
  more: (name: string) => `More for ${name}`,
  foundAt: (address: string, models: string) => `${address} · ${models}`,
  use: "Use it",
  found: "Found",
  which: (vendor: string) => `Which ${vendor} model?`,
  whichAbout: "Sends a one-word prompt and nothing else.",
  change: "Change…",
  choose: "Choose…",
  noDefault: "none",
  removal: (name: string) => `Remove ${name}?`,
  removalAbout: "Its key is deleted too. Chats that use its models need another one.",
  removalDefault: " It serves your default model, so there will be none.",
  keep: "Keep",
  removeNow: "Remove",
  removed: (name: string) => `Removed “${name}”.`,
  key: (name: string) => `with a key (${name})`,
  noKeyNeeded: "without a key",
} as const;

export const MODES = [
  { value: "always", name: "Always ask", about: "Every call needs your approval." },
  {
    value: "on_miss",
    name: "Ask before changes",
    about:
      "Toolcrib's own read-only tools and commands that only read run. Other calls need approval unless a rule allows them. Destructive commands are denied.",
  },
  {
    value: "on_rule",
    name: "Ask only if a rule says so",
    about: "Calls run unless a rule requires approval or denies them. Destructive commands are denied.",
  },
  { value: "plan", name: "Plan (read-only)", about: "Nothing is written, sent or started." },
  { value: "off", name: "Never ask", about: "Calls run without approval. Rules that deny still apply." },
] as const;
