/** Every sentence of the Settings page that is not the name of a setting. */
export const WORDS = {
  title: "Settings",
  about: "Saved as you change them. Each shows its command, so that a script can do the same.",
  find: "Find a setting",
  models: "Keys are kept in the system keyring. A variable of your environment is used as it is and never copied.",
  asking: "The strictest of mode, rules and the reading of a command wins.",
  session: "An autonomous session is granted in one chat, for a reason, and ends with the turn. It is not set here.",
  offAsks: "Nothing will ask. Rules that deny still deny. Turn off asking?",
  secrets: "Names only. What they hold is never shown.",
  noSecrets: "None yet. A server that needs one asks for it, and so does a model.",
  unused: "used by no server",
  doctor: "What Toolcrib needs, and whether it is there.",
  nothing: "No setting is called so.",
  any: "Any other setting",
  anyAbout: "By its name in the file; the value as JSON or as text, nothing for the default.",
  anyName: "Name of a setting",
  anyValue: "Value",
  anySave: "Save",
} as const;

/** Of the vendors of models. */
export const MODELS = {
  asking: "Asking for one word…",
  looking: "Looking…",
  works: "Works",
  refused: "Refused",
  failed: "Failed",
  notSet: "Not set",
  notTested: "Not tested",
  notRunning: "Not running",
  noKey: "No key yet",
  demo: "scripted, needs no account, calls real tools",
  keyRefused: (when: string) => `The key was refused ${when} (401). Put in a new one.`,
  found: (models: string) => `${models} found by itself`,
  tested: (at: string, took: string) => `tested ${at}, ${took}`,
  test: "Test",
  addKey: "Add key",
  replaceKey: "Replace key",
  which: (vendor: string) => `Which model of ${vendor}?`,
  whichAbout: "It is asked for one word. Nothing else is sent.",
  whichLabel: "Model, as the vendor calls it",
  ask: "Ask it",
  cancel: "Cancel",
} as const;

export const MODES = [
  { value: "always", name: "Ask always", about: "Every call waits for you." },
  { value: "on_miss", name: "Ask on a miss", about: "Reading runs. What no rule covers asks. What destroys is refused." },
  { value: "on_rule", name: "Ask where a rule says so", about: "What no rule asks about or denies runs. What destroys is refused." },
  { value: "plan", name: "Plan", about: "Only reading. Nothing is written, sent or started." },
  { value: "off", name: "Off", about: "Nothing asks. Rules that deny still deny." },
] as const;
