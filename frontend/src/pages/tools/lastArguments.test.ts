import { expect, test } from "vitest";

import { fieldsOf } from "../../ui/schema-form/schema";
import { draftsFrom } from "./lastArguments";

const FIELDS = fieldsOf({
  properties: {
    path: { type: "string" },
    count: { type: "integer" },
    loud: { type: "boolean" },
    token: { type: "string" },
  },
});

test("a form is filled in as it was the last time, but for what the record left out", () => {
  const recorded = JSON.stringify({ path: "/tmp/a", count: 3, loud: true, token: "***", gone: 1 });
  expect(draftsFrom(FIELDS, recorded)).toEqual({ path: "/tmp/a", count: "3", loud: true });
});

test("values that are not whole any more fill in nothing", () => {
  expect(draftsFrom(FIELDS, JSON.stringify({ path: "x".repeat(600) }))).toEqual({});
  expect(draftsFrom(FIELDS, '{"path":"/tmp')).toEqual({});
});
