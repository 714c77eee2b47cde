/** Characters that a reader does not see, made visible as ⟨U+200B⟩, and which those are. */

// Controls but not tab and line feed, soft hyphen, zero width, bidi, variation selectors, tags.
const HIDDEN =
  // eslint-disable-next-line no-control-regex, no-misleading-character-class -- each of them is matched alone
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u2028-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\u{E0000}-\u{E0FFF}]/gu;

export function reveal(text: string): string {
  return text.replace(
    HIDDEN,
    (found) => `⟨U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`,
  );
}
