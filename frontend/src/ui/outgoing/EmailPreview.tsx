/** The preview of an email before it is sent: recipients, account, subject, attachments, text. */

import type { CallExhibit, ShownAttachment } from "../../api/types";
import { bytes } from "../amounts";
import { reveal } from "../hidden";
import { Labelled, Line, Parties } from "./Fields";
import { OutgoingText } from "./OutgoingText";
import { EMAIL_NOTES, TEXT, UNSENT } from "./text";

export function EmailPreview({ email }: { email: CallExhibit }) {
  const { action = "", sender = "" } = email;
  const note = EMAIL_NOTES[action];
  return (
    <div className="outgoing" role="group" aria-label={TEXT.email}>
      <dl>
        <Parties name={TEXT.to} parties={email.to} always={!UNSENT.has(action)} />
        <Parties name={TEXT.cc} parties={email.cc} />
        <Parties name={TEXT.bcc} parties={email.bcc} note={TEXT.bccNote} />
        <Parties name={TEXT.from} parties={sender ? [sender] : []} />
        <Line name={TEXT.account} value={email.account} />
        <Line name={TEXT.subject} value={email.subject || TEXT.noSubject} strong />
        <Attachments attachments={email.attachments ?? []} />
      </dl>
      <OutgoingText text={email.text} label={TEXT.emailText} />
      {note && <p className="outgoing-note">{note}</p>}
    </div>
  );
}

function Attachments({ attachments }: { attachments: readonly ShownAttachment[] }) {
  if (attachments.length === 0) return null;
  return (
    <Labelled name={TEXT.attachments}>
      <ul className="parties">
        {attachments.map((one, index) => (
          <li key={index}>
            <bdi>{reveal(one.name)}</bdi> <span className="secondary num">{bytes(one.size)}</span>
          </li>
        ))}
      </ul>
    </Labelled>
  );
}
