import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";

import type { CallExhibit } from "../../api/types";
import { partyOf } from "./addresses";
import { whenText } from "./EventPreview";
import { markMentions, notifiesEveryone } from "./mentions";
import { outgoing } from "./Outgoing";

const EMAIL: CallExhibit = {
  kind: "email",
  action: "send",
  account: "work",
  sender: "ann@example.org",
  to: ["Bob Brown <bob@example.org>", "carol@example.net"],
  cc: [],
  bcc: ["dan@example.org"],
  subject: "Minutes",
  text: "Hello,\r\nhere they are.",
  attachments: [{ name: "minutes.pdf", size: 48_000 }],
};
const EVENT: CallExhibit = {
  kind: "event",
  action: "create",
  account: "home",
  calendar: "Team",
  title: "Review",
  start: "Mon 16 Nov 2026, 10:00",
  end: "11:00 Europe/Berlin",
  attendees: ["bob@example.org", "carol@example.net"],
  recurrence: "every week on Monday",
  text: "",
  notify: true,
};
const MESSAGE: CallExhibit = {
  kind: "message",
  action: "send",
  account: "bot",
  service: "Discord",
  channel: "Workshop · #general",
  text: "@ann and @annette: see @everyone",
  mentions: ["@ann", "@annette"],
};

/** The words that a reader sees, one space between any two of them. */
function seen(shown: CallExhibit): string {
  const markup = renderToStaticMarkup(outgoing(shown));
  return markup
    .replace(/<[^>]*>/g, " ")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replace(/\s+/g, " ");
}

test("an email shows every recipient in full, its subject, text and attachments", () => {
  const words = seen(EMAIL);
  expect(words).toContain("To (2) bob@example.org Bob Brown carol@example.net");
  expect(words).toContain("Bcc dan@example.org hidden from the other recipients");
  expect(words).toContain("From ann@example.org");
  expect(words).toContain("Subject Minutes");
  expect(words).toContain("minutes.pdf 48 KB");
  expect(words).toContain("Hello, here they are.");
  expect(words).not.toContain("U+000D");
  expect(words).not.toContain("Cc ");
});

test("the text of an email is never markup", () => {
  const text = '<img src=x onerror="alert(1)"><b>bold</b>';
  const markup = renderToStaticMarkup(outgoing({ ...EMAIL, text, subject: "<i>x</i>" }));
  expect(markup).not.toContain("<img");
  expect(markup).not.toContain("<i>x");
  expect(seen({ ...EMAIL, text })).toContain("<b>bold</b>");
});

test("hidden characters are visible in recipients, subject, text and attachments", () => {
  const hidden = "a\u200Bb";
  const words = seen({
    ...EMAIL,
    to: [`${hidden}@example.org`],
    subject: hidden,
    text: hidden,
    attachments: [{ name: "gpj.\u202Eexe", size: 1 }],
  });
  expect(words.match(/a⟨U\+200B⟩b/g)).toHaveLength(3);
  expect(words).toContain("gpj.⟨U+202E⟩exe");
});

test("a name that looks like an address is not shown as the address", () => {
  expect(partyOf('"boss@example.org" <thief@example.net>')).toEqual({
    name: "boss@example.org",
    address: "thief@example.net",
  });
  expect(partyOf("  plain@example.org ")).toEqual({ name: "", address: "plain@example.org" });
});

test("a long text says how long it is and can be shown in full", () => {
  const words = seen({ ...EMAIL, text: "line\n".repeat(500) });
  expect(words).toContain("501 lines · 2.5k characters");
  expect(words).toContain("Show all");
  expect(seen(EMAIL)).not.toContain("Show all");
});

test("a draft and a deleted email say that nothing is sent", () => {
  expect(seen({ ...EMAIL, action: "draft" })).toContain("Saved as a draft. Nothing is sent.");
  expect(seen({ ...EMAIL, action: "trash" })).toContain("Moved to the trash. Nothing is sent.");
  expect(seen({ ...EMAIL, action: "modify" })).toContain("Only its labels change. Nothing is sent.");
  expect(seen(EMAIL)).not.toContain("Nothing is sent.");
});

