import { expect, test } from "vitest";

import { isOneOff, paletteEntries, type PaletteEntry, type PaletteSources } from "./paletteEntries";

const nothing = () => undefined;
const go = (name: string, about = ""): PaletteEntry => ({
  group: "Go to",
  name,
  about,
  path: `/${name}`,
  perform: nothing,
  quiet: true,
});
const act = (name: string): PaletteEntry => ({ group: "Actions", name, about: "", perform: nothing });
const sources: PaletteSources = {
  needs: [{ ...act("Sign in to postgres"), group: "Needs you" }],
  goTo: [
    { ...go("Servers", "page"), quiet: false },
    go("compost", "tool · garden"),
    go("post_message", "tool · slack"),
    go("postgres", "server · 9 tools"),
    go("query", "tool · postgres"),
    go("Fix the nightly export", "chat"),
  ],
  found: [],
  actions: [act("Turn off postgres"), act("Restart postgres"), act("Add a server")],
  recent: ["/gone", "/postgres"],
  ask: (text: string): PaletteEntry => ({ group: "Ask", name: text, about: "", perform: nothing }),
};
const names = (text: string, more: Partial<PaletteSources> = {}) =>
  paletteEntries(text, { ...sources, ...more }).map((entry) => entry.name);

test("a bare name opens its thing, and what can be done with it comes after", () => {
  expect(names("postgres")).toEqual([
    "postgres",
    "query",
    "Sign in to postgres",
    "Turn off postgres",
    "Restart postgres",
    "postgres",
  ]);
});

test("the beginning of a name counts more than its middle, and a name more than what is said of it", () => {
  expect(names("post").slice(0, 4)).toEqual(["post_message", "postgres", "compost", "query"]);
});

test("the name of an action comes first, and all words must fit", () => {
  expect(names("turn off postgres")[0]).toBe("Turn off postgres");
  expect(names("postgres off")).toEqual(["Turn off postgres", "postgres off"]);
});

test("one wrong letter is forgiven where nothing fits better", () => {
  expect(names("postgers")[0]).toBe("postgres");
  expect(names("nigthly exprt")[0]).toBe("Fix the nightly export");
  expect(names("xost")).not.toContain("tool");
  expect(["abcd", "abd", "abxy", "acbd", "xbc"].map((one) => isOneOff("abc", one))).toEqual([
    true,
    true,
    false,
    false,
    true,
  ]);
});

test("what the host found follows what was found here, once", () => {
  const found = [go("postgres"), go("A chat about a database", "“… postgres was down …”")];
  expect(names("postgres", { found }).slice(0, 3)).toEqual(["postgres", "query", "A chat about a database"]);
});

test("before typing there is what waits, what was open, the pages and the usual actions", () => {
  const shown = paletteEntries("  ", sources);
  expect(shown.map((entry) => [entry.group, entry.name])).toEqual([
    ["Needs you", "Sign in to postgres"],
    ["Recent", "postgres"],
    ["Go to", "Servers"],
    ["Actions", "Turn off postgres"],
    ["Actions", "Restart postgres"],
    ["Actions", "Add a server"],
  ]);
});

test("the order of equals stays as it was", () => {
  const goTo = ["b", "a", "c"].map((name) => go(`same ${name}`));
  expect(names("same", { goTo }).slice(0, 3)).toEqual(["same b", "same a", "same c"]);
});

test("signs are taken as they are", () => {
  expect(names("(.*")).toEqual(["(.*"]);
});
