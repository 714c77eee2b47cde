/** Bearer tokens of profiles, made here: their length and beginning. The host gets a salted hash and the last
 * characters, nothing else. */

const MARK = "tcrib_";

export interface NewToken {
  token: string;
  hash: string;
  /** Its end, to recognise it by. */
  tail: string;
}

export async function newToken(): Promise<NewToken> {
  const token = MARK + base64Url(crypto.getRandomValues(new Uint8Array(32)));
  const salt = hex(crypto.getRandomValues(new Uint8Array(16)));
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`${salt}:${token}`));
  return { token, hash: `sha256:${salt}:${hex(new Uint8Array(digest))}`, tail: token.slice(-4) };
}

function hex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function base64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replace(/\+/g, "-")
    .replace(/\//g, "_")
    .replace(/=+$/, "");
}
