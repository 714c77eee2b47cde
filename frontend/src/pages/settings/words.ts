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
  doctor: "What Toolcrib needs, and whether it is there.",
  nothing: "No setting is called so.",
} as const;

export const MODES = [
  { value: "always", name: "Ask always", about: "Every call waits for you." },
  { value: "on_miss", name: "Ask on a miss", about: "Reading runs. What no rule covers asks. What destroys is refused." },
  { value: "on_rule", name: "Ask where a rule says so", about: "What no rule asks about or denies runs. What destroys is refused." },
  { value: "plan", name: "Plan", about: "Only reading. Nothing is written, sent or started." },
  { value: "off", name: "Off", about: "Nothing asks. Rules that deny still deny." },
] as const;
