import { expect, test } from "vitest";

const SOURCES = import.meta.glob<string>("./**/*.{ts,tsx}", { query: "?raw", import: "default", eager: true });
const IMPORT = /(?:from|import)\s+"(\.[^"]+)"/g;

function importsOf(file: string): string[] {
  const found = [...(SOURCES[file] ?? "").matchAll(IMPORT)].map(([, path = ""]) => path);
  return found.flatMap((path) => resolve(file, path) ?? []);
}

function resolve(from: string, path: string): string | undefined {
  const { pathname } = new URL(path, `file:///${from}`);
  return [".ts", ".tsx"].map((ending) => `.${pathname}${ending}`).find((file) => file in SOURCES);
}

/** The first cycle that starts from a file, as the files on it. */
function cycleFrom(file: string, path: readonly string[], done: Set<string>): string[] | null {
  if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
  if (done.has(file)) return null;
  for (const next of importsOf(file)) {
    const cycle = cycleFrom(next, [...path, file], done);
    if (cycle) return cycle;
  }
  done.add(file);
  return null;
}

test("no two modules import each other, directly or through others", () => {
  const done = new Set<string>();
  expect(Object.keys(SOURCES).length).toBeGreaterThan(100);
  expect(importsOf("./main.tsx")).toContain("./app/App.tsx");
  expect(Object.keys(SOURCES).flatMap((file) => cycleFrom(file, [], done) ?? [])).toEqual([]);
});
