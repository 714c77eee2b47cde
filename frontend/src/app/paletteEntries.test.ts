import { expect, test } from "vitest";

import { paletteEntries, type PaletteEntry } from "./paletteEntries";

const nothing = () => undefined;
const go = (name: string, about = ""): PaletteEntry => ({ group: "Go to", name, about, perform: nothing });
const act = (name: string): PaletteEntry => ({ group: "Actions", name, about: "", perform: nothing });
const sources = {
  doNow: [act("Turn off postgres"), act("Try postgres now"), act("Add a server")],
  goTo: [
    go("compost", "tool · garden"),
    go("post_message", "tool · slack"),
    go("postgres", "server · 9 tools"),
    go("query", "tool · postgres"),
  ],
  ask: (text: string): PaletteEntry => ({ group: "Ask", name: text, about: "", perform: nothing }),
};
const names = (text: string) => paletteEntries(text, sources).map((entry) => entry.name);

test("the beginning of a name counts more than its middle, and a name more than what is said of it", () => {
  expect(names("post")).toEqual([
    "Turn off postgres",
    "Try postgres now",
    "post_message",
    "postgres",
    "compost",
    "query",
    "post",
  ]);
});

test("all words must fit", () => {
  expect(names("postgres off")).toEqual(["Turn off postgres", "postgres off"]);
});

test("without words everything is there and nothing is asked", () => {
  expect(paletteEntries("  ", sources).some((entry) => entry.group === "Ask")).toBe(false);
});

test("what nothing asks for comes up only when it is looked for", () => {
  const quiet = { ...sources, doNow: [{ ...act("Restart demo"), quiet: true }, act("New chat")], goTo: [] };
  expect(paletteEntries("", quiet).map((entry) => entry.name)).toEqual(["New chat"]);
  expect(paletteEntries("restart", quiet)[0]?.name).toBe("Restart demo");
});

test("signs are taken as they are", () => {
  expect(names("(.*")).toEqual(["(.*"]);
});
