/** How one call went, step by step, in words: who requested it, check of a command, approval, answer or error.
 * Pure. */

import type { Call, CallPath } from "../../api/types";
import { bytes, clockSeconds, duration } from "../../ui/amounts";
import type { Shape } from "../../ui/Status";
import { builtInName } from "../../text/builtInRules";
import { MODE_NAMES } from "../../text/modes";
import { whoText } from "./callText";

export interface Step {
  shape: Shape;
  title: string;
  at: string;
  text: string;
}

export function stepsOf(path: CallPath): Step[] {
  const { call } = path;
  const steps = [asked(path)];
  if (call.outcome === "invalid")
    return [
      ...steps,
      {
        shape: "fail",
        title: "Invalid call",
        at: "",
        text: problem(call) || "The tool is unknown, or its arguments do not match.",
      },
    ];
  const judged = call.gate?.judged_ms === undefined ? "" : duration(call.gate.judged_ms);
  const isCommand = path.exhibit.kind === "command";
  if (isCommand) steps.push(read(path, judged));
  steps.push(...gate(call, isCommand ? "" : judged));
  if (call.outcome === "denied")
    return call.who.kind === "chat" ? [...steps, told("It continued without the call. Nothing was started.")] : steps;
  steps.push(answered(call));
  if (call.who.kind === "chat" && call.outcome !== "ok") steps.push(told("It received the error and continued."));
  return steps;
}

const WHO: Record<Call["who"]["kind"], string> = {
  chat: "Requested by the model",
  page: "Run by you on this page",
  gateway: "Requested by a client",
  workflow: "Requested by a workflow",
  python: "Requested by a program",
  terminal: "Run by you in a terminal",
  other: "Requested",
};

function asked({ call, chat }: CallPath): Step {
  const text = call.who.kind === "chat" ? (chat ? `Chat “${chat}”` : "A deleted chat") : whoText(call.who);
  return { shape: "done", title: WHO[call.who.kind], at: clockSeconds(call.time), text };
}

function read({ exhibit }: CallPath, at: string): Step {
  if (exhibit.unread) return { shape: "asked", title: "The command could not be checked", at, text: exhibit.unread };
  const parts = (exhibit.parts ?? []).map((part) => `${part.text}: ${part.doubt || "read-only"}`);
  return { shape: "done", title: "The command was checked", at, text: parts.join("; ") };
}

function gate(call: Call, at: string): Step[] {
  const note = call.gate;
  if (!note && call.outcome === "cancelled") return []; // It may have been stopped while it waited there.
  if (!note)
    return [{ shape: "done", title: "No approval needed", at: "", text: "Calls like this one need no approval." }];
  if (note.allowed === undefined) return [ruled(call, at)];
  const mode = note.mode ? `Mode “${MODE_NAMES[note.mode]}” required your approval` : "Your approval was required";
  const question: Step = { shape: "asked", title: mode, at, text: (note.asked ?? []).join(" ") };
  return [question, answerStep(note)];
}

function answerStep(note: NonNullable<Call["gate"]>): Step {
  const at = note.waited_ms === undefined ? "" : duration(note.waited_ms);
  if (!note.allowed)
    return { shape: "deny", title: "You denied it", at, text: note.message ? `“${note.message}”` : "" };
  const scopes = { once: "once", chat: "for this chat", project: "for this project", always: "always" };
  const scope = note.scope ?? "once";
  return {
    shape: "done",
    title: `You allowed it ${scopes[scope]}`,
    at,
    text: scope === "once" || note.grant ? "No rule was created." : "A rule was created.",
  };
}

function ruled(call: Call, at: string): Step {
  const note = call.gate as NonNullable<Call["gate"]>;
  if (note.rule === "granted") return { shape: "done", title: "You allowed it earlier", at, text: note.reason };
  const denied = call.outcome === "denied";
  const verb = denied ? "refused it" : "allowed it";
  const name =
    note.number !== null
      ? `Rule ${note.number}`
      : note.rule
        ? `The built-in rule “${builtInName(note.rule)}”`
        : note.mode
          ? `Mode “${MODE_NAMES[note.mode]}”`
          : "The approval check";
  return { shape: denied ? "deny" : "done", title: `${name} ${verb}`, at, text: note.reason };
}

function answered(call: Call): Step {
  const server = call.server ?? "Toolcrib";
  const at = duration(call.ms);
  switch (call.outcome) {
    case "ok":
      return { shape: "done", title: `${server} answered`, at, text: bytes(call.bytes) };
    case "tool_error":
      return {
        shape: "fail",
        title: `${server} returned an error`,
        at,
        text: problem(call) || bytes(call.bytes),
      };
    case "timeout":
      return { shape: "fail", title: `${server} timed out`, at, text: problem(call) };
    case "cancelled":
      if (call.ms === 0) return { shape: "stop", title: "It was stopped", at: "", text: "It had not started." };
      return { shape: "stop", title: "It was stopped", at, text: "Nothing is left running." };
    case "unavailable":
      return { shape: "fail", title: `${server} was unavailable`, at, text: problem(call) };
    default:
      return { shape: "fail", title: "It failed", at, text: problem(call) };
  }
}

function told(text: string): Step {
  return { shape: "done", title: "The model was notified", at: "", text };
}

/** The error without its kind. */
function problem(call: Call): string {
  return (call.error ?? "").replace(/^[a-z_]+: /, "");
}
