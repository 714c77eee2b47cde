/** From which window width the chat page has one column, and from which the panel of offered tools is beside it. */

import { useMedia } from "../../ui/media";

/** One column, with the chats behind Back. */
export function useNarrow(): boolean {
  return useMedia("(max-width: 820px)");
}

/** Wide enough for the offered tools at the side. */
export function useRoom(): boolean {
  return useMedia("(min-width: 1400px)");
}
