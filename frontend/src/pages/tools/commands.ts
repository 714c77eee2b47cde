/** A call as a line for a shell ("Copy as command"), with its quoting. Pure. */

/** `toolcrib call demo__add --args '{"a": 1}'`, quoted so that a shell passes it on as it is. */
export function commandFor(tool: string, values: Record<string, unknown>): string {
  const given = Object.keys(values).length > 0 ? ` --args ${quoted(JSON.stringify(values))}` : "";
  return `toolcrib call ${quoted(tool)}${given}`;
}

export function quoted(word: string): string {
  if (/^[A-Za-z0-9_@%+=:,./-]+$/.test(word)) return word;
  return `'${word.replaceAll("'", `'"'"'`)}'`;
}
