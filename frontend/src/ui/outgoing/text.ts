/** Texts of the previews of emails, events, messages and windows: labels, "Saved as a draft", "Invitations will be
 * sent to …". */

import { count, plural } from "../amounts";
export const TEXT = {
  email: "Email",
  event: "Event",
  message: "Message",
  from: "From",
  to: "To",
  cc: "Cc",
  bcc: "Bcc",
  bccNote: "hidden from the other recipients",
  subject: "Subject",
  account: "Account",
  attachments: "Attachments",
  noRecipients: "No recipients",
  noSubject: "(no subject)",
  noTitle: "(no title)",
  noText: "No text.",
  title: "Title",
  when: "When",
  allDay: "all day",
  where: "Where",
  calendar: "Calendar",
  attendees: "Attendees",
  repeats: "Repeats",
  channel: "Channel",
  place: "In",
  notifies: "Notifies",
  everyone: "This notifies everyone in the channel.",
  emailText: "Text of the email",
  eventText: "Description of the event",
  messageText: "Text of the message",
  screen: "Window",
  window: "Window",
  application: "Application",
  element: "Element",
  screenText: "Details",
  screenOf: (title: string) => (title ? `The window “${title}”, with the target marked` : "The screen"),
  showAll: "Show all",
  showLess: "Show less",
} as const;

/** What happens to an email that is not sent. */
export const EMAIL_NOTES: Readonly<Record<string, string>> = {
  draft: "Saved as a draft. Nothing is sent.",
  trash: "Moved to the trash. Nothing is sent.",
  modify: "Only its labels change. Nothing is sent.",
};

/** What is done to an email that exists already: its recipients get nothing. */
export const UNSENT: ReadonlySet<string> = new Set(["trash", "modify"]);

const NOTICES: Readonly<Record<string, string>> = {
  create: "Invitations",
  update: "Updates",
  delete: "Cancellations",
};

/** Whether the attendees hear of it. */
export function noticeText(action: string, attendees: number, notify: boolean): string {
  const what = NOTICES[action] ?? "Notifications";
  return notify
    ? `${what} will be sent to ${plural(attendees, "attendee")}.`
    : `No ${what.toLowerCase()} will be sent.`;
}

/** What the text of an action in a window is. */
export const SCREEN_TEXTS: Readonly<Record<string, string>> = {
  type: "Text to type",
  fill: "Text to fill in",
  press: "Keys to press",
  write_clipboard: "Text for the clipboard",
  script: "Script",
};

/** Whom a message answers; others name the place where they are. */
export const MESSAGE_TARGETS: Readonly<Record<string, string>> = { reply: "Reply to", react: "Reacts to" };

/** How much there is, so that nothing stays unnoticed below the part in view. */
export function lengthText(lines: number, characters: number): string {
  return `${plural(lines, "line")} · ${count(characters)} characters`;
}
