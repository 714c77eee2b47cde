/** Live screens beside a chat: of servers with a screen that this chat has called. */

import { refreshOn, useOperation } from "../../api/hooks";
import { LiveScreen } from "../../ui/screen/LiveScreen";
import type { TurnView } from "./view";

refreshOn("call", "screens");
refreshOn("server", "screens");

/** The screens that this chat has used. */
export function ChatScreens({ turns }: { turns: readonly TurnView[] }) {
  const screens = useOperation("screens", {}).data ?? [];
  const used = new Set(turns.flatMap((turn) => turn.items.map((item) => (item.kind === "call" ? item.server : null))));
  return screens
    .filter((screen) => used.has(screen.server) && (screen.own || screen.stopped))
    .map((screen) => <LiveScreen key={screen.server} server={screen.server} />);
}
