import { expect, test } from "vitest";

import type { Vendor, VendorTrial } from "../../api/types";
import { about, inOrder, modelOf, stateOf } from "./vendors";

const vendor = (name: string, more: Partial<Vendor> = {}): Vendor => ({
  vendor: name,
  title: name,
  address: `https://${name}.test/v1`,
  keys: [`${name.split("-")[0]?.toUpperCase()}_KEY`],
  key: null,
  place: null,
  ready: false,
  models: [],
  usual: "",
  protocol: "",
  tried: null,
  ...more,
});
const trial = (more: Partial<VendorTrial> = {}): VendorTrial => ({
  at: new Date().toISOString(),
  model: "x:m",
  ms: 310,
  refused: false,
  reason: "",
  ...more,
});

test("who can be asked stands first, who failed next, who has no key last", () => {
  const rows = [
    vendor("anthropic"),
    vendor("demo", { keys: [], ready: true }),
    vendor("openai", { key: "OPENAI_KEY", ready: true, tried: trial({ ms: null, refused: true }) }),
    vendor("ollama", { ready: true, models: ["a"] }),
  ];
  expect(inOrder(rows).map((one) => one.vendor)).toEqual(["ollama", "demo", "openai", "anthropic"]);
});

test("a vendor says where its key is, and how it went when it was tried", () => {
  const keyed = vendor("anthropic", { key: "ANTHROPIC_KEY", place: "environment", ready: true });
  expect([about(keyed), stateOf(keyed, false).word]).toEqual(["ANTHROPIC_KEY from the environment", "Not tested"]);
  const tested = { ...keyed, tried: trial() };
  expect(about(tested)).toMatch(/^ANTHROPIC_KEY from the environment · tested \d\d:\d\d, 310 ms$/);
  expect(stateOf(tested, false).word).toBe("Works");
  const refused = { ...keyed, tried: trial({ ms: null, refused: true }) };
  expect(about(refused)).toMatch(/^The key was rejected at \d\d:\d\d \(401\)\. Enter a new one\.$/);
  expect(stateOf(refused, false).word).toBe("Rejected");
  expect([about(vendor("gemini")), stateOf(vendor("gemini"), false).word]).toEqual(["No key yet", "Not set"]);
});

test("what is asked for a word is the chosen model, the last one, one that is here, or the usual one", () => {
  const openai = vendor("openai", { models: ["found"], usual: "usual", tried: trial({ model: "openai:last" }) });
  expect(modelOf(openai, "openai:new")).toBe("openai:new");
  expect(modelOf(openai, "demo")).toBe("openai:last");
  expect(modelOf({ ...openai, tried: null }, null)).toBe("openai:found");
  expect(modelOf({ ...openai, tried: null, models: [] }, null)).toBe("openai:usual");
  expect(modelOf(vendor("studio"), null)).toBeNull();
});

test("an address says where it is and whether it has a key", () => {
  const studio = vendor("studio", { protocol: "openai", keys: [], ready: true });
  expect(about(studio)).toBe("https://studio.test/v1 · without a key");
  const keyed = { ...studio, keys: ["models.studio"], key: "models.studio" };
  expect(about(keyed)).toBe("https://studio.test/v1 · with a key (models.studio)");
  expect(about({ ...keyed, key: null, ready: false })).toBe("No key yet");
});
