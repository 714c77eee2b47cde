/** Links to other sites: the address is shown beside the text, and instead of a text that looks like another
 * address. */

import type { ReactNode } from "react";

import { isAddress, looksLikeAddress, webAddress } from "./address";
import { reveal } from "./hidden";

/** A link to another site, as a button; nothing if its address is not one of a web page. */
export function OutsideButton({ address, children }: { address: string; children: ReactNode }) {
  const safe = webAddress(address);
  if (!safe) return null;
  return (
    <a className="btn primary" href={safe} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}

/** A link in a text of others, which shows where it leads: beside a text that is not the address itself, and in place
 * of one that looks like another address. */
export function OutsideLink({ address, text, children }: { address: string; text: string; children: ReactNode }) {
  const safe = webAddress(address);
  if (!safe) return <span>{children}</span>;
  const same = isAddress(text, safe);
  const misleading = !same && looksLikeAddress(text);
  return (
    <>
      <a className="outside-link" href={safe} title={reveal(safe)} target="_blank" rel="noopener noreferrer nofollow">
        {misleading ? reveal(safe) : children}
      </a>
      {!same && !misleading && (
        <span className="link-target">
          {" ("}
          <bdi className="link-host">{new URL(safe).host}</bdi>
          <bdi className="link-address">{reveal(safe)}</bdi>
          {")"}
        </span>
      )}
    </>
  );
}
