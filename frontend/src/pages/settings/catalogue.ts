/** The settings with a row of their own: name, sentence, and how they are changed. */

export interface Row {
  key: string;
  name: string;
  about: string;
  control: "number" | "switch" | "text" | "names" | "choice";
  unit?: string;
  least?: number;
  most?: number;
  choices?: readonly { value: string; name: string }[];
  /** What holds where the settings say nothing. */
  fallback?: string;
}

export interface Group {
  id: string;
  title: string;
  rows: readonly Row[];
}

const MODEL: Row = { key: "agent.model", name: "Model", about: "Asked where nobody says otherwise, such as ollama:qwen3:8b or demo.", control: "text" };

export const GROUPS: Record<"limits" | "folders" | "terminal" | "choice" | "models" | "asking", Group> = {
  models: { id: "models", title: "Models", rows: [MODEL] },
  asking: {
    id: "asking",
    title: "When to ask",
    rows: [
      {
        key: "approvals.modes.gateway",
        name: "Clients of the gateway",
        about: "They ask their own person; what is dangerous in itself asks here.",
        control: "choice",
        choices: [
          { value: "on_rule", name: "On a rule" },
          { value: "on_miss", name: "On a miss" },
          { value: "always", name: "Always" },
          { value: "off", name: "Never" },
        ],
        fallback: "on_rule",
      },
      {
        key: "approvals.headless",
        name: "When nobody is there",
        about: "What becomes of a question from the gateway or a script.",
        control: "choice",
        choices: [
          { value: "deny", name: "It is denied" },
          { value: "wait", name: "It waits" },
        ],
      },
      {
        key: "agent.sampling",
        name: "Servers that ask your model",
        about: "Whether a server may use the model of the chat that called it.",
        control: "choice",
        choices: [
          { value: "ask", name: "Ask me" },
          { value: "allow", name: "They may" },
          { value: "deny", name: "Never" },
        ],
      },
    ],
  },
  limits: {
    id: "limits",
    title: "Limits",
    rows: [
      { key: "agent.maxRounds", name: "Rounds in one answer", about: "The last one goes without tools, so that there is always an answer.", control: "number", unit: "rounds", least: 1, most: 1000 },
      { key: "agent.maxParallelCalls", name: "Calls at once", about: "Of one answer, side by side.", control: "number", unit: "calls", least: 1, most: 100 },
      { key: "agent.maxResultChars", name: "Of a result, the model is shown", about: "It can read on.", control: "number", unit: "characters", least: 500, most: 10_000_000 },
      { key: "callWait", name: "A call waits for a server", about: "That is starting again.", control: "number", unit: "s", least: 0, most: 600 },
      { key: "startConcurrency", name: "Servers that start at once", about: "More while the machine is idle.", control: "number", unit: "servers", least: 1, most: 1000 },
      { key: "auditDays", name: "Calls are kept", about: "Older ones are deleted.", control: "number", unit: "days", least: 1, most: 36_500 },
      { key: "gateway.maxSessions", name: "Clients of the gateway", about: "More are refused.", control: "number", unit: "clients", least: 1, most: 1_000_000 },
    ],
  },
  folders: {
    id: "folders",
    title: "Folders",
    rows: [
      { key: "terminal.folder", name: "Folder to work in", about: "Where the terminal and the file tools are, unless a chat says otherwise.", control: "text" },
      { key: "terminal.folders", name: "May be written to", about: "Besides the project’s folder and temporary files.", control: "names" },
      { key: "terminal.hidden", name: "Cannot be read", about: "Besides the usual places of keys and passwords.", control: "names" },
    ],
  },
  terminal: {
    id: "terminal",
    title: "Terminal",
    rows: [
      {
        key: "terminal.sandbox",
        name: "Sandbox",
        about: "What keeps commands inside their folders.",
        control: "choice",
        choices: [
          { value: "auto", name: "Best there is" },
          { value: "bubblewrap", name: "bubblewrap" },
          { value: "landlock", name: "Landlock" },
          { value: "none", name: "None" },
        ],
      },
      { key: "terminal.network", name: "Network", about: "Whether commands may use it.", control: "switch" },
      { key: "terminal.variables", name: "Variables", about: "Names of variables that commands may see.", control: "names" },
      { key: "terminal.enabled", name: "For everybody", about: "Offer the terminal to the gateway and to scripts too, not only to chats.", control: "switch" },
    ],
  },
  choice: {
    id: "choice",
    title: "Tool choice",
    rows: [
      { key: "retrieval.k", name: "Tools offered", about: "Besides those that are always on.", control: "number", unit: "tools", least: 1, most: 50 },
      { key: "retrieval.alwaysOn", name: "Always on", about: "Patterns of tool names that are offered for every question.", control: "names" },
      { key: "agent.offerAll", name: "All of them, up to", about: "With so few tools nothing is chosen: all are offered.", control: "number", unit: "tools", least: 0, most: 1000 },
      {
        key: "retrieval.embedder.kind",
        name: "Search by meaning",
        about: "What turns words into meaning.",
        control: "choice",
        choices: [
          { value: "builtin", name: "Built in" },
          { value: "ollama", name: "Ollama" },
          { value: "openai", name: "An address" },
          { value: "none", name: "Words alone" },
        ],
      },
    ],
  },
};

/** The names of those that have a row, and of the mode, which has its own place. */
export const ALL_ROWS: ReadonlySet<string> = new Set(["approvals.mode", ...Object.values(GROUPS).flatMap((group) => group.rows.map((row) => row.key))]);

/** Sections that are more than rows, and what else they are looked for by. */
export const SECTION_WORDS = {
  models: "Models vendors keys anthropic openai gemini ollama test",
  asking: "When to ask mode always miss rule plan off approvals",
  appearance: "Appearance theme light dark system text size keys of one letter",
  secrets: "Secrets keyring passwords tokens",
  doctor: "Doctor checks health",
  about: "About version address home log pages signed in",
} as const;

/** True for a row that somebody looks for. */
export function matches(row: { name: string; about: string; key?: string }, words: string): boolean {
  const text = `${row.name} ${row.about} ${row.key ?? ""}`.toLowerCase();
  return words.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}
