/** An address apart from the name that its sender chose for it, so that the name cannot pass for the address. */

export interface Party {
  name: string;
  address: string;
}

const NAMED = /^\s*(.*?)\s*<([^<>]*)>\s*$/s;

export function partyOf(text: string): Party {
  const [, name = "", address = text.trim()] = NAMED.exec(text) ?? [];
  return { name: name.replace(/^"(.*)"$/s, "$1"), address: address.trim() };
}