test("an email without recipients says so", () => {
  expect(seen({ ...EMAIL, to: [] })).toContain("To No recipients");
});

test("an event shows its time with the zone, its attendees and who is notified", () => {
  const words = seen(EVENT);
  expect(words).toContain("When Mon 16 Nov 2026, 10:00 – 11:00 Europe/Berlin");
  expect(words).toContain("Attendees (2) bob@example.org carol@example.net");
  expect(words).toContain("Repeats every week on Monday");
  expect(words).toContain("Invitations will be sent to 2 attendees.");
  expect(seen({ ...EVENT, notify: false })).toContain("No invitations will be sent.");
  expect(seen({ ...EVENT, action: "delete" })).toContain("Cancellations will be sent to 2 attendees.");
  expect(seen({ ...EVENT, attendees: [] })).not.toContain("will be sent");
});

test("an event of one whole day names it once", () => {
  const day = "Mon 16 Nov 2026";
  expect(whenText({ kind: "event", action: "create", start: day, end: day, all_day: true })).toBe(`${day}, all day`);
});

test("a message marks whom it mentions and nothing else", () => {
  expect(markMentions(MESSAGE.text ?? "", MESSAGE.mentions ?? [])).toEqual([
    { text: "@ann", mention: true },
    { text: " and ", mention: false },
    { text: "@annette", mention: true },
    { text: ": see @everyone", mention: false },
  ]);
  expect(markMentions("a (b) <@1>", ["<@1>"]).map((piece) => piece.text)).toEqual(["a (b) ", "<@1>"]);
});

test("a mention of everyone is announced", () => {
  const words = seen({ ...MESSAGE, mentions: ["@everyone"] });
  expect(words).toContain("This notifies everyone in the channel.");
  expect(seen(MESSAGE)).not.toContain("This notifies everyone");
  expect(notifiesEveryone(["@ann", "here"])).toBe(true);
  expect(notifiesEveryone(["@everyone or @here: all members of the channel"])).toBe(true);
  expect(notifiesEveryone(["@heretic", "@allison"])).toBe(false);
  expect(markMentions("@here!", ["@everyone or @here"])[0]).toEqual({ text: "@here", mention: true });
});

test("everyone whom a message notifies is listed, also where the text does not name them", () => {
  const words = seen({ ...MESSAGE, text: "Thanks.", mentions: ["@carol (author)"] });
  expect(words).toContain("Notifies @carol (author)");
});

test("a message names its channel, service and account", () => {
  const words = seen({ ...MESSAGE, action: "reply", to: ["carol: when?"] });
  expect(words).toContain("Channel Workshop · #general");
  expect(words).toContain("Reply to carol: when?");
  expect(words).toContain("Discord · bot");
  expect(seen({ ...MESSAGE, to: ["Annex"] })).toContain("In Annex");
  expect(seen({ ...MESSAGE, to: ["Workshop"] })).not.toContain("In Workshop");
});

test("other previews are left to their own components", () => {
  expect(outgoing({ kind: "command" })).toBeNull();
  expect(outgoing({ kind: "event" })).not.toBeNull();
});

test("an action in a window shows its picture with the target, and what will be typed", () => {
  const shown: CallExhibit = {
    kind: "screen",
    action: "type",
    title: "Letter",
    application: "Mousepad",
    element: "text “Body”",
    text: "Dear Ada",
    picture: "/9j/",
    width: 400,
    height: 200,
    target: { x: 40, y: 50, width: 100, height: 20 },
  };
  expect(seen(shown)).toContain("Window Letter Application Mousepad Element text “Body” Dear Ada");
  const markup = renderToStaticMarkup(outgoing(shown));
  expect(markup).toContain("data:image/jpeg;base64,/9j/");
  expect(markup).toContain("left:10%;top:25%;width:25%;height:10%");
  expect(renderToStaticMarkup(outgoing({ ...shown, picture: "" }))).not.toContain("<img");
});
