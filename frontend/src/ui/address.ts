/** Which addresses from data may become links (web pages only), and when the text of a link looks like another
 * address. Every link to another site is made by `OutsideLink`, which asks here. */

/** The address, if a browser may open it as a page, else an empty text: no script, file or data. */
export function webAddress(address: string): string {
  return /^https?:\/\//i.test(address) && URL.canParse(address) ? address : "";
}

/** Whether the text of a link is its address, perhaps without the scheme, `www.` or the last slash. */
export function isAddress(text: string, address: string): boolean {
  return plain(text) === plain(address);
}

/** Whether the text of a link looks like an address or a host name. */
export function looksLikeAddress(text: string): boolean {
  return /:\/\/|^\s*www\.|^\s*[\p{L}\p{N}-]+(?:[.。．｡][\p{L}\p{N}-]+)+(?:[:/?#]\S*)?\s*$/iu.test(text);
}

function plain(text: string): string {
  return text
    .trim()
    .replace(/^https?:\/\//i, "")
    .replace(/\/$/, "");
}
