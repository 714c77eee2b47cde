import { expect, test } from "vitest";

import { said, saying } from "./filter";

test("a menu writes its word and leaves the others alone", () => {
  expect(said("server:git outcome:failed push", "outcome")).toBe("failed");
  expect(saying("server:git outcome:failed push", "outcome", "done")).toBe("server:git push outcome:done");
  expect(saying("server:git outcome:failed", "outcome", "")).toBe("server:git");
});
