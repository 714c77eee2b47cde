import { expect, test } from "vitest";

import type { KnownClient, ProfileShown } from "../../api/types";
import { firstShown, inOrder, namedFirst } from "./order";

const client = (name: string, more: Partial<KnownClient> = {}) =>
  ({ client: name, found: false, connected: false, ...more }) as KnownClient;

test("clients stand as people know them, and one that nobody placed comes last", () => {
  const given = ["cline", "new-one", "zed", "claude-code", "claude-desktop"].map((name) => client(name));
  expect(inOrder(given).map((one) => one.client)).toEqual(["claude-desktop", "claude-code", "cline", "zed", "new-one"]);
});

test("a client that is connected is shown first, else one that is here", () => {
  const here = client("zed", { found: true });
  expect(firstShown([client("cursor"), here, client("goose", { connected: true })])).toBe("goose");
  expect(firstShown([client("cursor"), here])).toBe("zed");
});

test("the whole crib stands after the views with a name", () => {
  const views = ["", "b", "a"].map((name) => ({ name }) as ProfileShown);
  expect(namedFirst(views).map((view) => view.name)).toEqual(["b", "a", ""]);
});
