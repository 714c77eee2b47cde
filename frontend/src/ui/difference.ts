/** Which lines two texts share, and up to how many lines they are compared. */

export interface Line {
  kind: "same" | "added" | "removed";
  text: string;
}

const MOST = 2_000; // Lines; longer texts are shown as all gone and all new.

export function differenceOf(before: string, after: string): Line[] {
  const old = before === "" ? [] : before.split("\n");
  const fresh = after === "" ? [] : after.split("\n");
  if (old.length > MOST || fresh.length > MOST) {
    return [
      ...old.map((text): Line => ({ kind: "removed", text })),
      ...fresh.map((text): Line => ({ kind: "added", text })),
    ];
  }
  return walk(old, fresh, lengths(old, fresh));
}

/** How many lines the rests from each pair of places share. */
function lengths(old: string[], fresh: string[]): Uint16Array[] {
  const table = Array.from({ length: old.length + 1 }, () => new Uint16Array(fresh.length + 1));
  for (let i = old.length - 1; i >= 0; i--) {
    const row = table[i] as Uint16Array;
    const below = table[i + 1] as Uint16Array;
    for (let j = fresh.length - 1; j >= 0; j--) {
      row[j] = old[i] === fresh[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0);
    }
  }
  return table;
}

function walk(old: string[], fresh: string[], table: Uint16Array[]): Line[] {
  const lines: Line[] = [];
  let i = 0;
  let j = 0;
  while (i < old.length || j < fresh.length) {
    if (i < old.length && j < fresh.length && old[i] === fresh[j]) {
      lines.push({ kind: "same", text: old[i] ?? "" });
      i++;
      j++;
    } else if (i < old.length && (j === fresh.length || (table[i + 1]?.[j] ?? 0) >= (table[i]?.[j + 1] ?? 0))) {
      lines.push({ kind: "removed", text: old[i++] ?? "" });
    } else {
      lines.push({ kind: "added", text: fresh[j++] ?? "" });
    }
  }
  return lines;
}
