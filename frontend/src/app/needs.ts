/** What waits for the user ("Needs you"), as text such as "Sign in to …", and where each is answered. The host decides
 * what waits. Pure. */

import type { WaitingItem } from "../api/types";
import { clock, plural } from "../ui/amounts";
import { needsText } from "../ui/states";

export type Need = WaitingItem;

export interface NeedText {
  what: string;
  where: string;
}

export function needText(need: Need): NeedText {
  const server = need.server ?? "a server";
  switch (need.kind) {
    case "call":
      return {
        what: callTitle(need),
        where: need.chat ? asker(need) : [need.server, asker(need)].filter(Boolean).join(" · "),
      };
    case "sampling":
      return { what: `${server} wants to use your model`, where: asker(need) };
    case "elicitation":
      return { what: `${server} asks for input`, where: asker(need) };
    case "trust":
      return { what: `Trust ${server}?`, where: /changed/.test(need.reason) ? "its command changed" : "not run yet" };
    case "sign-in":
      return {
        what: `Sign in to ${server}`,
        where: need.since ? `session ended ${clock(need.since)}` : "calls are on hold",
      };
    case "value":
      return { what: `${server} ${needsText(noun(need))}`, where: missing(need.reason) };
    case "changed":
      return {
        what: `Review tools of ${server}`,
        where: `${plural(need.tools.length, "tool")} held for review`,
      };
    case "workflow":
      return { what: need.reason, where: (need.principal ?? "").replace(/^workflow:/, "workflow ") };
  }
}

/** "Run a command?", "Write todo.txt?", "Send this email?", else the tool with its server: "Run fake · crash?". */
function callTitle(need: Need): string {
  const { grant, title, arguments: given } = need.detail;
  if (typeof grant === "string") return `${grant}?`;
  if (typeof title === "string" && !title.startsWith("Let ")) return title;
  const { command, code, path } = (given ?? {}) as Record<string, unknown>;
  const name = ownName(need);
  if (typeof command === "string" && RUNS_COMMANDS.has(name)) return "Run a command?";
  if (typeof code === "string" && need.server === null) return "Run code?";
  const verb = /^(write|edit|create|delete|move|append)_?file$/i.exec(name)?.[1];
  if (verb && typeof path === "string") return `${spoken(verb)} ${path.replace(/\/+$/, "").split("/").pop()}?`;
  return `Run ${[need.server, name].filter(Boolean).join(" · ")}?`;
}

const RUNS_COMMANDS = new Set(["terminal", "run_command"]);

/** What the server needs, as one noun. */
function noun(need: Need): string {
  const needs = need.detail["needs"];
  return typeof needs === "string" ? needs : "value";
}

/** A tool without its server's name before it. */
function ownName(need: Need): string {
  const name = need.tool ?? "a tool";
  return need.server && name.startsWith(`${need.server}__`) ? name.slice(need.server.length + 2) : name;
}

function spoken(verb: string): string {
  return `${verb[0]?.toUpperCase() ?? ""}${verb.slice(1).toLowerCase()}`;
}

/** The host names the secret in its sentence; the list has room for the name alone. */
function missing(reason: string): string {
  const named = /needs the (?:secret|variable) (\S+?),/.exec(reason)?.[1];
  return named ?? reason;
}

function asker(need: Need): string {
  if (need.chat) return need.chat_title ? `chat · ${need.chat_title}` : "chat";
  return (need.principal ?? "").replace(":", " · ");
}

/** The very place, with the thing itself in focus there. */
export function needPath(need: Need): string {
  if (need.run) return runPath(need);
  if (need.chat && need.id) return `/chat/${encodeURIComponent(need.chat)}?question=${encodeURIComponent(need.id)}`;
  if (need.id) return `/activity?tab=waiting&question=${encodeURIComponent(need.id)}`;
  const server = encodeURIComponent(need.server ?? "");
  if (need.kind === "trust") return `/servers?trust=${server}`;
  return need.server ? `/servers/${server}` : "/servers";
}

/** The run that asks; its workflow is who asks. */
function runPath(need: Need): string {
  const workflow = (need.principal ?? "").replace(/^workflow:/, "");
  const step = need.kind === "workflow" && need.id ? `&step=${encodeURIComponent(need.id)}` : "";
  return `/workflows/${encodeURIComponent(workflow)}?run=${encodeURIComponent(need.run ?? "")}${step}`;
}
