import { afterEach, expect, test, vi } from "vitest";

import { queries } from "../api/hooks";
import { tilde, withTilde } from "./home";

afterEach(() => {
  vi.unstubAllGlobals();
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
  const kept = new Map([["toolcrib.home", "/home/ada"]]);
  const [getItem, setItem] = [(key: string) => kept.get(key) ?? null, kept.set.bind(kept)];
  vi.stubGlobal("localStorage", { getItem, setItem });

  expect(tilde("/home/ada/code")).toBe("~/code");

  queries.setQueryData(["host_info", {}], { user_home: "/home/eve" });
  expect(tilde("/home/ada/code, /home/eve/code")).toBe("/home/ada/code, ~/code");
  expect(kept.get("toolcrib.home")).toBe("/home/eve");
});
