/** Every text of choosing and connecting a model: the form for a vendor's key or an address, the searchable list, and
 * the protocols that an address may have. */

import type { SecretStored } from "../../api/types";

type Place = SecretStored["place"];

const STORED: Record<Place, string> = {
  keyring: "Stored in your keyring.",
  file: "Stored in a file that only you can read: this computer has no keyring.",
};
const stored = (place: Place | undefined) => (place ? ` ${STORED[place]}` : "");

export const CONNECT = {
  title: "Add a model",
  edit: (name: string) => `Edit ${name}`,
  vendor: "Vendor",
  other: "Another address",
  key: (place: Place | undefined) => `API key.${stored(place)}`,
  optionalKey: (place: Place | undefined) => `API key, if it needs one.${stored(place)}`,
  kept: "Leave empty to keep the stored one (same host)",
  name: "Name, such as studio or router",
  unnamed: "address",
  url: "Address of its API, such as http://127.0.0.1:1234/v1",
  protocol: "Protocol",
  model: "Model (optional)",
  usual: (model: string) => (model ? `${model}, unless you choose another` : "the first of its list"),
  keyFirst: "These are the models that Toolcrib knows. With the key you see all that the vendor has.",
  refused: (said: string) => `${said} Check that the key is complete and belongs to this address.`,
  testing: "Testing…",
  patience: "Testing… A model on this computer may first have to load.",
  works: (model: string, took: string) => `${model} works, ${took}.`,
  saved: (place: Place | null) => (place ? ` ${STORED[place].replace("Stored", "The key is stored")}` : ""),
  default: " It is your default model now.",
  cancel: "Cancel",
  save: "Test and save",
  done: "Done",
} as const;

/** What the settings call a protocol, and what people do. */
export const PROTOCOLS = [
  { value: "openai", name: "OpenAI-compatible" },
  { value: "openai-responses", name: "OpenAI responses" },
  { value: "anthropic", name: "Anthropic" },
  { value: "gemini", name: "Gemini" },
  { value: "ollama", name: "Ollama" },
] as const;

export const CHOOSE = {
  title: "Choose a model",
  label: "Model",
  placeholder: "Search, or type vendor:model",
  loading: "Loading the list…",
  suggestions: "Suggestions",
  empty: "There is no list to choose from yet. Type the model's name.",
  whole: "Nothing in the lists fits. Any other model is typed as vendor:model, such as ollama:qwen3.",
  nothing: "Nothing in the list fits. Any name can be used as it is typed.",
  more: (left: number) => `${left.toLocaleString("en-US")} more. Type to search.`,
  unlisted: (vendor: string, why: string) => `The list of ${vendor} could not be loaded. ${why}`,
  use: "Use this model",
  cancel: "Cancel",
} as const;
