import { expect, test } from "vitest";

import type { Server, WaitingItem } from "../api/types";
import { announcement, countChanges, statesOf } from "./serverChanges";

const server = (name: string, state: Server["state"], tools = 1) => ({ name, state, tools }) as Server;
const question = (id: string) => ({ id }) as WaitingItem;

test("several changes are one sentence, a single one names the server", () => {
  expect(announcement(new Map([["postgres", "Running"]]))).toBe("postgres: Running");
  expect(
    announcement(
      new Map([
        ["a", "Running"],
        ["b", "Running"],
        ["c", "Running"],
      ]),
    ),
  ).toBe("3 servers are running");
  expect(
    announcement(
      new Map([
        ["a", "Running"],
        ["b", "Failed"],
      ]),
    ),
  ).toBe("1 server is running, 1 server changed");
});

test("what is new, gone, in another state or asked counts as changed, each once", () => {
  const before = statesOf([
    server("same", "ready"),
    server("gone", "ready"),
    server("broke", "ready"),
    server("grew", "ready"),
  ]);
  const after = statesOf([
    server("same", "ready"),
    server("new", "ready"),
    server("broke", "failed"),
    server("grew", "ready", 2),
  ]);
  expect(countChanges(before, after, [question("old")], [question("new")])).toBe(6);
  expect(countChanges(before, before, [], [{ id: null } as WaitingItem])).toBe(0);
});
