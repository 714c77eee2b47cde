/** The preview of a calendar event: title, time, attendees, and whether invitations are sent. */

import type { CallExhibit } from "../../api/types";
import { Line, Parties } from "./Fields";
import { OutgoingText } from "./OutgoingText";
import { noticeText, TEXT } from "./text";

export function EventPreview({ event }: { event: CallExhibit }) {
  const attendees = event.attendees ?? [];
  return (
    <div className="outgoing" role="group" aria-label={TEXT.event}>
      <dl>
        <Line name={TEXT.title} value={event.title || TEXT.noTitle} strong />
        <Line name={TEXT.when} value={whenText(event)} strong />
        <Parties name={TEXT.attendees} parties={attendees} />
        <Line name={TEXT.repeats} value={event.recurrence} />
        <Line name={TEXT.where} value={event.where} />
        <Line name={TEXT.calendar} value={event.calendar} />
        <Line name={TEXT.account} value={event.account} />
      </dl>
      {event.text && <OutgoingText text={event.text} label={TEXT.eventText} />}
      {attendees.length > 0 && (
        <p className="outgoing-note">{noticeText(event.action ?? "", attendees.length, event.notify === true)}</p>
      )}
    </div>
  );
}

/** `Mon 16 Nov 2026, 10:00 – 11:00 Europe/Berlin`, as the host words both ends. */
export function whenText({ start = "", end = "", all_day = false }: CallExhibit): string {
  const span = end && end !== start ? `${start} – ${end}` : start;
  return span && all_day ? `${span}, ${TEXT.allDay}` : span;
}
