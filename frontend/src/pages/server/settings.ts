/** The settings of one server that are saved on change in the tab Settings (timeouts, lazy start, restarts, sandbox and
 * its folders, memory limit, tool patterns): names, defaults, limits. Everything else in the entry stays unchanged. */

export type Json = Record<string, unknown>;

export interface Setting {
  /** Keys that lead to it. */
  path: readonly string[];
  name: string;
  about: string;
  kind: "seconds" | "switch" | "choice" | "names" | "paths" | "megabytes";
  usual: unknown;
  /** A key of the server's type, without which it has no effect. */
  needs?: string;
  /** A setting without which it has no effect. */
  within?: string;
  choices?: readonly { value: string; name: string }[];
  least?: number;
  most?: number;
}

export const SETTINGS: readonly Setting[] = [
  {
    path: ["timeouts", "start"],
    name: "Start timeout",
    about: "Seconds until a start counts as failed.",
    kind: "seconds",
    usual: 60,
    least: 1,
    most: 3600,
  },
  {
    path: ["timeouts", "call"],
    name: "Call timeout",
    about: "Seconds until a call is cancelled.",
    kind: "seconds",
    usual: 60,
    least: 1,
    most: 86400,
  },
  {
    path: ["lazy"],
    name: "Start when needed",
    about: "Starts with the first call, once its tools are known.",
    kind: "switch",
    usual: false,
  },
  {
    path: ["sandbox"],
    name: "Sandbox",
    about: "Can only use its own files and those named in its arguments. Raw JSON has more settings.",
    kind: "switch",
    usual: false,
    needs: "command",
  },
  {
    path: ["sandbox", "readable"],
    name: "Readable folders",
    about: "Files and folders that it may read in the sandbox, one per line.",
    kind: "paths",
    usual: [],
    needs: "command",
    within: "sandbox",
  },
  {
    path: ["sandbox", "writable"],
    name: "Writable folders",
    about: "Files and folders that it may change in the sandbox, one per line.",
    kind: "paths",
    usual: [],
    needs: "command",
    within: "sandbox",
  },
  {
    path: ["restart"],
    name: "Restart after a crash",
    about: "Starts it again when it ends by itself.",
    kind: "switch",
    usual: true,
  },
  {
    path: ["allowHttp"],
    name: "Allow unencrypted credentials",
    about: "Sends secret headers to another machine without https.",
    kind: "switch",
    usual: false,
    needs: "allowHttp",
  },
  {
    path: ["isolation"],
    name: "Instances",
    about: "One shared instance, or one per chat.",
    kind: "choice",
    usual: "shared",
    choices: [
      { value: "shared", name: "Shared" },
      { value: "session", name: "Per chat" },
    ],
  },
  {
    path: ["tools", "include"],
    name: "Only these tools",
    about: "Patterns of its tool names (leave empty for all).",
    kind: "names",
    usual: [],
  },
  {
    path: ["tools", "exclude"],
    name: "Not these tools",
    about: "Patterns of its tool names.",
    kind: "names",
    usual: [],
  },
  {
    path: ["envAllow"],
    name: "Environment variables",
    about: "Names of your environment variables that it may see.",
    kind: "names",
    usual: [],
    needs: "command",
  },
  {
    path: ["memory", "limit"],
    name: "Memory limit",
    about: "Restarts above this many megabytes; 0 for no limit.",
    kind: "megabytes",
    usual: 4096,
    least: 0,
    most: 1_000_000,
    needs: "command",
  },
];

/** The settings that have an effect on this server; `keys` are those of its type. */
export function settingsFor(entry: Json, keys: readonly string[]): Setting[] {
  return SETTINGS.filter(
    ({ needs, within }) => (!needs || keys.includes(needs)) && (!within || Boolean(entry[within])),
  );
}

export function valueAt(entry: Json, path: readonly string[]): unknown {
  return path.reduce<unknown>((found, key) => (isObject(found) ? found[key] : undefined), entry);
}

/** The entry with this value; one that is the usual is taken out, and so is an object left empty. */
export function withValue(entry: Json, setting: Setting, value: unknown): Json {
  const next = put(entry, setting.path, same(value, setting.usual) ? undefined : value);
  const { within } = setting;
  return within && entry[within] && next[within] === undefined ? { ...next, [within]: true } : next; // It stays on.
}

export function put(entry: Json, [key = "", ...rest]: readonly string[], value: unknown): Json {
  const inner = entry[key];
  const next = rest.length ? put(isObject(inner) ? inner : {}, rest, value) : value;
  const empty = next === undefined || (rest.length > 0 && isObject(next) && Object.keys(next).length === 0);
  if (!empty) return { ...entry, [key]: next };
  return Object.fromEntries(Object.entries(entry).filter(([name]) => name !== key));
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
