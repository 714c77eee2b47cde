/** Every sentence of the Welcome page. */
export const WORDS = {
  title: "The tool room is open.",
  lead: "Toolcrib keeps every tool your agents use in one place, hands out the right few, and asks you before anything dangerous. It runs on this computer only and sends nothing home.",
  demoRuns: "A demo server is running",
  demoAbout: (tools: number, ms: string) => `A calculator, ${tools === 2 ? "two tools" : `${tools} tools`}, answered in ${ms}.`,
  demoWaits: "The demo server is starting",
  demoFailed: "The demo server does not run",
  doctor: "Run the doctor",
  see: "See it",
  model: "Choose a model",
  looked: "Toolcrib looked on this computer and in your environment.",
  noModel: "No model on this computer yet. Paste a key, or use demo: it is scripted, needs no account and calls real tools.",
  other: "OpenAI, Gemini or another address",
  addKey: "Add key",
  demoModel: "scripted, no account, real tools",
  servers: "Bring your servers",
  noServers: "No configs of other hosts found. Add a server later by pasting anything.",
  startsNothing: "Importing starts nothing.",
  preview: "Preview import",
  folder: "Choose a folder to work in",
  folderAbout: "The terminal and file tools stay inside it. You can change it for each chat.",
  choose: "Choose…",
  skip: "Skip for now",
  works: "It already works",
  real: "a real call, made just now",
  tryAnother: "Try another",
} as const;

export const SAMPLES = [
  "What is 1 divided by 7?",
  "What is 2 plus 2, and what is 10 divided by 4?",
  "Which tools do you have?",
] as const;
