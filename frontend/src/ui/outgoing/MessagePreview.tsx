/** The preview of a chat message (Discord): channel, whom it notifies, and the warning if that is everyone. */

import type { CallExhibit } from "../../api/types";
import { Glyph } from "../Status";
import { Line, Parties } from "./Fields";
import { notifiesEveryone } from "./mentions";
import { OutgoingText } from "./OutgoingText";
import { MESSAGE_TARGETS, TEXT } from "./text";

export function MessagePreview({ message }: { message: CallExhibit }) {
  const mentions = message.mentions ?? [];
  const target = (message.to ?? []).filter((one) => !message.channel?.includes(one)).join(", ");
  return (
    <div className="outgoing" role="group" aria-label={TEXT.message}>
      <dl>
        <Line name={TEXT.channel} value={message.channel} strong />
        <Line name={MESSAGE_TARGETS[message.action ?? ""] ?? TEXT.place} value={target} />
        <Parties name={TEXT.notifies} parties={mentions} />
        <Line name={TEXT.account} value={[message.service, message.account].filter(Boolean).join(" · ")} />
      </dl>
      <OutgoingText text={message.text} label={TEXT.messageText} mentions={mentions} />
      {notifiesEveryone(mentions) && (
        <p className="outgoing-note warning">
          <Glyph shape="retry" />
          <b className="medium">{TEXT.everyone}</b>
        </p>
      )}
    </div>
  );
}
