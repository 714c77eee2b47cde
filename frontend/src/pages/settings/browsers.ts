/** Names of signed-in browsers, such as "Firefox on Linux", from what they send. Pure. */

const BROWSERS: readonly [RegExp, string][] = [
  [/Edg\//, "Edge"],
  [/Firefox\//, "Firefox"],
  [/OPR\//, "Opera"],
  [/Chrom(e|ium)\/|HeadlessChrome\//, "Chrome"],
  [/Safari\//, "Safari"],
];
const SYSTEMS: readonly [RegExp, string][] = [
  [/Android/, "Android"],
  [/iPhone|iPad/, "iOS"],
  [/Mac OS X|Macintosh/, "macOS"],
  [/Windows/, "Windows"],
  [/Linux|X11/, "Linux"],
];

/** `Firefox on Linux`; what cannot be told stays as it was sent. */
export function browserName(sent: string): string {
  const browser = BROWSERS.find(([pattern]) => pattern.test(sent))?.[1];
  const system = SYSTEMS.find(([pattern]) => pattern.test(sent))?.[1];
  if (!browser) return sent || "Unknown browser";
  return system ? `${browser} on ${system}` : browser;
}
