import { expect, test } from "vitest";

import type { ListedModel } from "../../api/types";
import { aboutModel, matching, optionsOf } from "./listing";

const model = (name: string, more: Partial<ListedModel> = {}): ListedModel => ({
  name,
  context: null,
  input: null,
  output: null,
  created: "",
  ...more,
});

test("context and price are told where they are known", () => {
  expect(aboutModel(model("a", { context: 1_000_000, input: 2, output: 10 }))).toBe("1M tokens · $2 in, $10 out");
  expect(aboutModel(model("a", { context: 128_000 }))).toBe("128k tokens");
  expect(aboutModel(model("a", { input: 0, output: 0 }))).toBe("free");
  expect(aboutModel(model("a"))).toBe("");
});

test("models are found by any of their words, and all are there once one is chosen", () => {
  const options = optionsOf([model("claude-sonnet-5-5"), model("claude-opus-5")], "anthropic");
  expect(matching(options, "SONNET anthropic").map((one) => one.value)).toEqual(["anthropic:claude-sonnet-5-5"]);
  expect(matching(options, "gpt")).toEqual([]);
  expect(matching(options, "anthropic:claude-opus-5")).toEqual(options);
  expect(matching(options, "")).toEqual(options);
});
