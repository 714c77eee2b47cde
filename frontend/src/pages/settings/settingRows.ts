/** The settings with a row of their own: name, explanation, limits, choices, and the words by which the search finds a
 * section. Defaults are in the host. */

export interface Row {
  key: string;
  name: string;
  about: string;
  control: "number" | "switch" | "text" | "names" | "choice" | "model";
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

const MODEL: Row = {
  key: "agent.model",
  name: "Model",
  about: "Used unless a chat chooses another.",
  control: "model",
};

export const GROUPS: Record<"limits" | "folders" | "terminal" | "choice" | "models" | "asking", Group> = {
  models: { id: "models", title: "Models", rows: [MODEL] },
  asking: {
    id: "asking",
    title: "Approvals",
    rows: [
      {
        key: "approvals.modes.gateway",
        name: "Gateway clients",
        about: "They ask their own user. Dangerous calls still need approval here.",
        control: "choice",
        choices: [
          { value: "on_rule", name: "Only by rule" },
          { value: "on_miss", name: "Unless allowed" },
          { value: "always", name: "Always" },
          { value: "off", name: "Never" },
        ],
        fallback: "on_rule",
      },
      {
        key: "approvals.headless",
        name: "When nobody can answer",
        about: "What happens to approvals requested by the gateway or a script.",
        control: "choice",
        choices: [
          { value: "deny", name: "Deny" },
          { value: "wait", name: "Wait" },
        ],
      },
      {
        key: "agent.sampling",
        name: "Model requests by servers",
        about: "Whether a server may use the model of the chat that called it.",
        control: "choice",
        choices: [
          { value: "ask", name: "Ask me" },
          { value: "allow", name: "Allow" },
          { value: "deny", name: "Never" },
        ],
      },
    ],
  },
  limits: {
    id: "limits",
    title: "Limits",
    rows: [
      {
        key: "agent.maxRounds",
        name: "Rounds per answer",
        about: "The last one runs without tools, so there is always an answer.",
        control: "number",
        unit: "rounds",
        least: 1,
        most: 1000,
      },
      {
        key: "agent.maxParallelCalls",
        name: "Parallel calls",
        about: "Per answer.",
        control: "number",
        unit: "calls",
        least: 1,
        most: 100,
      },
      {
        key: "agent.maxResultChars",
        name: "Result length shown to the model",
        about: "It can request the rest.",
        control: "number",
        unit: "characters",
        least: 500,
        most: 10_000_000,
      },
      {
        key: "callWait",
        name: "Wait for a restarting server",
        about: "Before a call fails.",
        control: "number",
        unit: "s",
        least: 0,
        most: 600,
      },
      {
        key: "startConcurrency",
        name: "Parallel server starts",
        about: "More while the machine is idle.",
        control: "number",
        unit: "servers",
        least: 1,
        most: 1000,
      },
      {
        key: "auditDays",
        name: "Keep call history",
        about: "Older calls are deleted.",
        control: "number",
        unit: "days",
        least: 1,
        most: 36_500,
      },
      {
        key: "gateway.maxSessions",
        name: "Gateway clients",
        about: "More are refused.",
        control: "number",
        unit: "clients",
        least: 1,
        most: 1_000_000,
      },
    ],
  },
  folders: {
    id: "folders",
    title: "Folders",
    rows: [
      {
        key: "terminal.folder",
        name: "Working folder",
        about: "Where the terminal and file tools work in chats of this page.",
        control: "text",
      },
      {
        key: "terminal.folders",
        name: "Writable folders",
        about: "In addition to the project folder and temporary files.",
        control: "names",
      },
      {
        key: "terminal.hidden",
        name: "Hidden folders",
        about: "In addition to the usual locations of keys and passwords.",
        control: "names",
      },
    ],
  },
  terminal: {
    id: "terminal",
    title: "Terminal",
    rows: [
      {
        key: "terminal.sandbox",
        name: "Sandbox",
        about: "Restricts commands to their folders.",
        control: "choice",
        choices: [
          { value: "auto", name: "Best available" },
          { value: "bubblewrap", name: "bubblewrap" },
          { value: "landlock", name: "Landlock" },
          { value: "none", name: "None" },
        ],
      },
      { key: "terminal.network", name: "Network", about: "Whether commands may use it.", control: "switch" },
      {
        key: "terminal.variables",
        name: "Variables",
        about: "Names of environment variables that commands may see.",
        control: "names",
      },
      {
        key: "terminal.enabled",
        name: "Available everywhere",
        about: "Offer the terminal to the gateway and to scripts too, not only to chats.",
        control: "switch",
      },
    ],
  },
  choice: {
    id: "choice",
    title: "Tool choice",
    rows: [
      {
        key: "retrieval.k",
        name: "Tools offered",
        about: "In addition to those that are always on.",
        control: "number",
        unit: "tools",
        least: 1,
        most: 50,
      },
      {
        key: "retrieval.alwaysOn",
        name: "Always on",
        about: "Patterns of tool names offered for every question.",
        control: "names",
      },
      {
        key: "agent.offerAll",
        name: "Offer all up to",
        about: "Up to this many tools, all of them are offered.",
        control: "number",
        unit: "tools",
        least: 0,
        most: 1000,
      },
      {
        key: "retrieval.embedder.kind",
        name: "Search by meaning",
        about: "Provider of the embeddings.",
        control: "choice",
        choices: [
          { value: "builtin", name: "Built in" },
          { value: "ollama", name: "Ollama" },
          { value: "openai", name: "OpenAI-compatible" },
          { value: "none", name: "Off" },
        ],
      },
    ],
  },
};

/** The names of those that have a row, and of the mode, which has its own place. */
export const ALL_ROWS: ReadonlySet<string> = new Set([
  "approvals.mode",
  ...Object.values(GROUPS).flatMap((group) => group.rows.map((row) => row.key)),
]);

/** Sections that are more than rows, and what else they are looked for by. */
export const SECTION_KEYWORDS = {
  models: "Models vendors keys addresses endpoints anthropic openai gemini ollama lm studio llama.cpp vllm test",
  accounts: "Accounts google gmail mail imap calendar caldav discord canvas sign in test",
  asking: "When to ask mode always miss rule plan off approvals",
  appearance: "Appearance theme light dark system text size single-key shortcuts",
  secrets: "Secrets keyring passwords tokens",
  doctor: "Doctor checks health",
  about: "About version address home log signed-in browsers",
} as const;

/** True for a row that matches the search. */
export function matches(row: { name: string; about: string; key?: string }, words: string): boolean {
  const text = `${row.name} ${row.about} ${row.key ?? ""}`.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
