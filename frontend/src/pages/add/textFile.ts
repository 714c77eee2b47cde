/** Reads a file that was chosen, dropped or pasted, if it is text of a reasonable size. */

const LARGEST = 1_000_000;

export interface TextFile {
  name: string;
  text: string;
}

/** The file's text; null for one that is too large or no text. */
export async function readTextFile(file: File): Promise<TextFile | null> {
  const text = file.size > LARGEST ? "\0" : await file.text();
  return text.includes("\0") ? null : { name: file.name, text };
}
