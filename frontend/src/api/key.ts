/** Sign-in of this browser: the page's key is exchanged once for the one-time token in the address, then kept for this
 * origin alone. How long the key is valid is decided by the host. */

const PLACE = "toolcrib.key";

export function pageKey(): string | null {
  return localStorage.getItem(PLACE);
}

export function forgetKey(): void {
  localStorage.removeItem(PLACE);
}

/** Trade the token behind `#key=` for a key, and take it out of the address and its history at once. */
export async function signIn(): Promise<void> {
  const token = new URLSearchParams(location.hash.slice(1)).get("key");
  if (!token) return;
  history.replaceState(history.state, "", location.pathname + location.search);
  const answer = await fetch("/api/sign_in", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token }),
  });
  if (!answer.ok) return; // A used token; an older key may still be good.
  const { key } = (await answer.json()) as { key: string };
  localStorage.setItem(PLACE, key);
}
