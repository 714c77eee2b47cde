import { expect, test } from "vitest";

import { needPath, needText, type Need } from "./needs";

const need = (more: Partial<Need>): Need => ({
  kind: "call",
  id: "q1",
  durable: false,
  server: "filesystem",
  tool: "filesystem__write_file",
  chat: null,
  chat_title: null,
  run: null,
  principal: null,
  reason: "",
  tools: [],
  detail: {},
  since: null,
  ...more,
});

test("a question is told in two short lines: what, and where", () => {
  expect(needText(need({ chat: "c1", chat_title: "Nightly export" }))).toEqual({
    what: "Run filesystem · write_file?",
    where: "chat · Nightly export",
  });
  expect(needText(need({ principal: "gateway:editor" }))).toEqual({
    what: "Run filesystem · write_file?",
    where: "filesystem · gateway · editor",
  });
});

test("a call is named after what it does, or by its tool", () => {
  const asked = (tool: string, given: object, server: string | null = null) =>
    needText(need({ tool, server, detail: { arguments: given } })).what;
  expect(asked("terminal", { command: "rm x" })).toBe("Run a command?");
  expect(asked("terminal__run_command", { command: "rm x" }, "terminal")).toBe("Run a command?");
  expect(asked("python", { code: "1" })).toBe("Run code?");
  expect(asked("write_file", { path: "/home/u/todo.txt" })).toBe("Write todo.txt?");
  expect(asked("filesystem__edit_file", { path: "a/b.md/" }, "filesystem")).toBe("Edit b.md?");
  expect(asked("fake__crash", { command: "now" }, "fake")).toBe("Run fake · crash?");
  expect(needText(need({ detail: { title: "Send this email?" } })).what).toBe("Send this email?");
  expect(needText(need({ detail: { title: "Let fake run crash?" } })).what).toBe("Run filesystem · write_file?");
});

test("a value that is missing is told by its name", () => {
  expect(
    needText(
      need({
        kind: "value",
        server: "calendar",
        reason: "env.K needs the variable CALDAV_PASSWORD, which is not set.",
      }),
    ),
  ).toEqual({
    what: "calendar needs a value",
    where: "CALDAV_PASSWORD",
  });
});

test("a server without its account is named with what it needs", () => {
  const reason = "There is no account for mail.";
  expect(needText(need({ kind: "value", server: "mail", reason, detail: { needs: "account" } }))).toEqual({
    what: "mail needs an account",
    where: reason,
  });
});

test("each leads to the very place where it is answered", () => {
  expect(needPath(need({ chat: "c1" }))).toBe("/chat/c1?question=q1");
  expect(needPath(need({}))).toBe("/activity?tab=waiting&question=q1");
  const asked = { run: "bills-1", principal: "workflow:bills" };
  expect(needPath(need({ ...asked, kind: "workflow", id: "each[0]/approve" }))).toBe(
    "/workflows/bills?run=bills-1&step=each%5B0%5D%2Fapprove",
  );
  expect(needPath(need(asked))).toBe("/workflows/bills?run=bills-1");
  expect(needPath(need({ kind: "trust", id: null, server: "sqlite" }))).toBe("/servers?trust=sqlite");
});
