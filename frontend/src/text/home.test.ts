import { afterEach, expect, test } from "vitest";

import { queries } from "../api/hooks";
import { tilde, withTilde } from "./home";

afterEach(() => {
  localStorage.clear();
  queries.clear();
});

test("the home folder is ~, alone, in a path and in a sentence", () => {
  expect(withTilde("/home/ada", "/home/ada")).toBe("~");
  expect(withTilde("/home/ada/code", "/home/ada")).toBe("~/code");
  expect(withTilde("--root=/home/ada/code and “/home/ada”", "/home/ada")).toBe("--root=~/code and “~”");
});

test("what only looks like it stays", () => {
  expect(withTilde("/home/adam /mnt/home/ada/x", "/home/ada")).toBe("/home/adam /mnt/home/ada/x");
  expect(withTilde("/etc", "")).toBe("/etc");
});

test("the home of the last visit counts until the host has answered", () => {
  localStorage.setItem("toolcrib.home", "/home/ada");

  expect(tilde("/home/ada/code")).toBe("~/code");

  queries.setQueryData(["host_info", {}], { user_home: "/home/eve" });
  expect(tilde("/home/ada/code, /home/eve/code")).toBe("/home/ada/code, ~/code");
  expect(localStorage.getItem("toolcrib.home")).toBe("/home/eve");
});
