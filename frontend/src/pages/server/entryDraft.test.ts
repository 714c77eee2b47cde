import { expect, test } from "vitest";

import { ApiError } from "../../api/errors";
import { draftOf, errorsOf, fieldErrors, moved, withDraft } from "./entryDraft";

const ENTRY = {
  command: "node",
  args: ["a.js", "--port", "8"],
  env: { MODE: "loud", PORT: 80, OLD: null },
  theirs: { colour: "blue" },
};

test("an entry that was not edited stays as it is, with keys that nobody knows and values that are no text", () => {
  expect(withDraft(ENTRY, draftOf(ENTRY))).toEqual(ENTRY);
  expect(Object.keys(withDraft(ENTRY, draftOf(ENTRY)))).toEqual(Object.keys(ENTRY));
});

test("rows that are added, moved and removed are in the entry", () => {
  const draft = draftOf(ENTRY);
  const next = withDraft(ENTRY, {
    ...draft,
    texts: { ...draft.texts, cwd: " /tmp ", command: "deno" },
    args: moved(draft.args, 2, 0),
    env: [...draft.env.slice(1), { name: "NEW", value: "1", secret: false }],
  });
  expect(next).toEqual({
    ...ENTRY,
    command: "deno",
    cwd: "/tmp",
    args: ["8", "a.js", "--port"],
    env: { PORT: 80, OLD: null, NEW: "1" },
  });
  expect(withDraft(ENTRY, { ...draft, args: [], env: [] })).toEqual({ command: "node", theirs: { colour: "blue" } });
});

test("a key in another form is left as it is", () => {
  const entry = { command: ["node", "a.js"], args: "--port 8", env: ["A=1"] };
  expect(withDraft(entry, draftOf(entry))).toEqual(entry);
});

test("an empty row and a name twice are wrong", () => {
  const draft = draftOf(ENTRY);
  const row = { value: "", secret: false };
  const env = [
    { name: "A", ...row },
    { name: " A", ...row },
    { name: "", ...row },
  ];
  expect(Object.keys(errorsOf({ ...draft, args: ["x", ""], env }, draft))).toEqual(["args.1", "env.1", "env.2"]);
  expect(errorsOf(draft, draft)).toEqual({});
});

test("an error of the host is shown at its row", () => {
  const error = (path: unknown) => new ApiError(400, "config", "box: must be text.", "", { data: { path } });
  expect(fieldErrors(error(["env", "PORT"]), draftOf(ENTRY))).toEqual({ "env.1": "Must be text." });
  expect(fieldErrors(error(["args", 2]), draftOf(ENTRY))).toEqual({ "args.2": "Must be text." });
  expect(fieldErrors(new Error("x"))).toEqual({});
});
