/** The labeled lines above the text of an email, an event or a message; from how many recipients the list scrolls. */

import type { ReactNode } from "react";

import { reveal } from "../hidden";
import { partyOf } from "./addresses";
import { TEXT } from "./text";

const FEW = 12; // More of them scroll, also from the keyboard.

/** One line; without a value it is left out. */
export function Line({ name, value, strong = false }: { name: string; value: string | undefined; strong?: boolean }) {
  if (!value) return null;
  return (
    <Labelled name={name}>
      <span className={strong ? "medium" : ""}>{reveal(value)}</span>
    </Labelled>
  );
}

export function Labelled({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="outgoing-line">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

interface PartiesProps {
  name: string;
  parties: readonly string[] | undefined;
  note?: string;
  /** Shown even if there are none. */
  always?: boolean;
}

/** Each address in full, apart from the name beside it. */
export function Parties({ name, parties = [], note, always = false }: PartiesProps) {
  if (parties.length === 0 && !always) return null;
  return (
    <Labelled name={parties.length > 1 ? `${name} (${parties.length})` : name}>
      {parties.length === 0 && <span className="muted">{TEXT.noRecipients}</span>}
      <ul {...(parties.length > FEW ? { className: "parties many", tabIndex: 0 } : { className: "parties" })}>
        {parties.map((party, index) => (
          <li key={index}>
            <OneParty text={party} />
          </li>
        ))}
      </ul>
      {note && parties.length > 0 && <span className="muted text-small">{note}</span>}
    </Labelled>
  );
}

function OneParty({ text }: { text: string }) {
  const { name, address } = partyOf(text);
  return (
    <>
      <bdi className="bold">{reveal(address)}</bdi>
      {name && <bdi className="secondary"> {reveal(name)}</bdi>}
    </>
  );
}
