/** Every text of the Welcome page. */

import { plural } from "../../ui/amounts";

export const TEXT = {
  title: "Welcome to Toolcrib",
  lead: "Toolcrib keeps every tool your agents use in one place, offers the best matches for each question, and asks you before anything dangerous. It runs only on this computer and sends no usage data.",
  demoRuns: "A demo server is running",
  demoAbout: (tools: number, ms: string) => `A calculator and a clock, ${plural(tools, "tool")}, answered in ${ms}.`,
  demoWaits: "The demo server is starting",
  demoFailed: "The demo server is not running",
  doctor: "Run doctor",
  see: "View",
  model: "Choose a model",
  looked: "Models found on this computer and in your environment.",
  noModel:
    "No model found on this computer. Add a key, or use demo: it is scripted, needs no account and calls real tools.",
  other: "OpenAI, Gemini or another address",
  addKey: "Add key",
  demoModel: "scripted, no account, real tools",
  servers: "Import servers",
  noServers: "No configuration files of other clients found. You can add a server later by pasting a command or link.",
  startsNothing: "Importing starts nothing.",
  preview: "Preview import",
  folder: "Choose a folder to work in",
  folderAbout: "The terminal and file tools stay inside it. You can change it for each chat.",
  choose: "Choose…",
  skip: "Skip for now",
  works: "It already works",
  real: "a real call, made just now",
  tryAnother: "Try another",
  allowedBy: "allowed by",
} as const;
