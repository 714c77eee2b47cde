/** The address, if a browser may open it as a page, else an empty text. */
export function webAddress(address: string): string {
  return /^https?:\/\//i.test(address) ? address : "";
}
