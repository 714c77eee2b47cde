import { describe, expect, it } from "vitest";

import { rowsOf, type Plan, type Planned, type Source } from "./preview";

function planned(name: string, command: string, standing: Planned["standing"] = "new"): Planned {
  return {
    name,
    as: name,
    standing,
    action: "add",
    entry: { command },
    secrets: [],
    waiting: [],
    questions: [],
    notes: [],
    remarks: [],
    install: "",
  } as unknown as Planned;
}

function source(title: string, ...servers: Planned[]): { source: Source; plan: Plan } {
  return { source: { title } as Source, plan: { servers } as unknown as Plan };
}

describe("the servers of several hosts", () => {
  it("shows the same server in two places once", () => {
    const rows = rowsOf([source("A", planned("git", "x")), source("B", planned("git", "x"))]);
    expect(rows.map((row) => row.standing)).toEqual(["new", "twin"]);
  });

  it("asks where a name is taken by another command, here or there", () => {
    const rows = rowsOf([
      source("A", planned("git", "x"), planned("demo", "y", "differs")),
      source("B", planned("git", "z")),
    ]);
    expect(rows.map((row) => [row.standing, row.against])).toEqual([
      ["new", ""],
      ["differs", "yours"],
      ["differs", "the one in A"],
    ]);
  });

  it("leaves alone what is already added", () => {
    expect(rowsOf([source("A", planned("git", "x", "same"))])[0]?.standing).toBe("same");
  });
});
