import { expect, test } from "vitest";

import { withTilde } from "./home";

test("the home folder is ~, alone, in a path and in a sentence", () => {
  expect(withTilde("/home/ada", "/home/ada")).toBe("~");
  expect(withTilde("/home/ada/code", "/home/ada")).toBe("~/code");
  expect(withTilde("--root=/home/ada/code and “/home/ada”", "/home/ada")).toBe("--root=~/code and “~”");
});

test("what only looks like it stays", () => {
  expect(withTilde("/home/adam /mnt/home/ada/x", "/home/ada")).toBe("/home/adam /mnt/home/ada/x");
  expect(withTilde("/etc", "")).toBe("/etc");
});
