/** What a call would send, create or delete, as its recipients will see it, or the window that it would use. */

import type { ReactNode } from "react";

import type { CallExhibit } from "../../api/types";
import { EmailPreview } from "./EmailPreview";
import { EventPreview } from "./EventPreview";
import { MessagePreview } from "./MessagePreview";
import { ScreenPreview } from "./ScreenPreview";
import "./outgoing.css";

/** The email, the event, the message or the window; null for a call of another kind. */
export function outgoing(exhibit: CallExhibit): ReactNode {
  switch (exhibit.kind) {
    case "email":
      return <EmailPreview email={exhibit} />;
    case "event":
      return <EventPreview event={exhibit} />;
    case "message":
      return <MessagePreview message={exhibit} />;
    case "screen":
      return <ScreenPreview screen={exhibit} />;
    default:
      return null;
  }
}
